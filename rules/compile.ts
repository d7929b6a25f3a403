// From rules to controllers for one resource, and which controller survives a reload.
import { Breaker } from './breaker.js'
import type { Host, State } from './contract.js'
import { type DegradeRule, type NormalizedRule, sameOptions, sameShape, sameTarget } from './degrade/rule.js'

/** A degrade rule in force with the breaker that carries it out. */
export interface Compiled {
  readonly rule: DegradeRule
  readonly named: boolean
  readonly breaker: Breaker
}

export type Fate = 'added' | 'removed' | 'kept' | 'updated' | 'restarted'

/** What a load does to one rule. */
export interface RuleFate {
  readonly fate: Fate
  readonly rule: DegradeRule
}

/** A breaker that went, and the state that was lost with it. */
export interface Dropped {
  readonly rule: DegradeRule
  readonly state: State
}

type Known = Pick<Compiled, 'rule' | 'named'>

/**
 * What becomes of rules when others take their place: all rules of one name, or all pattern and default rules.
 *
 * Matching: by `id`; then by equality, unless both have an `id` of the user's; then, among rules that nobody named, in order by strategy
 * and window shape; the last two among rules for the same names. An equal rule is kept. A changed number or pattern updates it, a number
 * restarts it if `restart`; another strategy or window shape restarts it anyway.
 */
export function fatesOf(rules: readonly Known[], before: readonly Known[], restart: boolean): RuleFate[] {
  const matches = match(rules, before, [sameTarget])
  const fates = rules.map(({ rule }, i): RuleFate => {
    const old = matches[i]?.rule
    const fate = fateOf(rule, old, restart)
    return { rule, fate: fate === 'kept' && old !== undefined && !sameTarget(rule, old) ? 'updated' : fate }
  })
  const gone = new Set(before)
  for (const old of matches) if (old !== undefined) gone.delete(old)
  for (const { rule } of gone) fates.push({ fate: 'removed', rule })
  return fates
}

function fateOf(rule: DegradeRule, old: DegradeRule | undefined, restart: boolean): Exclude<Fate, 'removed'> {
  if (old === undefined) return 'added'
  if (sameOptions(rule, old)) return 'kept'
  return sameShape(rule, old) && !restart ? 'updated' : 'restarted'
}

/**
 * Compiles the rules of one resource, reusing breakers of the rules in force before, matched as {@link fatesOf} says: first among rules for
 * the same names, then among all, since a name that moves from a pattern to rules of its own need not lose its state.
 */
export function compileDegrade(
  rules: readonly NormalizedRule[],
  before: readonly Compiled[],
  host: Host,
  now: number,
  restart: boolean,
): { compiled: Compiled[]; dropped: Dropped[] } {
  const matches = match(rules, before, [sameTarget, () => true])
  const dropped: Dropped[] = []
  const drop = ({ rule, breaker }: Compiled) => dropped.push({ rule, state: breaker.drop(now, 'reload') })
  const compiled = rules.map(({ rule, named }, i): Compiled => {
    const old = matches[i]
    const fate = fateOf(rule, old?.rule, restart)
    if (old !== undefined && fate !== 'restarted') {
      if (fate === 'kept') old.breaker.rule = rule
      else old.breaker.update(rule, now)
      return { rule, named, breaker: old.breaker }
    }
    if (old !== undefined) drop(old)
    return { rule, named, breaker: new Breaker(rule, host, now) }
  })
  for (const old of before) if (!matches.includes(old)) drop(old)
  return { compiled, dropped }
}

type Together = (rule: DegradeRule, old: DegradeRule) => boolean

/** For each rule the one it takes the place of, if any. Each of `rounds` looks among those it puts together. */
function match<T extends Known>(
  rules: readonly Known[],
  before: readonly T[],
  rounds: readonly Together[],
): (T | undefined)[] {
  const free = new Set(before)
  const matches = new Array<T | undefined>(rules.length).fill(undefined)
  const pass = (fits: (rule: Known, old: Known) => boolean) => {
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
  for (const together of rounds) {
    pass((one, old) => !(one.named && old.named) && together(one.rule, old.rule) && sameOptions(one.rule, old.rule))
    pass((one, old) => !one.named && !old.named && together(one.rule, old.rule) && sameShape(one.rule, old.rule))
  }
  return matches
}
