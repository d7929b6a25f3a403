// One guard on a manual clock, and calls on it through any of the four entrances. It knows no rules:
// a case says its numbers itself. Every call checks that a refused function did not run.
import {
  BlockCode,
  type BlockedError,
  type BlockedEvent,
  createGuard,
  type DegradeRuleOptions,
  type Guard,
  type GuardOptions,
  isBlocked,
  type ReloadEvent,
  type ResourceTotals,
  type RuleStats,
  type RuleTarget,
  type StateChangeEvent,
} from 'leapguard'
import { ManualClock } from 'leapguard/testing'
import { expect } from 'vitest'
import { deferred, flush } from './deferred.js'

export { deferred, flush }

export const ENTRANCES = ['entry', 'entrySync', 'enter', 'tryEnter'] as const
/** Entrances whose call can stay in flight while others come and go. */
export const HOLDING = ['entry', 'enter', 'tryEnter'] as const
export type Entrance = (typeof ENTRANCES)[number]
export type HoldingEntrance = (typeof HOLDING)[number]
export type Ending = 'ok' | 'fail'
export type Verdict = Ending | 'refused'

/** What every failing call of a scenario fails with. */
export const FAILURE = new Error('upstream failed')

/** A rule of the one resource most cases have. */
export type CaseRule = DegradeRuleOptions & Partial<RuleTarget>

/** A call in flight. */
export interface Held {
  end(ending: Ending): Promise<void>
}

export class Scenario {
  readonly clock = new ManualClock(0)
  readonly guard: Guard
  readonly states: StateChangeEvent[] = []
  readonly blocked: BlockedEvent[] = []
  readonly reloads: ReloadEvent[] = []
  /** Faults reported by the guard; a healthy case has none. */
  readonly faults: unknown[] = []
  /** The last refusal met as an error; `tryEnter` has none to give. */
  refusal: BlockedError | undefined

  constructor(
    readonly entrance: Entrance,
    rules: readonly CaseRule[],
    options: Omit<GuardOptions, 'clock' | 'onInternalError'> = {},
  ) {
    this.guard = createGuard({ ...options, clock: this.clock, onInternalError: (error) => this.faults.push(error) })
    this.guard.loadDegradeRules(rules.map((rule) => ({ resource: 'r', ...rule })))
    this.guard.on('state', (event) => this.states.push(event))
    this.guard.on('blocked', (event) => this.blocked.push(event))
    this.guard.on('reload', (event) => this.reloads.push(event))
  }

  rule(index = 0, resource = 'r'): RuleStats {
    const rule = this.guard.stats(resource).rules[index]
    if (rule === undefined) throw new Error(`${resource} has no rule ${index}`)
    return rule
  }

  totals(resource = 'r'): ResourceTotals {
    return this.guard.stats(resource).totals
  }

  /** State changes so far, e.g. `'6000 open > half-open: cooldown-elapsed'`. */
  moves(): string[] {
    return this.states.map((event) => `${event.at} ${event.from} > ${event.to}: ${event.reason}`)
  }

  /** One call from start to end that lasts `ms` of virtual time. */
  async call(ending: Ending, ms = 0, entrance = this.entrance, resource = 'r'): Promise<Verdict> {
    if (entrance === 'entrySync') return this.callSync(ending, ms, resource)
    const held = await this.start(entrance, resource)
    if (held === 'refused') return 'refused'
    if (ms > 0) this.clock.advance(ms)
    await held.end(ending)
    return ending
  }

  /** `n` calls one after the other, every one of which must be admitted. */
  async calls(n: number, ending: Ending, ms = 0): Promise<void> {
    for (let i = 0; i < n; i++) expect(await this.call(ending, ms)).toBe(ending)
  }

  callSync(ending: Ending, ms = 0, resource = 'r'): Verdict {
    let ran = false
    try {
      const value = this.guard.entrySync(resource, () => {
        ran = true
        if (ms > 0) this.clock.advance(ms)
        if (ending === 'fail') throw FAILURE
        return 'value'
      })
      expect([ran, value, ending]).toEqual([true, 'value', 'ok'])
      return 'ok'
    } catch (error) {
      if (error === FAILURE) return 'fail'
      if (!isBlocked(error)) throw error
      expect(ran).toBe(false)
      this.refusal = error
      return 'refused'
    }
  }

  /** Starts a call that must be admitted. */
  async hold(entrance: HoldingEntrance, resource = 'r'): Promise<Held> {
    const held = await this.start(entrance, resource)
    if (held === 'refused') throw new Error('refused')
    return held
  }

  async start(entrance: HoldingEntrance, resource = 'r'): Promise<Held | 'refused'> {
    if (entrance === 'entry') return this.startEntry(resource)
    return entrance === 'enter' ? this.startEnter(resource) : this.startTryEnter(resource)
  }

  /** One call that is over at once, made without leaving the present stack frame. */
  attempt(entrance: Entrance, resource = 'r'): 'ok' | 'refused' {
    if (entrance === 'entrySync') return this.callSync('ok', 0, resource) === 'ok' ? 'ok' : 'refused'
    if (entrance === 'enter') {
      try {
        this.guard.enter(resource).exit()
        return 'ok'
      } catch (error) {
        return this.refusedWith(error)
      }
    }
    if (entrance === 'tryEnter') {
      const permit = this.guard.tryEnter(resource)
      if (permit < 0) return 'refused'
      this.guard.leave(permit)
      return 'ok'
    }
    let ran = false
    this.guard
      .entry(resource, () => {
        ran = true
      })
      .catch((error: unknown) => this.refusedWith(error))
    return ran ? 'ok' : 'refused'
  }

  private async startEntry(resource: string): Promise<Held | 'refused'> {
    const work = deferred<string>()
    let ran = false
    let rejection: { readonly error: unknown } | undefined
    const promise = this.guard.entry(resource, () => {
      ran = true
      return work.promise
    })
    const watched = promise.catch((error: unknown) => {
      rejection = { error }
    })
    await flush()
    if (!ran) {
      expect(rejection, 'a refusal rejects in the same tick').toBeDefined()
      return this.refusedWith(rejection?.error)
    }
    return {
      end: async (ending) => {
        if (ending === 'ok') work.resolve('value')
        else work.reject(FAILURE)
        await watched
        if (ending === 'ok') expect(await promise).toBe('value')
        else expect(rejection?.error).toBe(FAILURE)
      },
    }
  }

  private startEnter(resource: string): Held | 'refused' {
    try {
      const handle = this.guard.enter(resource)
      return {
        end: async (ending) => {
          if (ending === 'ok') handle.exit()
          else handle.exit({ error: FAILURE })
        },
      }
    } catch (error) {
      return this.refusedWith(error)
    }
  }

  private startTryEnter(resource: string): Held | 'refused' {
    const permit = this.guard.tryEnter(resource)
    if (permit < 0) {
      expect(permit).toBe(-BlockCode.DEGRADE)
      return 'refused'
    }
    return {
      end: async (ending) => {
        this.guard.leave(permit, ending === 'ok' ? 'success' : 'failure')
      },
    }
  }

  private refusedWith(error: unknown): 'refused' {
    if (!isBlocked(error)) throw error
    this.refusal = error
    return 'refused'
  }
}

/** What an operation threw or rejected with, kept apart from "nothing", since `undefined` can be thrown. */
export async function thrownBy(operation: () => unknown): Promise<{ readonly error: unknown } | 'nothing'> {
  try {
    await operation()
    return 'nothing'
  } catch (error) {
    return { error }
  }
}
