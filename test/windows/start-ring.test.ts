// Running calls by the time they began: noticed once, never early, at most one bucket late.
import { StartRing } from 'leapguard'
import { describe, expect, it } from 'vitest'
import { startBucketMs } from '../../windows/index.js'

const LIMITS = [0, 1, 7, 8, 9, 15, 1000, 999, 2 ** 30]

describe('the length of a bucket of starts', () => {
  it('is an eighth of the limit, in whole milliseconds, and never less than one', () => {
    expect(LIMITS.map(startBucketMs)).toEqual([1, 1, 1, 1, 1, 1, 125, 124, 2 ** 27])
  })

  it.each(LIMITS)('is what the ring for %d ms shows', (limitMs) => {
    const ring = new StartRing(limitMs, 0)
    expect([ring.limitMs, ring.bucketMs]).toEqual([limitMs, startBucketMs(limitMs)])
  })
})

describe.each(LIMITS)('a limit of %d ms', (limitMs) => {
  const bucketMs = startBucketMs(limitMs)
  const origins = [0, 1_700_000_000_000, -4 * bucketMs].map((t) => Math.floor(t / bucketMs) * bucketMs)

  it.each(origins)('notices a call once its whole bucket is past the limit (from %d)', (origin) => {
    for (const offset of [0, bucketMs / 2, bucketMs - 0.25]) {
      const ring = new StartRing(limitMs, origin)
      expect(ring.begin(origin + offset)).toBe(true)
      const due = origin + bucketMs + limitMs
      expect(ring.due).toBe(due)
      expect(ring.fold(due - 0.25)).toBe(0)
      expect(ring.fold(due)).toBe(1)
      expect(ring.fold(due)).toBe(0)
      expect(ring.fold(due + 10 * bucketMs)).toBe(0)
    }
  })

  it('never notices a call at its limit, and always one bucket after it', () => {
    const ring = new StartRing(limitMs, 0)
    for (let i = 0; i < 40; i++) {
      const start = i * 3.25 * bucketMs
      ring.fold(start)
      expect(ring.begin(start)).toBe(true)
      expect(ring.fold(start + limitMs)).toBe(0)
      expect(ring.end(start)).toBe(true)
      const second = start + limitMs
      expect(ring.begin(second)).toBe(true)
      expect(ring.fold(second + limitMs + bucketMs)).toBe(1)
      expect(ring.end(second)).toBe(false)
      ring.restart(0)
    }
  })

  it('forgets a call that ended in time', () => {
    const ring = new StartRing(limitMs, 0)
    ring.begin(0)
    ring.begin(0)
    expect(ring.end(0)).toBe(true)
    expect(ring.fold(limitMs + bucketMs)).toBe(1)
  })

  it('finds everything due after a gap longer than itself', () => {
    const ring = new StartRing(limitMs, 0)
    for (let i = 0; i < 3; i++) ring.begin(0)
    const later = 1e6 * (limitMs + bucketMs)
    expect(ring.fold(later)).toBe(3)
    expect(ring.end(0)).toBe(false)
    expect(ring.begin(later)).toBe(true)
    expect(ring.fold(later + limitMs)).toBe(0)
    expect(ring.fold(later + limitMs + 2 * bucketMs)).toBe(1)
  })
})

it.each(LIMITS.filter((limitMs) => limitMs > 0))(
  'holds as many buckets as %d ms can span, without mixing the first with the last',
  (limitMs) => {
    const bucketMs = startBucketMs(limitMs)
    const ring = new StartRing(limitMs, 0)
    const last = limitMs + bucketMs - 0.25
    ring.begin(0)
    expect(ring.fold(last)).toBe(0)
    expect(ring.begin(last)).toBe(true)
    expect(ring.fold(limitMs + bucketMs)).toBe(1)
    expect(ring.end(last)).toBe(true)
    expect(ring.fold(4 * (limitMs + bucketMs))).toBe(0)
  },
)

it('folds bucket by bucket, each call once', () => {
  const ring = new StartRing(1000, 0)
  for (const start of [0, 10, 130, 260, 900]) ring.begin(start)
  expect([1124, 1125, 1250, 1300, 1375, 1999, 2000].map((now) => ring.fold(now))).toEqual([0, 2, 1, 0, 1, 0, 1])
  for (const start of [0, 10, 130, 260, 900]) expect(ring.end(start)).toBe(false)
})

it('a call that ends behind the cursor was returned before and changes nothing', () => {
  const ring = new StartRing(1000, 0)
  ring.begin(0)
  ring.begin(500)
  expect(ring.fold(1200)).toBe(1)
  expect(ring.end(0)).toBe(false)
  expect(ring.fold(1625)).toBe(1)
})

it('cannot hold a call that begins before its cursor: the clock stepped back', () => {
  const ring = new StartRing(1000, 0)
  ring.fold(5000)
  expect(ring.begin(3000)).toBe(false)
  expect(ring.fold(10_000)).toBe(0)
})

it('cannot hold a call that begins beyond its reach before it was folded', () => {
  const ring = new StartRing(1000, 0)
  expect(ring.begin(1249)).toBe(true)
  expect(ring.begin(1250)).toBe(false)
  ring.fold(1250)
  expect(ring.begin(1250)).toBe(true)
})

it('knows nothing of a call beyond its reach when it ends', () => {
  const ring = new StartRing(1000, 0)
  ring.begin(0)
  for (const start of [1250, 1375, 9999]) expect(ring.end(start)).toBe(false)
  expect(ring.fold(1125)).toBe(1)
})

it('stands where it stood while nothing is due', () => {
  const ring = new StartRing(1000, 0)
  expect([ring.fold(500), ring.due]).toEqual([0, 1125])
  ring.begin(500)
  expect([ring.fold(1124.75), ring.due]).toEqual([0, 1125])
})

it('goes round and round, each call noticed at its due time', () => {
  const ring = new StartRing(1000, 0)
  for (let now = 0; now < 5000; now += 125) {
    expect(ring.fold(now)).toBe(now < 1125 ? 0 : 1)
    expect(ring.begin(now)).toBe(true)
  }
})

it('starting anew forgets all calls and their ends', () => {
  const ring = new StartRing(1000, 0)
  ring.begin(0)
  ring.begin(200)
  ring.restart(700)
  expect(ring.due).toBe(625 + 125 + 1000)
  expect(ring.end(0)).toBe(false)
  expect(ring.fold(5000)).toBe(0)
  ring.restart(100)
  expect(ring.begin(100)).toBe(true)
  expect(ring.fold(1124)).toBe(0)
  expect(ring.fold(1125)).toBe(1)
})

it.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY])(
  'refuses a limit of %d ms, as the other windows do',
  (limit) => {
    expect(() => new StartRing(limit, 0)).toThrow(RangeError)
    expect(() => new StartRing(limit, 0)).toThrow(`limitMs must be an integer >= 0, got ${limit}`)
  },
)
