// What is guarded, and by which rules? The same in all files, so that their numbers can be compared.
import { type Clock, createGuard, type DegradeRuleInput, type Guard, type GuardOptions } from 'leapguard'

export const NAME = 'user-service'

export const ERROR_RULE: DegradeRuleInput = { resource: NAME, strategy: 'error-ratio', threshold: 0.5 }
export const SLOW_RULE: DegradeRuleInput = {
  resource: NAME,
  strategy: 'slow-call-ratio',
  threshold: 0.5,
  maxAllowedRtMs: 1000,
}
const CONSECUTIVE_RULE: DegradeRuleInput = { resource: NAME, strategy: 'consecutive-errors', threshold: 5 }

/** Rule sets every way of entering is measured with. */
export const RULE_SETS = [
  { key: 'rules-0', title: 'no rule', rules: [] },
  { key: 'error-1', title: 'one error-ratio rule', rules: [ERROR_RULE] },
  { key: 'slow-1', title: 'one slow-call rule', rules: [SLOW_RULE] },
  {
    key: 'rules-3',
    title: 'slow calls, error ratio, consecutive errors',
    rules: [SLOW_RULE, ERROR_RULE, CONSECUTIVE_RULE],
  },
] as const satisfies readonly { key: string; title: string; rules: readonly DegradeRuleInput[] }[]

export function guardWith(rules: readonly DegradeRuleInput[], options: GuardOptions = {}): Guard {
  const guard = createGuard(options)
  guard.loadRules({ degrade: rules })
  return guard
}

/** The guarded functions. They settle at once: whatever takes longer hides the guard. */
export async function fetchUser(): Promise<number> {
  return 1
}
export function readUser(): number {
  return 1
}
/** One error for all calls: making one with its stack costs several microseconds and would hide the guard. */
const failure = new Error('user-service: 503')
export async function failUser(): Promise<number> {
  throw failure
}

/** A clock that costs nothing and moves on by itself: what is left is the price of the guard alone, buckets rolling as in life. */
export class TickClock implements Clock {
  #now = 1_800_000_000_000
  readonly #step: number

  constructor(stepMs: number) {
    this.#step = stepMs
  }

  now(): number {
    this.#now += this.#step
    return this.#now
  }

  setTimer(fn: () => void, delayMs: number): unknown {
    return setTimeout(fn, delayMs)
  }

  clearTimer(timer: unknown): void {
    clearTimeout(timer as NodeJS.Timeout)
  }
}
