// A file of rules, read and judged before anything starts.
import { createGuard, type DegradeRule, type RuleSet, readRules } from 'leapguard'

export const RESOURCE = 'user-service'

export interface RulesFile {
  ruleSet: RuleSet
  /** Those that guard the demo's resource, every option explicit. */
  rules: readonly DegradeRule[]
  /** How many guard only other resources. */
  others: number
}

/** Rejects with an error whose message says what is wrong with the file: every fault, with line and column. */
export async function readRulesFile(file: string): Promise<RulesFile> {
  const ruleSet = await readRules(file)
  const scratch = createGuard()
  scratch.loadRules(ruleSet)
  scratch.configure(RESOURCE, {}) // makes the name, and so looks its rules up
  const ids = new Set(scratch.stats(RESOURCE).rules.map(({ id }) => id))
  const all = scratch.rules().degrade
  scratch.dispose()

  const own = all.filter((rule) => rule.match === 'exact' && rule.resource === RESOURCE)
  const rules = own.length > 0 ? own : all.filter((rule) => rule.match !== 'exact' && ids.has(rule.id))
  if (rules.length > 0) return { ruleSet, rules, others: all.length - rules.length }
  const names = [...new Set(all.map((rule) => `'${rule.resource}'`))]
  const found = names.length === 0 ? 'there are none' : `they name only ${names.join(', ')}`
  throw new Error(`${file}: at least one rule must be for '${RESOURCE}', the resource of this demo; ${found}`)
}
