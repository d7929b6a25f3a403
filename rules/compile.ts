// From rules to controllers for one resource, and which controller survives a reload.
import { Breaker } from './breaker.js'
import type { Host, State } from './contract.js'
import { type DegradeRule, type NormalizedRule, sameRule, sameShape } from './degrade/rule.js'

/** A degrade rule in force with the breaker that carries it out. */
export interface Compiled {
  readonly rule: DegradeRule
  readonly named: boolean
  readonly breaker: Breaker
}

export type Fate = 'added' | 'removed' | 'kept' | 'updated' | 'restarted'

/** What became of one rule. `dropped` is the state that was lost with its old breaker. */
export interface Change {
  readonly fate: Fate
  readonly rule: DegradeRule
  readonly dropped: State | undefined
}

/**
 * Compiles the rules of one resource, reusing breakers of the rules in force before.
 *
 * Matching: by `id`; then by equality, unless both have an `id` of the user's; then, among rules that nobody named, in order by strategy and window shape. An equal rule keeps everything. A changed
 * number keeps state and statistics unless `restart`. Another strategy or window shape starts anew.
 */
export function compileDegrade(
  rules: readonly NormalizedRule[],
  before: readonly Compiled[],
  host: Host,
  now: number,
  restart: boolean,
): { compiled: Compiled[]; changes: Change[] } {
  const matches = match(rules, before)
  const changes: Change[] = []
  const compiled = rules.map(({ rule, named }, i): Compiled => {
    const old = matches[i]
    if (old !== undefined && sameRule(rule, old.rule)) {
      old.breaker.rule = rule
      changes.push({ fate: 'kept', rule, dropped: undefined })
      return { rule, named, breaker: old.breaker }
    }
    if (old !== undefined && sameShape(rule, old.rule) && !restart) {
      old.breaker.update(rule, now)
      changes.push({ fate: 'updated', rule, dropped: undefined })
      return { rule, named, breaker: old.breaker }
    }
    const dropped = old?.breaker.drop(now, 'reload')
    changes.push({ fate: old === undefined ? 'added' : 'restarted', rule, dropped })
    return { rule, named, breaker: new Breaker(rule, host, now) }
  })
  for (const old of before) {
    if (!matches.includes(old))
      changes.push({ fate: 'removed', rule: old.rule, dropped: old.breaker.drop(now, 'reload') })
  }
  return { compiled, changes }
}

function match(rules: readonly NormalizedRule[], before: readonly Compiled[]): (Compiled | undefined)[] {
  const free = new Set(before)
  const matches = new Array<Compiled | undefined>(rules.length).fill(undefined)
  const pass = (fits: (rule: NormalizedRule, old: Compiled) => boolean) => {
    rules.forEach((rule, i) => {
      if (matches[i] !== undefined) return
      for (const old of free) {
        if (fits(rule, old)) {
          matches[i] = old
          free.delete(old)
          return
        }
      }
    })
  }
  pass(({ rule, named }, old) => named && rule.id === old.rule.id)
  pass(({ rule, named }, old) => !(named && old.named) && sameRule(rule, old.rule))
  pass(({ rule, named }, old) => !named && !old.named && sameShape(rule, old.rule))
  return matches
}
