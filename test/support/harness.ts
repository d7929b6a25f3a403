// What the field cases share: a stage (one resource under a virtual clock, with its events written down) and the ways a call
// can enter it. A case is told once and played through several ways; what differs between them stays in this file.
import {
  type BlockedError,
  type BlockedEvent,
  type Clock,
  createGuard,
  type DegradeRuleOptions,
  type Guard,
  type GuardOptions,
  isBlocked,
  type ResourceTotals,
  type RuleStats,
  type StateChangeEvent,
} from 'leapguard'
import { ManualClock } from 'leapguard/testing'
import { expect, onTestFinished } from 'vitest'
import { deferred } from './deferred.js'

export { deferred }

/** A clock the test can move. */
export interface MovableClock extends Clock {
  set(ms: number): void
  advance(ms: number): void
}

/** Hands that go where the test puts them, backwards too. Whoever asks it for a timer is noted and never woken. */
export class BareClock implements MovableClock {
  timersAsked = 0
  #ms: number
  constructor(ms: number) {
    this.#ms = ms
  }
  now(): number {
    return this.#ms
  }
  set(ms: number): void {
    this.#ms = ms
  }
  advance(ms: number): void {
    this.#ms += ms
  }
  setTimer(): unknown {
    this.timersAsked++
    return undefined
  }
  clearTimer(): void {}
}

/** Errors of this class are ignored by every stage. */
export class Ignorable extends Error {}

export type RuleFields = DegradeRuleOptions
export type Ending = 'success' | 'failure' | 'ignored'

/** What a refused caller learns. */
export interface Refusal {
  readonly code: string
  readonly rule: string | undefined
  readonly retryAfterMs: number | undefined
}

export const refusedBy = (rule: string, retryAfterMs: number | undefined): Refusal => ({
  code: 'ERR_BLOCKED_DEGRADE',
  rule,
  retryAfterMs,
})

/** One resource on its own guard. Times given to and read from a stage count from its epoch. */
export class Stage<C extends MovableClock = ManualClock> {
  readonly guard: Guard
  readonly states: StateChangeEvent[] = []
  readonly blocked: BlockedEvent[] = []
  readonly faults: unknown[] = []

  constructor(
    rules: readonly RuleFields[],
    readonly clock: C,
    readonly epoch: number,
    readonly resource = 'dep',
    options: GuardOptions = {},
  ) {
    this.guard = createGuard({ onInternalError: (error) => this.faults.push(error), ...options, clock })
    this.guard.configure(resource, { ignore: Ignorable })
    this.guard.loadRules({ degrade: rules.map((rule) => ({ ...rule, resource })) })
    this.guard.on('state', (event) => this.states.push(event))
    this.guard.on('blocked', (event) => this.blocked.push(event))
    onTestFinished(() => expect(this.faults).toEqual([]))
  }

  at(ms: number): void {
    this.clock.set(this.epoch + ms)
  }

  get totals(): ResourceTotals {
    return this.guard.stats(this.resource).totals
  }

  rule(id?: string): RuleStats {
    const { rules } = this.guard.stats(this.resource)
    const found = id === undefined ? rules[0] : rules.find((rule) => rule.id === id)
    if (found === undefined) throw new Error(`the stage has no rule ${id ?? 'at all'}`)
    return found
  }

  /** State changes so far, e.g. `'6000 open > half-open: cooldown-elapsed'`; of one rule if its id is given. */
  changes(id?: string): string[] {
    return this.states
      .filter((event) => id === undefined || event.rule.id === id)
      .map((event) => `${event.at - this.epoch} ${event.from} > ${event.to}: ${event.reason}`)
  }

  /** A whole call now. */
  run(way: Way, ending: Ending = 'success', takesMs = 0): Promise<'admitted' | Refusal> {
    return way.run(this, ending, takesMs)
  }

  /** Opens every breaker of the stage by `failures` calls that fail now. */
  async trip(way: Way, failures = 5): Promise<void> {
    for (let i = 0; i < failures; i++) expect(await this.run(way, 'failure')).toBe('admitted')
    expect(this.guard.stats(this.resource).rules.map((rule) => rule.state)).not.toContain('closed')
  }
}

/** A stage under a `ManualClock` that stands at `epoch`. */
export const stage = (rules: readonly RuleFields[], epoch = 0, resource?: string): Stage =>
  new Stage(rules, new ManualClock(epoch), epoch, resource)

/** A call that has entered and is ended by the test. */
export interface Call {
  /** Known at once, in the tick of the call. */
  readonly admitted: boolean
  /** What the caller was told, if refused. */
  readonly refusal: Promise<Refusal | undefined>
  /** Ends it; fulfils once the caller has its result, and has found it to be the function's own. */
  end(ending: Ending): Promise<void>
}

/** A way into the guard. */
export interface Way {
  readonly name: string
  run<C extends MovableClock>(on: Stage<C>, ending: Ending, takesMs: number): Promise<'admitted' | Refusal>
}

/** A way whose calls can be left running. */
export interface HeldWay extends Way {
  start<C extends MovableClock>(on: Stage<C>): Call
}

const errorFor = (ending: Ending): Error => (ending === 'ignored' ? new Ignorable('not counted') : new Error('broken'))

function asRefusal(error: unknown, event: BlockedEvent | undefined): Refusal {
  if (!isBlocked(error)) throw error
  const blocked: BlockedError = error
  const refusal = { code: blocked.code, rule: blocked.rule?.id, retryAfterMs: blocked.retryAfterMs }
  expect(event).toMatchObject({ code: refusal.code, retryAfterMs: refusal.retryAfterMs })
  expect(event?.rule?.id).toBe(refusal.rule)
  return refusal
}

async function runHeld<C extends MovableClock>(
  way: HeldWay,
  on: Stage<C>,
  ending: Ending,
  takesMs: number,
): Promise<'admitted' | Refusal> {
  const call = way.start(on)
  if (!call.admitted) {
    const refusal = await call.refusal
    if (refusal === undefined) throw new Error('a call that did not run must be refused')
    return refusal
  }
  on.clock.advance(takesMs)
  await call.end(ending)
  return 'admitted'
}

const refusedCall = (refusal: Promise<Refusal>): Call => ({
  admitted: false,
  refusal,
  end: () => Promise.reject(new Error('a refused call cannot be ended')),
})

export const ENTRY: HeldWay = {
  name: 'entry',
  start(on) {
    const work = deferred<object>()
    let admitted = false
    const outcome = on.guard
      .entry(on.resource, () => {
        admitted = true
        return work.promise
      })
      .then(
        (value) => ({ value, error: undefined }),
        (error: unknown) => ({ value: undefined, error }),
      )
    if (!admitted) {
      const event = on.blocked.at(-1)
      return refusedCall(outcome.then(({ error }) => asRefusal(error, event)))
    }
    return {
      admitted,
      refusal: Promise.resolve(undefined),
      async end(ending) {
        if (ending === 'success') {
          const value = {}
          work.resolve(value)
          expect((await outcome).value).toBe(value)
        } else {
          const error = errorFor(ending)
          work.reject(error)
          expect((await outcome).error).toBe(error)
        }
      },
    }
  },
  run: (on, ending, takesMs) => runHeld(ENTRY, on, ending, takesMs),
}

export const ENTER: HeldWay = {
  name: 'enter and exit',
  start(on) {
    try {
      const handle = on.guard.enter(on.resource)
      return {
        admitted: true,
        refusal: Promise.resolve(undefined),
        async end(ending) {
          if (ending === 'success') handle.exit()
          else if (ending === 'failure') handle.exit({ error: errorFor(ending) })
          else handle.cancel()
        },
      }
    } catch (error) {
      return refusedCall(Promise.resolve(asRefusal(error, on.blocked.at(-1))))
    }
  },
  run: (on, ending, takesMs) => runHeld(ENTER, on, ending, takesMs),
}

const CODES = ['', 'ERR_BLOCKED_DEGRADE', 'ERR_BLOCKED_CUSTOM', 'ERR_BLOCKED_CLOCK']

export const TRY_ENTER: HeldWay = {
  name: 'tryEnter and leave',
  start(on) {
    const permit = on.guard.tryEnter(on.resource)
    if (permit >= 0) {
      return {
        admitted: true,
        refusal: Promise.resolve(undefined),
        async end(ending) {
          on.guard.leave(permit, ending)
        },
      }
    }
    // The number has no room for the rest; the event tells it.
    const event = on.blocked.at(-1)
    const code = CODES[-permit] ?? `unknown code ${permit}`
    expect(event?.code).toBe(code)
    return refusedCall(Promise.resolve({ code, rule: event?.rule?.id, retryAfterMs: event?.retryAfterMs }))
  },
  run: (on, ending, takesMs) => runHeld(TRY_ENTER, on, ending, takesMs),
}

export const ENTRY_SYNC: Way = {
  name: 'entrySync',
  async run(on, ending, takesMs) {
    const error = errorFor(ending)
    const value = {}
    try {
      const got = on.guard.entrySync(on.resource, () => {
        on.clock.advance(takesMs)
        if (ending !== 'success') throw error
        return value
      })
      expect(got).toBe(value)
    } catch (caught) {
      if (caught !== error) return asRefusal(caught, on.blocked.at(-1))
    }
    return 'admitted'
  },
}

/** Ways whose calls can stay in flight. */
export const HELD: readonly HeldWay[] = [ENTRY, ENTER, TRY_ENTER]
/** All ways, for calls that begin and end in one breath. */
export const ALL: readonly Way[] = [...HELD, ENTRY_SYNC]

/** Near zero, and where the milliseconds of the epoch have left 32 bits behind. */
export const EPOCHS: readonly number[] = [0, 1_700_000_000_000]

export interface Variant<W> {
  readonly way: W
  readonly epoch: number
  readonly label: string
}

/** Each way at each epoch. */
export const variants = <W extends Way>(ways: readonly W[]): Variant<W>[] =>
  ways.flatMap((way) => EPOCHS.map((epoch) => ({ way, epoch, label: `${way.name}, from ${epoch}` })))

/** Starts `count` calls in this tick. */
export const startMany = <C extends MovableClock>(on: Stage<C>, way: HeldWay, count: number): Call[] =>
  Array.from({ length: count }, () => way.start(on))

/** Ends all in this tick and waits until every caller has its result. */
export async function endAll(calls: readonly Call[], ending: Ending): Promise<void> {
  await Promise.all(calls.map((call) => call.end(ending)))
}

/** The reason a promise rejected with. */
export const rejection = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => {
      throw new Error('expected a rejection')
    },
    (reason: unknown) => reason,
  )
