// Histogram and statistics window against naive lists, wherever times lie, the clock stands, and however long it idles or steps back.
import fc from 'fast-check'
import { LatencyHistogram, MetricWindow, RollingLatencyHistogram } from 'leapguard'
import { describe, expect, it, vi } from 'vitest'
import { anyStart, longWait, shortWait } from '../support/model-arbitraries.js'
import { COLUMNS, type Column, NaiveMetrics, nearestRank } from '../support/model-metrics.js'

// Thousands of random schedules; more than enough on a slow machine.
vi.setConfig({ testTimeout: 60_000 })

const BOUND = 1 / 64
/** Below this there is one cell for all. */
const LEAST = 2 ** -7
const MOST = 2 ** 26

/** Response times: whole, fractions, tiny, huge, none at all, and what a broken caller may give. */
const goodTime = fc.oneof(
  fc.integer({ min: 0, max: 5000 }),
  fc.double({ min: 0, max: 100, noNaN: true }),
  fc.double({ min: 0, max: MOST, noNaN: true }),
  fc.constantFrom(0, LEAST, 2 ** 30, 2 ** 53),
)
const anyTime = fc.oneof(
  { weight: 9, arbitrary: goodTime },
  { weight: 1, arbitrary: fc.constantFrom(-0, -1, -1e9, Number.NaN, Number.POSITIVE_INFINITY) },
)
const ratio = fc.oneof(fc.constantFrom(0, 0.5, 0.9, 0.95, 0.99, 0.999, 1), fc.double({ min: 0, max: 1, noNaN: true }))

/** Is this what the histogram may show for the exact time, where no time is longer than `longest`? */
function expectNear(shown: number | undefined, exact: number | undefined, longest = Number.POSITIVE_INFINITY): void {
  if (exact === undefined || shown === undefined) expect(shown).toBe(exact)
  else if (exact < LEAST) expect(Math.abs(shown - exact)).toBeLessThan(LEAST)
  else if (exact >= MOST && shown !== exact) expect(shown).toBe(longest)
  else expect(Math.abs(shown - exact) / exact).toBeLessThanOrEqual(BOUND)
}

describe('a histogram against a sorted list', () => {
  it('shows every percentile within 1/64, and count, min and max exactly', () => {
    fc.assert(
      fc.property(
        fc.array(anyTime, { maxLength: 200, size: 'max' }),
        fc.array(ratio, { minLength: 1 }),
        (all, ratios) => {
          const histogram = new LatencyHistogram()
          for (const ms of all) histogram.record(ms)
          const times = all.filter((ms) => ms < Number.POSITIVE_INFINITY).map((ms) => Math.max(ms, 0))
          const longest = times.length === 0 ? undefined : Math.max(...times)
          expect([histogram.count, histogram.max]).toEqual([times.length, longest])
          expect(histogram.min).toBe(times.length === 0 ? undefined : Math.min(...times))
          for (const share of ratios) expectNear(histogram.percentile(share), nearestRank(times, share), longest)
        },
      ),
      { numRuns: 1000 },
    )
  })

  it('shows percentiles that never fall while the ratio rises', () => {
    fc.assert(
      fc.property(fc.array(goodTime, { minLength: 1 }), fc.array(ratio, { minLength: 2 }), (all, ratios) => {
        const histogram = new LatencyHistogram()
        for (const ms of all) histogram.record(ms)
        const shown = [...ratios].sort((a, b) => a - b).map((share) => histogram.percentile(share) as number)
        expect(shown).toEqual([...shown].sort((a, b) => a - b))
      }),
    )
  })

  it('shows the same whether times come one by one or many at once', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(goodTime, fc.integer({ min: 1, max: 30 })), { minLength: 1 }),
        ratio,
        (all, share) => {
          const [single, many] = [new LatencyHistogram(), new LatencyHistogram()]
          for (const [ms, times] of all) {
            many.record(ms, times)
            for (let i = 0; i < times; i++) single.record(ms)
          }
          expect(many.percentile(share)).toBe(single.percentile(share))
          expect(many.count).toBe(single.count)
        },
      ),
    )
  })
})

interface Step {
  readonly waitMs: number
  readonly column: Column
  readonly rtMs: number
  readonly clear: boolean
}

const step = (back: boolean): fc.Arbitrary<Step> =>
  fc.record({
    waitMs: fc.oneof(
      { weight: 8, arbitrary: shortWait },
      { weight: 3, arbitrary: fc.constantFrom(100, 500, 1000) },
      { weight: 1, arbitrary: longWait },
      { weight: back ? 3 : 0, arbitrary: shortWait.map((ms) => -5 * ms) },
    ),
    column: fc.constantFrom(...COLUMNS, 'succeeded', 'failed'),
    rtMs: anyTime,
    clear: fc.integer({ min: 0, max: 20 }).map((n) => n === 20),
  })

const ADD = {
  passed: 'addPassed',
  blocked: 'addBlocked',
  succeeded: 'addSucceeded',
  failed: 'addFailed',
  ignored: 'addIgnored',
  slow: 'addSlow',
} as const satisfies Record<Column, keyof MetricWindow>

describe.each([
  ['a clock that only goes forward', false],
  ['a clock that steps back', true],
])('the statistics window against a list, with %s', (_, back) => {
  it('shows every count, and the response times of what it shows', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 50 }),
        fc.constantFrom(1, 2, 3, 10, 20),
        anyStart,
        fc.array(step(back), { maxLength: 60, size: 'max' }),
        fc.oneof(shortWait, longWait),
        (bucketMs, bucketCount, start, steps, ahead) => {
          const window = new MetricWindow({ intervalMs: bucketMs * bucketCount, bucketCount })
          const naive = new NaiveMetrics(bucketMs * bucketCount, bucketCount)
          let now = start
          for (const { waitMs, column, rtMs, clear } of steps) {
            now += waitMs
            if (clear) {
              window.clear()
              naive.clear()
            } else {
              window[ADD[column]](now, rtMs)
              naive.add(column, now, rtMs)
            }
            expectSame(window, naive, now, back)
            expectSame(window, naive, now + ahead, back)
          }
        },
      ),
      { numRuns: 400 },
    )
  })
})

function expectSame(window: MetricWindow, naive: NaiveMetrics, now: number, back: boolean): void {
  const shown = window.read(now)
  for (const column of COLUMNS) expect(shown[column], column).toBe(naive.count(column, now))
  const times = naive.times(now)
  const { rt } = shown
  if (times.length === 0) {
    expect(rt).toBeUndefined()
    return
  }
  const [min, max] = [Math.min(...times), Math.max(...times)]
  expect(rt).toMatchObject({ count: times.length, min, max })
  const sum = times.reduce((a, b) => a + b, 0)
  expect(Math.abs((rt?.mean as number) - sum / times.length)).toBeLessThanOrEqual(1e-9 * max)
  if (back) return // percentiles of a clock that steps back may lack times; see the tests of the rolling histogram
  const recent = naive.recentTimes(now)
  expect(recent.length).toBeGreaterThanOrEqual(times.length)
  const [p50, p999] = [nearestRank(recent, 0.5), nearestRank(recent, 0.999)]
  const within = (exact: number | undefined) => (exact === undefined ? undefined : Math.min(Math.max(exact, min), max))
  expectNear(rt?.p50, within(p50), max)
  expectNear(rt?.p999, within(p999), max)
}

it('two generations show the present interval and the one before it, as a list does', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 200 }),
      anyStart,
      fc.array(fc.record({ waitMs: fc.oneof(shortWait, shortWait, longWait), ms: goodTime }), { maxLength: 60 }),
      fc.oneof(shortWait, longWait),
      ratio,
      (intervalMs, start, steps, ahead, share) => {
        const histogram = new RollingLatencyHistogram(intervalMs)
        const all: { at: number; ms: number }[] = []
        let now = start
        for (const { waitMs, ms } of steps) {
          now += waitMs
          histogram.record(now, ms)
          all.push({ at: now, ms })
          for (const at of [now, now + ahead]) {
            const from = (Math.floor(at / intervalMs) - 1) * intervalMs
            const times = all.filter((record) => record.at >= from).map((record) => record.ms)
            const [shown] = histogram.percentiles([share], at) ?? []
            expectNear(shown, nearestRank(times, share), Math.max(...times))
          }
        }
        expect(histogram.byteLength).toBeLessThanOrEqual(4300)
      },
    ),
    { numRuns: 300 },
  )
})
