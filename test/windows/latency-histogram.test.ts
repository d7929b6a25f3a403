// Percentiles from logarithmic cells: how far off, at the edges of cells, counts and time. Random lists are left to the properties.
import { LatencyHistogram, RollingLatencyHistogram } from 'leapguard'
import { describe, expect, it } from 'vitest'

const BOUND = 1 / 64

function of(...times: number[]): LatencyHistogram {
  const histogram = new LatencyHistogram()
  for (const ms of times) histogram.record(ms)
  return histogram
}

/** What the histogram makes of a time in the middle, where neither min nor max mends it. */
const seen = (ms: number): number => of(0, ms, 2 ** 27).percentile(0.5) as number

/** The double next to one, away from zero or towards it. */
function neighbour(ms: number, by: 1n | -1n): number {
  const view = new DataView(new ArrayBuffer(8))
  view.setFloat64(0, ms)
  view.setBigUint64(0, view.getBigUint64(0) + by)
  return view.getFloat64(0)
}

describe('the relative error', () => {
  it('is at most 1/64 at both ends of every cell, from 2^-7 ms to 2^26 ms', () => {
    let worst = 0
    let cells = 0
    for (let exponent = -7; exponent < 26; exponent++) {
      for (let step = 0; step < 32; step++) {
        const lower = 2 ** exponent * (1 + step / 32)
        const last = neighbour(2 ** exponent * (1 + (step + 1) / 32), -1n)
        expect(seen(lower)).toBe(seen(last))
        expect(seen(lower)).not.toBe(seen(neighbour(lower, -1n)))
        for (const ms of [lower, last]) worst = Math.max(worst, Math.abs(seen(ms) - ms) / ms)
        cells++
      }
    }
    expect(cells).toBe(1056)
    expect(worst).toBe(BOUND)
  })

  it('is no more than 7.8 microseconds for times below that', () => {
    for (const ms of [0, -0, Number.MIN_VALUE, 1e-9, 0.001, neighbour(2 ** -7, -1n)]) expect(seen(ms)).toBe(0)
    expect(seen(2 ** -7)).toBe(2 ** -7 * (1 + 1 / 64))
  })

  it('is bounded by the longest time where there is no cell for it', () => {
    const days = 86_400_000
    expect(of(0, days, 30 * days).percentile(0.5)).toBe(30 * days)
    expect(of(days, 2 * days, 2 ** 53).max).toBe(2 ** 53)
    expect(of(Number.MAX_VALUE).percentile(0.5)).toBe(Number.MAX_VALUE)
  })

  it.each([0, 0.001, 0.3, 1, 7, 99.5, 1234.5678, 2 ** 30])('is none if all times are %d', (ms) => {
    const histogram = of(ms, ms, ms)
    expect([0, 0.5, 0.999, 1].map((ratio) => histogram.percentile(ratio))).toEqual([ms, ms, ms, ms])
  })
})

describe('what is not a time', () => {
  it('negative ones count as 0', () => {
    const histogram = of(-5, Number.NEGATIVE_INFINITY, -0)
    expect([histogram.count, histogram.min, histogram.max]).toEqual([3, 0, 0])
    expect(Object.is(of(-0).min, 0)).toBe(true)
  })

  it('NaN and Infinity are left out', () => {
    const histogram = of(Number.NaN, Number.POSITIVE_INFINITY)
    expect([histogram.count, histogram.min, histogram.percentile(0.5), histogram.byteLength]).toEqual([
      0,
      undefined,
      undefined,
      0,
    ])
  })
})

describe('ranks', () => {
  const histogram = of(...Array.from({ length: 100 }, (_, i) => i + 1))

  it.each([
    [0, 1],
    [0.001, 1],
    [0.01, 1],
    [0.07, 7], // 0.07 * 100 is 7.000000000000001
    [0.29, 29], // 0.29 * 100 is 28.999999999999996
    [0.5, 50],
    [0.505, 51],
    [0.99, 99],
    [0.991, 100],
    [1, 100],
  ])('%d is the time at the first rank with rank / count >= ratio', (ratio, expected) => {
    const value = histogram.percentile(ratio) as number
    expect(Math.abs(value - expected) / expected).toBeLessThanOrEqual(BOUND)
    const neighbours = [expected - 1, expected + 1].filter((time) => expected < 32 && time >= 1 && time <= 100)
    for (const other of neighbours) expect(Math.abs(value - other)).toBeGreaterThan(Math.abs(value - expected))
  })

  it.each([-0.1, 1.1, 50, 99, Number.NaN, Number.POSITIVE_INFINITY])('%d is no ratio', (ratio) => {
    expect(() => histogram.percentile(ratio)).toThrow(RangeError)
    expect(() => new LatencyHistogram().percentile(ratio)).toThrow(RangeError)
  })

  it('of nothing are undefined', () => {
    const empty = new LatencyHistogram()
    expect([empty.percentile(0.5), empty.min, empty.max, empty.count]).toEqual([undefined, undefined, undefined, 0])
  })
})

describe('memory', () => {
  it('is made at the first record: 2,116 bytes', () => {
    const histogram = new LatencyHistogram()
    expect(histogram.byteLength).toBe(0)
    histogram.record(1)
    expect(histogram.byteLength).toBe(2116)
  })

  it('doubles with the 65,536th time in a cell, and no count is lost', () => {
    const histogram = of(5, 500)
    histogram.record(50, 65_535)
    expect([histogram.byteLength, histogram.count]).toEqual([2116, 65_537])
    histogram.record(50)
    expect([histogram.byteLength, histogram.count]).toEqual([4232, 65_538])
    // one below, 65,536 in the middle, one above
    expect(histogram.percentile(1 / 65_538)).toBe(5)
    expect(histogram.percentile(2 / 65_538)).toBe(50.5)
    expect(histogram.percentile(65_537 / 65_538)).toBe(50.5)
    expect(histogram.percentile(1)).toBe(500)
  })

  it('doubles again past 2^32 - 1 times, at one step or from the beginning', () => {
    const grown = of(1)
    grown.record(8, 2 ** 32 - 1)
    expect(grown.byteLength).toBe(4232)
    grown.record(8)
    expect(grown.byteLength).toBe(8464)
    const once = of(1)
    once.record(8, 2 ** 32)
    for (const histogram of [grown, once]) {
      expect([histogram.byteLength, histogram.count]).toEqual([8464, 2 ** 32 + 1])
      expect(histogram.percentile(2 ** -33)).toBe(1)
      expect(histogram.percentile(2 ** -30)).toBe(8)
    }
  })

  it('stays when it is cleared, and everything else goes', () => {
    const histogram = of(5, 500)
    histogram.record(50, 70_000)
    histogram.clear()
    histogram.clear()
    expect([histogram.count, histogram.min, histogram.max, histogram.percentile(1), histogram.byteLength]).toEqual([
      0,
      undefined,
      undefined,
      undefined,
      4232,
    ])
    histogram.record(7)
    histogram.record(9, 100_000)
    expect([histogram.count, histogram.min, histogram.max]).toEqual([100_001, 7, 9])
    expect([0.00001, 0.00002].map((ratio) => histogram.percentile(ratio))).toEqual([9, 9])
  })
})

describe('two generations', () => {
  const MEDIAN = [0.5]
  /** Interval of 1 s. */
  function rolling(...records: [now: number, ms: number][]): RollingLatencyHistogram {
    const histogram = new RollingLatencyHistogram(1000)
    for (const [now, ms] of records) histogram.record(now, ms)
    return histogram
  }
  /** Shortest and longest time that a reading finds. */
  const span = (histogram: RollingLatencyHistogram, now: number) => histogram.percentiles([0, 1], now)

  it('hold the present interval and the one before, to the millisecond', () => {
    const histogram = rolling([0, 1], [999.875, 2], [1000, 3])
    expect(span(histogram, 1000)).toEqual([1, 3])
    expect(span(histogram, 1999.875)).toEqual([1, 3])
    expect(span(histogram, 2000)).toEqual([3, 3])
    expect(span(histogram, 2999.875)).toEqual([3, 3])
    expect(span(histogram, 3000)).toBeUndefined()
    histogram.record(2000, 4)
    expect(span(histogram, 2000)).toEqual([3, 4])
    histogram.record(3000, 5)
    expect(span(histogram, 3000)).toEqual([4, 5])
  })

  it.each([2000, 3000, 1e9, 2 ** 31, 2 ** 32, 1e15])('after a gap of %d ms hold nothing', (gap) => {
    const histogram = rolling([500, 1], [1500, 2])
    expect(span(histogram, 1500 + gap)).toBeUndefined()
    histogram.record(1500 + gap, 7)
    expect(span(histogram, 1500 + gap)).toEqual([7, 7])
  })

  it('reading changes nothing, however far ahead', () => {
    const histogram = rolling([0, 1], [1500, 2])
    for (const now of [1500, 2500, 1e12, -1e12]) histogram.percentiles(MEDIAN, now)
    expect(span(histogram, 1500)).toEqual([1, 2])
  })

  it('a clock that steps back one interval finds its own histogram, further back is left out', () => {
    const histogram = rolling([1500, 1], [2500, 2])
    histogram.record(1999, 3)
    expect(span(histogram, 2500)).toEqual([1, 3])
    histogram.record(999, 4)
    histogram.record(-1e12, 5)
    expect(span(histogram, 2500)).toEqual([1, 3])
    expect(span(histogram, 0)).toEqual([1, 3])
    expect(span(histogram, 3000)).toEqual([2, 2])
  })

  it('may begin before the epoch, and around it', () => {
    const histogram = rolling([-1500, 1], [-0.5, 2], [0, 3])
    expect(span(histogram, 0)).toEqual([2, 3])
    expect(span(rolling([-1500, 1], [-0.5, 2]), -0.5)).toEqual([1, 2])
  })

  it('keep 4,232 bytes, whatever passes through', () => {
    const histogram = rolling()
    expect([histogram.byteLength, histogram.percentiles(MEDIAN, 0)]).toEqual([0, undefined])
    for (let now = 0; now < 50_000; now += 10) histogram.record(now, now % 7919)
    expect(histogram.byteLength).toBe(4232)
    expect(histogram.byteLength).toBeLessThanOrEqual(4300)
    histogram.clear()
    expect([histogram.byteLength, histogram.percentiles(MEDIAN, 49_990)]).toEqual([4232, undefined])
    histogram.record(49_990, 5)
    expect(span(histogram, 49_990)).toEqual([5, 5])
  })

  it('ask for ascending ratios', () => {
    const histogram = rolling([0, 1])
    expect(histogram.percentiles([], 0)).toEqual([])
    expect(histogram.percentiles([0.5, 0.5, 1], 0)).toEqual([1, 1, 1])
    for (const wrong of [[0.9, 0.5], [0.5, Number.NaN], [1.5]]) {
      expect(() => histogram.percentiles(wrong, 0)).toThrow(RangeError)
    }
  })

  it.each([0, -1, 1.5, Number.NaN, 2 ** 53])('an interval of %d is refused', (intervalMs) => {
    expect(() => new RollingLatencyHistogram(intervalMs)).toThrow(RangeError)
  })
})
