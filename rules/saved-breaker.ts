// What a breaker leaves behind to be taken up again by another process: plain JSON, checked before it is believed.
import type { SavedBuckets } from '../windows/index.js'
import type { StateName } from './contract.js'
import { type DegradeRule, type DegradeStrategy, MAX_BUCKETS, STRATEGIES, type WindowShape } from './degrade/rule.js'
import { Checker, type Fault, MAX_MS, show } from './validate.js'

/** Reopenings in a row beyond this lengthen a cooldown no further. */
export const MAX_GROWTH = 1_000_000

/** Closed, with counts that are still live, or a run of failures. */
export interface SavedClosed {
  readonly state: 'closed'
  readonly window?: SavedBuckets
  /** `consecutive-errors`: the present run, integer >= 0. */
  readonly streak?: number
}

/** What both other states know of the outage so far. */
interface SavedOutage {
  /** Times a bad probe has opened it again. */
  readonly growth: number
  /** Probes that were taken over: each has doubled the probe timeout. */
  readonly takeovers: number
}

export interface SavedOpen extends SavedOutage {
  readonly state: 'open'
  /** Epoch ms. */
  readonly openedAt: number
  /** The share drawn for this cooldown, 0 to 1. */
  readonly jitter: number
}

/** Probes that are out belong to calls of the process that saved, so they are not kept; what earlier ones earned is. */
export interface SavedHalfOpen extends SavedOutage {
  readonly state: 'half-open'
  /** Good probes so far. */
  readonly successes: number
}

/** One breaker at rest: whose it is, how its window is cut, and its state. Times are epoch ms. */
export type SavedBreaker = WindowShape & {
  /** Id of the rule. */
  readonly id: string
  /** Was the id the user's choice? Absent means no. */
  readonly named?: boolean
} & (SavedClosed | SavedOpen | SavedHalfOpen)

/** Who a saved breaker belongs to: the fields that come before its state. */
export function identityOf({
  id,
  strategy,
  statIntervalMs,
  bucketCount,
  maxAllowedRtMs,
}: DegradeRule): WindowShape & { id: string } {
  return {
    id,
    strategy,
    statIntervalMs,
    bucketCount,
    ...(maxAllowedRtMs === undefined ? {} : { maxAllowedRtMs }),
  }
}

const IDENTITY = ['id', 'named', 'strategy', 'statIntervalMs', 'bucketCount', 'maxAllowedRtMs', 'state'] as const
const FIELDS: Readonly<Record<StateName, ReadonlySet<string>>> = {
  closed: new Set([...IDENTITY, 'window', 'streak']),
  open: new Set([...IDENTITY, 'openedAt', 'jitter', 'growth', 'takeovers']),
  'half-open': new Set([...IDENTITY, 'successes', 'growth', 'takeovers']),
}
const STATES: readonly StateName[] = ['closed', 'open', 'half-open']
/** Calls in one bucket; the sum over all buckets then stays exact. */
const MAX_CALLS = 2 ** 39
const COUNT = { min: 0, max: Number.MAX_SAFE_INTEGER, integer: true } as const
const TIME = { min: -Number.MAX_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER } as const

/**
 * Lists into `faults` whatever keeps `value` from being a {@link SavedBreaker}; `path` leads to it. If it lists nothing, `value` is one
 * and `restore` takes it.
 */
export function checkSavedBreaker(value: Readonly<Record<string, unknown>>, path: string, faults: Fault[]): void {
  const checker = new Checker(value, path, faults, '')
  checker.name('id', true)
  checker.boolean('named', false)
  const strategy = checker.oneOf('strategy', STRATEGIES, undefined)
  if (strategy === 'slow-call-ratio')
    checker.number('maxAllowedRtMs', { min: 0, max: MAX_MS, integer: true }, undefined)
  else if (strategy !== undefined) checker.forbidden('maxAllowedRtMs', `only slow-call-ratio has it, not ${strategy}`)
  const statIntervalMs = checker.number('statIntervalMs', { min: 1, max: MAX_MS, integer: true }, undefined)
  const bucketCount = checker.number('bucketCount', { min: 1, max: MAX_BUCKETS, integer: true }, undefined)
  if (statIntervalMs % bucketCount > 0) checker.fault('bucketCount', `a divisor of ${statIntervalMs}`)
  const state = checker.oneOf('state', STATES, undefined)
  if (state === undefined) return
  checker.knownFields(FIELDS[state])
  if (state === 'closed') {
    checkClosed(checker, strategy)
    if (value.window !== undefined) checkBuckets(value.window, statIntervalMs, bucketCount, `${path}.window`, faults)
    return
  }
  checker.number('growth', { min: 0, max: MAX_GROWTH, integer: true }, undefined)
  checker.number('takeovers', COUNT, undefined)
  if (state === 'half-open') checker.number('successes', COUNT, undefined)
  else {
    checker.number('openedAt', TIME, undefined)
    checker.number('jitter', { min: 0, max: 1 }, undefined)
  }
}

function checkClosed(checker: Checker, strategy: DegradeStrategy | undefined): void {
  if (strategy === 'consecutive-errors') {
    checker.number('streak', COUNT, 0)
    checker.forbidden('window', 'consecutive-errors counts a run, not a window')
  } else checker.forbidden('streak', 'only consecutive-errors counts a run')
}

/** Buckets `[start, total, bad]`, each at an edge, oldest first, all of them within one window. */
function checkBuckets(value: unknown, intervalMs: number, bucketCount: number, path: string, faults: Fault[]): void {
  const bucketMs = intervalMs / bucketCount
  const fault = (at: string, what: unknown, bound: string) =>
    faults.push({ path: at, value: what, bound, message: `${at}: must be ${bound}, got ${show(what)}` })
  if (!Array.isArray(value) || value.length > bucketCount) {
    fault(path, value, `an array of at most ${bucketCount} buckets [start, total, bad]`)
    return
  }
  if (!Number.isInteger(bucketMs)) return // The shape is at fault, and has been named.
  let [earliest, latest] = [-Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER]
  Array.from(value as unknown[]).forEach((bucket, i) => {
    const at = `${path}[${i}]`
    if (!Array.isArray(bucket) || bucket.length !== 3 || !bucket.every(Number.isSafeInteger)) {
      fault(at, bucket, 'three integers [start, total, bad]')
      return
    }
    const [start, total, bad] = bucket as [number, number, number]
    if (start % bucketMs !== 0 || start < earliest || start > latest) {
      fault(`${at}[0]`, start, `a multiple of ${bucketMs}, later than the one before and in one window with the first`)
      return
    }
    if (i === 0) latest = start + intervalMs - bucketMs
    earliest = start + bucketMs
    if (total < 1 || total > MAX_CALLS) fault(`${at}[1]`, total, `an integer >= 1 and <= ${MAX_CALLS}`)
    else if (bad < 0 || bad > total) fault(`${at}[2]`, bad, `an integer >= 0 and <= ${total}`)
  })
}
