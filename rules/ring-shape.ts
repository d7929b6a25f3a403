// The shape of a window of time, as rules and statistics ask for it: a span, and the buckets it is divided into.
import { type Checker, MAX_MS } from './validate.js'

export const MAX_BUCKETS = 10_000
const DEFAULT_INTERVAL_MS = 10_000

/** Reads the span from a field of that name, and `bucketCount`. The fields that are missing get their defaults. */
export function readRingShape(checker: Checker, interval: string): { intervalMs: number; bucketCount: number } {
  const intervalMs = checker.number(interval, { min: 1, max: MAX_MS, integer: true }, DEFAULT_INTERVAL_MS)
  if (!checker.has('bucketCount')) return { intervalMs, bucketCount: defaultBucketCount(intervalMs) }
  const bucketCount = checker.number('bucketCount', { min: 1, max: MAX_BUCKETS, integer: true }, 1)
  if (!checker.isFaulty(interval) && intervalMs % bucketCount !== 0) {
    checker.fault('bucketCount', `an integer >= 1 and <= ${MAX_BUCKETS} that divides ${interval} (${intervalMs})`)
  }
  return { intervalMs, bucketCount }
}

/** 10, or the largest divisor of the interval up to 20 where 10 does not divide. */
function defaultBucketCount(intervalMs: number): number {
  if (intervalMs % 10 === 0) return 10
  for (let n = 20; n > 1; n--) if (intervalMs % n === 0) return n
  return 1
}
