// The contract between the gatehouse (src/pipeline.ts) and every controller: read this first.
// A rule is data; a controller is what compile makes of it. A controller may refuse, never wait, repeat or do I/O.

import type { DegradeRule } from './degrade/rule.js'

/** How a guarded call ended, as controllers see it. `IGNORED` is neither good nor bad and gives back what was taken. */
export const Outcome = { SUCCESS: 0, FAILURE: 1, IGNORED: 2 } as const
export type Outcome = (typeof Outcome)[keyof typeof Outcome]

/** Stored states of a breaker: integers inside, the names of {@link STATE_NAMES} at the face. */
export const State = { CLOSED: 0, OPEN: 1, HALF_OPEN: 2 } as const
export type State = (typeof State)[keyof typeof State]
export type StateName = 'closed' | 'open' | 'half-open'
export const STATE_NAMES: readonly StateName[] = ['closed', 'open', 'half-open']

/**
 * Why a call was refused. `check` returns one of these as a positive number; `tryEnter` returns it negated.
 * The numbers are for ever.
 */
export const BlockCode = { DEGRADE: 1, CUSTOM: 2, CLOCK: 3 } as const
export type BlockCode = (typeof BlockCode)[keyof typeof BlockCode]

/** Bits that controllers leave in {@link Permit.flags} while they take, and that `settle` returns. */
export const Flag = {
  /** `take`: this call holds a probe slot of at least one breaker. */
  PROBE: 1,
  /** `take`: a dry-run rule would have refused this call. */
  WOULD_BLOCK: 2,
  /** `settle`: the rule counted this call as slow. */
  SLOW: 4,
} as const

/**
 * What a controller sees of one admitted call. The object is reused when the call has ended:
 * read it during `take` and `settle`, keep `seq`, never the permit itself.
 */
export interface Permit {
  /** Name of the guarded resource. */
  readonly resource: string
  /** Wrapping int32 sequence number of the resource's admitted calls; compare as `(a - b) | 0`. */
  readonly seq: number
  /** Clock reading at admission, epoch milliseconds. */
  readonly start: number
  /** Permits the call asked for, an integer >= 1. */
  readonly count: number
  /** Sequence numbers of the calls of this resource around this one, nearest first, or `null`; known only where one of them was a probe. */
  readonly parents: readonly number[] | null
  /** Arguments and origin given with the entry, for rules that look at them. */
  readonly args: readonly unknown[] | undefined
  readonly origin: string | undefined
  /** {@link Flag} bits; `take` may add to them. */
  flags: number
}

/**
 * A controller decides about one resource. All verbs are synchronous and speak in numbers.
 * For one entry, in this order: `advance` and `check` on all; if all agree, `take` on all; the function; `settle` on all.
 */
export interface Controller {
  /** Facts that time alone decides (running calls past the limit, probe timeout). Idempotent at the same `now`. */
  advance?(now: number): void
  /**
   * May this call pass? 0: yes. A positive {@link BlockCode}: no. A negative number: not before that many ms have passed.
   * Pure: takes nothing, counts nothing, changes nothing. Entries do not queue for a degrade or custom rule, so a negative
   * number refuses with `retryAfterMs` set to its size.
   */
  check(now: number, count: number): number
  /** Every controller agreed: take what the call uses (probe slot, concurrency). Must not refuse. */
  take?(now: number, permit: Permit): void
  /** The call ended. Record, move state, give back. Must not throw. Returns {@link Flag} bits or nothing. */
  // biome-ignore lint/suspicious/noConfusingVoidType: user controllers may return nothing
  settle?(now: number, permit: Permit, outcome: Outcome): number | void
  /** Milliseconds until a refused caller may try again, or `undefined` if nobody knows. Asked only after a refusal. */
  waitMs?(now: number): number | undefined
}

/**
 * The present moment of a guard: one object whose `now` (epoch ms) is set before each operation. Controllers are handed the object,
 * since a double handed to a function that V8 does not inline costs 16 bytes each time.
 */
export interface Moment {
  now: number
}

/** What compile hands to the gatehouse: every verb present, and none of them throws. */
export interface CompiledController {
  readonly rule: { readonly id: string }
  advance(moment: Moment): void
  check(moment: Moment, count: number): number
  /** False if the controller failed at it: the gatehouse then gives back what was taken. */
  take(moment: Moment, permit: Permit): boolean
  settle(moment: Moment, permit: Permit, outcome: Outcome): number
  waitMs(now: number): number | undefined
  /** Is one of these calls a probe of this controller that is out? Then a call nested in it passes. */
  holdsProbe(seqs: readonly number[]): boolean
}

/** Why a breaker changed its state. */
export type StateChangeReason =
  | 'threshold'
  | 'cooldown-elapsed'
  | 'probe-succeeded'
  | 'probe-failed'
  | 'probe-slow'
  | 'half-open-timeout'
  | 'forced-open'
  | 'forced-closed'
  | 'auto'
  | 'reset'
  | 'reload'
  | 'removed'
  | 'restored'

/** What a breaker needs from the resource it guards: the sequence, the count of probes out, and an ear for its changes. */
export interface Host {
  /** Sequence number of the last admitted call (wrapping int32). */
  seq: number
  /** Calls offered so far, admitted or refused: the one that is being checked not included, the one that is being taken included. */
  readonly offered: number
  /** Probe slots of all breakers of this resource that are taken now. */
  probesOut: number
  /** The operator's switches: forced open beats forced closed. */
  readonly forcedOpen: boolean
  readonly forcedClosed: boolean
  /** A uniform random number in [0, 1), for jitter. */
  random(): number
  /**
   * The state that callers feel has changed. `value` is what was measured (ratio or count, or `undefined` if time or an operator
   * decided), `total` the number of calls behind it. Only queues; nothing is delivered before the operation is complete.
   */
  changed(
    rule: DegradeRule,
    from: State,
    to: State,
    reason: StateChangeReason,
    value: number | undefined,
    total: number,
    now: number,
  ): void
}
