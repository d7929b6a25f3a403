// What a breaker leaves behind to be taken up again by another process: plain JSON, checked before it is believed.
import type { SavedBuckets, SavedRuns } from '../windows/index.js'
import type { StateName } from './contract.js'
import { MAX_GROWTH } from './cooldown.js'
import { type DegradeRule, type DegradeStrategy, MAX_CALL_COUNT, STRATEGIES, type WindowShape } from './degrade/rule.js'
import { MAX_BUCKETS } from './ring-shape.js'
import { Checker, type Fault, MAX_MS, show } from './validate.js'

/** Closed, with counts that are still live, or a run of failures. */
export interface SavedClosed {
  readonly state: 'closed'
  /** Epoch ms; only while recovering. */
  readonly closedAt?: number
  readonly window?: SavedBuckets
  /** With `statCallCount`, in place of `window`. */
  readonly calls?: SavedRuns
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
  /** Since when. Epoch ms. */
  readonly halfOpenAt: number
  /** Good probes so far. */
  readonly successes: number
}

export type SavedPhase = SavedClosed | SavedOpen | SavedHalfOpen

/** One breaker: whose it is, how its window is cut, and its state. Times are epoch ms. */
export type SavedBreaker = WindowShape & {
  /** Id of the rule. */
  readonly id: string
  /** Was the id the user's choice? Absent means no. */
  readonly named?: boolean
} & SavedPhase

const SHAPE = ['strategy', 'statIntervalMs', 'bucketCount', 'statCallCount', 'maxAllowedRtMs'] as const

/** Who a saved breaker belongs to: the fields that come before its state. */
export function identityOf(rule: DegradeRule): WindowShape & { id: string } {
  const given = SHAPE.filter((field) => rule[field] !== undefined).map((field) => [field, rule[field]])
  return { id: rule.id, ...(Object.fromEntries(given) as WindowShape) }
}

const IDENTITY = ['id', 'named', ...SHAPE, 'state'] as const
const FIELDS: Readonly<Record<StateName, ReadonlySet<string>>> = {
  closed: new Set([...IDENTITY, 'closedAt', 'window', 'calls', 'streak']),
  open: new Set([...IDENTITY, 'openedAt', 'jitter', 'growth', 'takeovers']),
  'half-open': new Set([...IDENTITY, 'halfOpenAt', 'successes', 'growth', 'takeovers']),
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
  const checkCounts = checkWindowShape(checker, strategy)
  const state = checker.oneOf('state', STATES, undefined)
  if (state === undefined) return
  checker.knownFields(FIELDS[state])
  if (state === 'closed') {
    if (checker.has('closedAt')) checker.number('closedAt', TIME, undefined)
    if (strategy === 'consecutive-errors') checker.number('streak', COUNT, 0)
    else checker.forbidden('streak', 'only consecutive-errors counts a run')
    checkCounts(value, path, faults)
    return
  }
  checker.number('growth', { min: 0, max: MAX_GROWTH, integer: true }, undefined)
  checker.number('takeovers', COUNT, undefined)
  if (state === 'half-open') {
    checker.number('halfOpenAt', TIME, undefined)
    checker.number('successes', COUNT, undefined)
  } else {
    checker.number('openedAt', TIME, undefined)
    checker.number('jitter', { min: 0, max: 1 }, undefined)
  }
}

type CountsCheck = (value: Readonly<Record<string, unknown>>, path: string, faults: Fault[]) => void

/** Checks how the window is cut, and returns what checks the counts in it. */
function checkWindowShape(checker: Checker, strategy: DegradeStrategy | undefined): CountsCheck {
  const consecutive = strategy === 'consecutive-errors'
  if (consecutive) checker.forbidden('statCallCount', 'consecutive-errors counts a run, not a window')
  if (!consecutive && checker.has('statCallCount')) {
    const why = 'the window is one of calls'
    for (const field of ['statIntervalMs', 'bucketCount', 'window']) checker.forbidden(field, why)
    const size = checker.number('statCallCount', { min: 1, max: MAX_CALL_COUNT, integer: true }, undefined)
    return ({ calls }, path, faults) => {
      if (calls !== undefined) checkRuns(calls, size, `${path}.calls`, faults)
    }
  }
  const why = consecutive ? 'consecutive-errors counts a run, not a window' : 'the window is one of time'
  checker.forbidden('calls', why)
  if (consecutive) checker.forbidden('window', why)
  const statIntervalMs = checker.number('statIntervalMs', { min: 1, max: MAX_MS, integer: true }, undefined)
  const bucketCount = checker.number('bucketCount', { min: 1, max: MAX_BUCKETS, integer: true }, undefined)
  if (statIntervalMs % bucketCount > 0) checker.fault('bucketCount', `a divisor of ${statIntervalMs}`)
  return ({ window }, path, faults) => {
    // Where the shape is at fault, and has been named, its counts cannot be judged.
    if (consecutive || window === undefined || !Number.isInteger(statIntervalMs / bucketCount)) return
    checkBuckets(window, statIntervalMs, bucketCount, `${path}.window`, faults)
  }
}

function fault(faults: Fault[], path: string, value: unknown, bound: string): void {
  faults.push({ path, value, bound, message: `${path}: must be ${bound}, got ${show(value)}` })
}

/** Buckets `[start, total, bad]`, each at an edge, oldest first, all of them within one window. */
function checkBuckets(value: unknown, intervalMs: number, bucketCount: number, path: string, faults: Fault[]): void {
  const bucketMs = intervalMs / bucketCount
  let [earliest, latest] = [-Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER]
  checkRows(value, bucketCount, ['start', 'total', 'bad'], path, faults, (at, [start = 0, total = 0, bad = 0]) => {
    if (start % bucketMs !== 0 || start < earliest || start > latest) {
      const bound = `a multiple of ${bucketMs}, later than the one before and in one window with the first`
      fault(faults, `${at}[0]`, start, bound)
      return
    }
    latest = Math.min(latest, start + intervalMs - bucketMs)
    earliest = start + bucketMs
    if (total < 1 || total > MAX_CALLS) fault(faults, `${at}[1]`, total, `an integer >= 1 and <= ${MAX_CALLS}`)
    else if (bad < 0 || bad > total) fault(faults, `${at}[2]`, bad, `an integer >= 0 and <= ${total}`)
  })
}

/** Runs `[bad, times]` of equal calls, no more of them than the window holds. */
function checkRuns(value: unknown, size: number, path: string, faults: Fault[]): void {
  let left = size
  checkRows(value, size, ['bad', 'times'], path, faults, (at, [bad = 0, times = 0]) => {
    if (bad !== 0 && bad !== 1) fault(faults, `${at}[0]`, bad, '0 or 1')
    if (times < 1 || times > left) fault(faults, `${at}[1]`, times, `an integer >= 1 and <= ${left}`)
    else left -= times
  })
}

/** An array of at most `most` rows, each of as many integers as it has columns. */
function checkRows(
  value: unknown,
  most: number,
  columns: readonly string[],
  path: string,
  faults: Fault[],
  check: (path: string, row: readonly number[]) => void,
): void {
  const shape = `[${columns.join(', ')}]`
  if (!Array.isArray(value) || value.length > most) {
    fault(faults, path, value, `an array of at most ${most} rows ${shape}`)
    return
  }
  Array.from(value as unknown[]).forEach((row, i) => {
    const at = `${path}[${i}]`
    if (Array.isArray(row) && row.length === columns.length && row.every(Number.isSafeInteger)) check(at, row)
    else fault(faults, at, row, `${columns.length} integers ${shape}`)
  })
}
