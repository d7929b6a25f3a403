// The rings against a naive list of timestamps, wherever the clock stands and however long it idles.
import fc from 'fast-check'
import { CountingWindow, CountWindow, LeapArray } from 'leapguard'
import { describe, expect, it, vi } from 'vitest'
import { anyStart, longWait, shortWait } from '../support/model-arbitraries.js'
import { NaiveLast, NaiveRing, NaiveWindow } from '../support/model-window.js'

// Thousands of random schedules; more than enough on a slow machine.
vi.setConfig({ testTimeout: 60_000 })

/** Lengths of a bucket; the window is a whole number of them. */
const bucketMs = fc.oneof(fc.integer({ min: 1, max: 50 }), fc.constantFrom(100, 1000, 60_000, 2 ** 20))
const bucketCount = fc.oneof(fc.integer({ min: 1, max: 20 }), fc.constantFrom(1, 2, 60, 600))

/** A step in time: by an amount, or to an edge of a bucket some buckets ahead (just before it, on it, just after it). */
type Advance = { readonly ms: number } | { readonly buckets: number; readonly offset: number }
const advance: fc.Arbitrary<Advance> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ ms: shortWait }) },
  { weight: 1, arbitrary: fc.record({ ms: longWait }) },
  {
    weight: 5,
    arbitrary: fc.record({
      buckets: fc.oneof(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 25 }), fc.constantFrom(60, 600, 601)),
      offset: fc.constantFrom(-0.125, 0, 0, 0.125),
    }),
  },
)

const stepped = (now: number, step: Advance, length: number): number =>
  'ms' in step ? now + step.ms : Math.max(now, (Math.floor(now / length) + step.buckets) * length + step.offset)

type Write =
  | { readonly kind: 'add'; readonly bad: 0 | 1 }
  | { readonly kind: 'add many'; readonly good: number; readonly bad: number }
  | { readonly kind: 'clear' }
  | { readonly kind: 'look' }

const write: fc.Arbitrary<Write> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({ kind: fc.constant('add' as const), bad: fc.constantFrom<(0 | 1)[]>(0, 1) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('add many' as const), good: fc.nat(500), bad: fc.nat(500) }),
  },
  { weight: 1, arbitrary: fc.constant<Write>({ kind: 'clear' }) },
  { weight: 3, arbitrary: fc.constant<Write>({ kind: 'look' }) },
)

describe('the window of the last calls against a naive list', () => {
  it('shows the same total and bad count after every step, and after being saved and restored', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.integer({ min: 1, max: 12 }), fc.constantFrom(100, 1000)),
        fc.array(fc.record({ write, restart: fc.boolean() }), { maxLength: 60, size: 'max' }),
        (size, moves) => {
          let window = new CountWindow(size)
          const naive = new NaiveLast(size)
          for (const { write, restart } of moves) {
            apply(window, naive, 0, write)
            if (restart) {
              const saved = window.saved()
              window = new CountWindow(size)
              window.restore(JSON.parse(JSON.stringify(saved)), 0)
            }
            expect({ total: window.total, bad: window.bad }).toEqual(naive.count(0))
          }
        },
      ),
      { numRuns: 400 },
    )
  })
})

describe('the counting window against a naive list', () => {
  it('shows the same total and bad count after every step', () => {
    fc.assert(
      fc.property(
        bucketMs,
        bucketCount,
        anyStart,
        fc.array(fc.record({ step: advance, write, ahead: advance }), { maxLength: 40, size: 'max' }),
        (length, count, start, moves) => {
          const window = new CountingWindow(length * count, count)
          const naive = new NaiveWindow(length * count, count)
          let now = start
          for (const { step, write, ahead } of moves) {
            now = stepped(now, step, length)
            apply(window, naive, now, write)
            expect({ total: window.totalAt(now), bad: window.badAt(now) }).toEqual(naive.count(now))
            const later = stepped(now, ahead, length)
            expect({ total: window.totalAt(later), bad: window.badAt(later) }).toEqual(naive.count(later))
            if (write.kind === 'look') continue
            const restored = new CountingWindow(length * count, count)
            restored.restore(window.saved(now), now)
            expect([restored.totalAt(later), restored.badAt(later)]).toEqual([
              window.totalAt(later),
              window.badAt(later),
            ])
            window.roll(now)
            expect({ total: window.total, bad: window.bad }).toEqual(naive.count(now))
          }
        },
      ),
      { numRuns: 800 },
    )
  })

  it('reads without rolling: looking ahead, however often, changes nothing', () => {
    fc.assert(
      fc.property(
        bucketMs,
        bucketCount,
        anyStart,
        fc.array(advance, { minLength: 1, maxLength: 10, size: 'max' }),
        fc.array(advance, { maxLength: 10, size: 'max' }),
        (length, count, start, fill, looks) => {
          const window = new CountingWindow(length * count, count)
          let now = start
          for (const step of fill) {
            now = stepped(now, step, length)
            window.add(now, 1)
          }
          const before = [window.total, window.bad, window.totalAt(now), window.badAt(now)]
          let ahead = now
          for (const step of looks) {
            ahead = stepped(ahead, step, length)
            window.totalAt(ahead)
            window.badAt(ahead)
          }
          expect([window.total, window.bad, window.totalAt(now), window.badAt(now)]).toEqual(before)
        },
      ),
      { numRuns: 200 },
    )
  })

  it('keeps an event until exactly one window after the start of its bucket', () => {
    fc.assert(
      fc.property(bucketMs, bucketCount, anyStart, fc.nat(30), (length, count, base, skip) => {
        const edge = (Math.floor(base / length) + skip) * length
        const interval = length * count
        for (const [at, start] of [
          [edge, edge],
          [edge + length - 0.125, edge],
          [edge - 0.125, edge - length],
        ] as const) {
          const window = new CountingWindow(interval, count)
          window.add(at, 1)
          expect(window.totalAt(start + interval - 0.125)).toBe(1)
          expect(window.totalAt(start + interval)).toBe(0)
          window.roll(start + interval - 0.125)
          expect([window.total, window.bad]).toEqual([1, 1])
          window.roll(start + interval)
          expect([window.total, window.bad]).toEqual([0, 0])
        }
      }),
      { numRuns: 200 },
    )
  })

  it('revives nothing after a gap of any whole number of windows', () => {
    fc.assert(
      fc.property(
        bucketMs,
        bucketCount,
        anyStart,
        fc.integer({ min: 1, max: 2 ** 33 }),
        (length, count, start, windows) => {
          const interval = length * count
          const window = new CountingWindow(interval, count)
          for (let i = 0; i < Math.min(count, 30); i++) window.add(start + i * length, 1)
          const now = start + Math.min(count, 30) * length + windows * interval
          expect(window.totalAt(now)).toBe(0)
          window.add(now, 0)
          window.roll(now)
          expect([window.total, window.bad]).toEqual([1, 0])
        },
      ),
      { numRuns: 300 },
    )
  })
})

const apply = (
  window: CountingWindow | CountWindow,
  naive: NaiveWindow | NaiveLast,
  now: number,
  write: Write,
): void => {
  if (write.kind === 'add') {
    window.add(now, write.bad)
    naive.book(now, 1, write.bad)
  } else if (write.kind === 'add many') {
    window.addMany(now, write.good + write.bad, write.bad)
    naive.book(now, write.good + write.bad, write.bad)
  } else if (write.kind === 'clear') {
    window.clear(now)
    naive.clear()
  }
}

interface Bucket {
  start: number
  count: number
}

const ringOf = (intervalMs: number, bucketCount: number, edge: 'exclusive' | 'inclusive'): LeapArray<Bucket> =>
  new LeapArray<Bucket>({
    intervalMs,
    bucketCount,
    edge,
    create: (start) => ({ start, count: 0 }),
    reset: (bucket, start) => {
      bucket.start = start
      bucket.count = 0
    },
  })

const copy = (buckets: readonly Bucket[]): Bucket[] => buckets.map(({ start, count }) => ({ start: start + 0, count }))

const edges = fc.constantFrom<('exclusive' | 'inclusive')[]>('exclusive', 'inclusive')

describe('the ring of buckets against a naive list', () => {
  it('holds the same live buckets after every step of a clock that never goes back', () => {
    fc.assert(
      fc.property(
        bucketMs,
        bucketCount,
        anyStart,
        edges,
        fc.array(fc.record({ step: advance, ahead: advance }), { maxLength: 30, size: 'max' }),
        (length, count, start, edge, moves) => {
          const ring = ringOf(length * count, count, edge)
          const naive = new NaiveRing(length * count, count, edge)
          expect(ring.bucketMs).toBe(length)
          let now = start
          for (const { step, ahead } of moves) {
            now = stepped(now, step, length)
            ring.current(now).count += 1
            naive.stamp(now)
            expect(copy(ring.live(now))).toEqual(naive.live(now))
            const later = stepped(now, ahead, length)
            expect(copy(ring.live(later))).toEqual(naive.live(later))
          }
        },
      ),
      { numRuns: 300 },
    )
  })

  it('gives a throw-away bucket to a stamp that is older than the bucket in its slot', () => {
    let late = 0
    fc.assert(
      fc.property(
        bucketMs,
        fc.integer({ min: 1, max: 6 }),
        anyStart,
        edges,
        fc.array(fc.integer({ min: -100, max: 100 }), { maxLength: 40, size: 'max' }),
        (length, count, start, edge, offsets) => {
          const ring = ringOf(length * count, count, edge)
          const naive = new NaiveRing(length * count, count, edge)
          let newest = Number.NEGATIVE_INFINITY
          for (const offset of offsets) {
            const at = start + (offset * length) / 4
            const isLate = naive.isLate(at)
            const bucket = ring.current(at)
            expect(bucket.start + 0).toBe(naive.startOf(at) + 0)
            if (isLate) {
              late += 1
              expect(bucket.count).toBe(0)
              expect(ring.current(at)).not.toBe(bucket)
            } else {
              expect(ring.current(at)).toBe(bucket)
            }
            bucket.count += 1
            naive.stamp(at)
            newest = Math.max(newest, at)
            expect(copy(ring.live(newest))).toEqual(naive.live(newest))
          }
        },
      ),
      { numRuns: 300 },
    )
    expect(late).toBeGreaterThan(100)
  })

  it('finds the bucket that covers a time, with and without asking for its age, and changes nothing by looking', () => {
    fc.assert(
      fc.property(
        bucketMs,
        fc.integer({ min: 1, max: 12 }),
        anyStart,
        edges,
        fc.array(fc.integer({ min: -60, max: 100 }), { minLength: 1, maxLength: 15, size: 'max' }),
        fc.array(fc.record({ back: fc.integer({ min: -80, max: 8 }), ahead: advance }), { maxLength: 15, size: 'max' }),
        (length, count, start, edge, offsets, looks) => {
          const ring = ringOf(length * count, count, edge)
          const naive = new NaiveRing(length * count, count, edge)
          let newest = Number.NEGATIVE_INFINITY
          for (const offset of offsets) {
            const at = start + (offset * length) / 4
            ring.current(at).count += 1
            naive.stamp(at)
            newest = Math.max(newest, at)
          }
          const before = copy(ring.live(newest))
          for (const { back, ahead } of looks) {
            const at = newest + (back * length) / 4
            expect(ring.covering(at)?.count).toBe(naive.covering(at))
            const now = Math.max(at, stepped(newest, ahead, length))
            // The slot's bucket, even if it covers another time.
            const start = naive.occupantOf(at)
            const expected = start !== undefined && naive.isLive(start, now) ? naive.covering(start) : undefined
            expect(ring.at(at, now)?.count).toBe(expected)
          }
          expect(copy(ring.live(newest))).toEqual(before)
        },
      ),
      { numRuns: 300 },
    )
  })

  it('lets a bucket go at exactly one window of age, or keeps it at that age with an inclusive edge', () => {
    fc.assert(
      fc.property(bucketMs, bucketCount, anyStart, (length, count, base) => {
        const start = Math.floor(base / length) * length
        const interval = length * count
        for (const edge of ['exclusive', 'inclusive'] as const) {
          const ring = ringOf(interval, count, edge)
          ring.current(start + length - 0.125).count += 1
          const lengths = [interval - 0.125, interval, interval + 0.125].map((age) => ring.live(start + age).length)
          expect(lengths).toEqual(edge === 'exclusive' ? [1, 0, 0] : [1, 1, 0])
        }
      }),
      { numRuns: 200 },
    )
  })
})
