// A file of rules, read and judged before anything starts.
import { createGuard, type DegradeRule, type RuleSet, readRules } from 'leapguard'

export const RESOURCE = 'user-service'

export interface RulesFile {
  ruleSet: RuleSet
  /** Those of the demo's resource, every option explicit. */
  rules: readonly DegradeRule[]
  /** How many name other resources. */
  others: number
}

/** Rejects with an error whose message says what is wrong with the file: every fault, with line and column. */
export async function readRulesFile(file: string): Promise<RulesFile> {
  const ruleSet = await readRules(file)
  const all = everyOptionOf(ruleSet)
  const rules = all.filter((rule) => rule.resource === RESOURCE)
  if (rules.length > 0) return { ruleSet, rules, others: all.length - rules.length }
  const names = [...new Set(all.map((rule) => `'${rule.resource}'`))]
  const found = names.length === 0 ? 'there are none' : `they name only ${names.join(', ')}`
  throw new Error(`${file}: at least one rule must name '${RESOURCE}', the resource of this demo; ${found}`)
}

function everyOptionOf(ruleSet: RuleSet): readonly DegradeRule[] {
  const scratch = createGuard()
  try {
    scratch.loadRules(ruleSet)
    return scratch.rules().degrade
  } finally {
    scratch.dispose()
  }
}
