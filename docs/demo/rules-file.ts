// A file of rules, read and judged before anything starts. All faults at once, each with path, value and bound.
import { readFileSync } from 'node:fs'
import { inspect } from 'node:util'
import { createGuard, type DegradeRule, RuleError, type RuleSet } from 'leapguard'

export const RESOURCE = 'user-service'

export interface FileFault {
  path: string
  value: string
  bound: string
}

export type RulesFile =
  /** `rules` are those of the demo's resource, every option explicit; `others` counts the rest. */
  { ruleSet: RuleSet; rules: readonly DegradeRule[]; others: number } | { faults: readonly FileFault[] }

export function readRulesFile(file: string): RulesFile {
  try {
    return judgeRules(readFileSync(file, 'utf8'))
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    const why = code === 'ENOENT' ? 'missing' : code
    return { faults: [{ path: file, value: why, bound: 'a readable file of JSON' }] }
  }
}

/** Judges the text of a file with a scratch guard, so that a bad file touches nothing. */
export function judgeRules(text: string): RulesFile {
  let ruleSet: unknown
  try {
    ruleSet = JSON.parse(text)
  } catch (error) {
    return { faults: [syntaxFault(text, error)] }
  }
  if (typeof ruleSet !== 'object' || ruleSet === null || Array.isArray(ruleSet)) {
    const bound = 'an object like { "degrade": [ ... ] }'
    return { faults: [{ path: 'the whole file', value: show(ruleSet), bound }] }
  }
  const scratch = createGuard()
  try {
    scratch.loadRules(ruleSet as RuleSet)
    const all = scratch.rules().degrade
    const rules = all.filter((rule) => rule.resource === RESOURCE)
    if (rules.length > 0) return { ruleSet: ruleSet as RuleSet, rules, others: all.length - rules.length }
    const names = [...new Set(all.map((rule) => rule.resource))]
    const value = names.length === 0 ? 'no rules at all' : `only ${names.map(show).join(', ')}`
    const bound = `at least one rule must name '${RESOURCE}', the resource of this demo`
    return { faults: [{ path: 'degrade[*].resource', value, bound }] }
  } catch (error) {
    if (!(error instanceof RuleError)) throw error
    return {
      faults: error.faults.map(({ path, value, bound }) => ({ path, value: show(value), bound: String(bound) })),
    }
  } finally {
    scratch.dispose()
  }
}

export function renderFaults(file: string, faults: readonly FileFault[]): string {
  const count = faults.length === 1 ? '1 fault' : `${faults.length} faults`
  const wide = (cells: readonly string[]) => Math.max(...cells.map((cell) => cell.length))
  const path = wide(faults.map((fault) => fault.path))
  const value = wide(faults.map((fault) => fault.value))
  const lines = faults.map((f) => `  ${f.path.padEnd(path)}  is ${f.value.padEnd(value)}  bound: ${f.bound}`)
  return `${count} in ${file}; nothing was started.\n${lines.join('\n')}\n`
}

function show(value: unknown): string {
  const text = inspect(value, {
    depth: 1,
    breakLength: Number.POSITIVE_INFINITY,
    maxStringLength: 40,
    maxArrayLength: 3,
  })
  return text.length > 60 ? `${text.slice(0, 57)}...` : text
}

/** The engine tells the place of most faults, and quotes the text around the others. */
function syntaxFault(text: string, error: unknown): FileFault {
  const message = (error instanceof Error ? error.message : String(error)).replaceAll('\n', ' ')
  const position = /position (\d+)/.exec(message)?.[1]
  const before = text.slice(0, Number(position)).split('\n')
  const path =
    position === undefined ? 'the whole file' : `line ${before.length}, column ${(before.at(-1) ?? '').length + 1}`
  return { path, value: `not JSON (${message})`, bound: 'JSON like { "degrade": [ ... ] }' }
}
