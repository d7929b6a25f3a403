// The statistics window at the numbers where it could slip. Long schedules are left to the properties.
import { type MetricSnapshot, MetricWindow } from 'leapguard'
import { describe, expect, it } from 'vitest'

/** Ten buckets of 100 ms. */
const tenths = (percentiles = true): MetricWindow =>
  new MetricWindow({ intervalMs: 1000, bucketCount: 10, percentiles })

const NOTHING: MetricSnapshot = {
  intervalMs: 1000,
  passed: 0,
  blocked: 0,
  succeeded: 0,
  failed: 0,
  ignored: 0,
  slow: 0,
  rt: undefined,
}

/** One of everything, at one moment. */
function everything(window: MetricWindow, now: number, rtMs = 20): void {
  window.addPassed(now)
  window.addBlocked(now)
  window.addSucceeded(now, rtMs)
  window.addFailed(now, rtMs + 10)
  window.addIgnored(now)
  window.addSlow(now)
}

describe('shape', () => {
  it('is ten buckets in ten seconds with percentiles unless told otherwise', () => {
    const { intervalMs, bucketCount, bucketMs, hasPercentiles } = new MetricWindow()
    expect({ intervalMs, bucketCount, bucketMs, hasPercentiles }).toEqual({
      intervalMs: 10_000,
      bucketCount: 10,
      bucketMs: 1000,
      hasPercentiles: true,
    })
    expect(tenths(false).hasPercentiles).toBe(false)
  })

  it.each([
    { intervalMs: 0 },
    { intervalMs: 1.5 },
    { intervalMs: 1000, bucketCount: 3 },
    { bucketCount: 0 },
    { bucketCount: Number.NaN },
  ])('%j is refused', (options) => {
    expect(() => new MetricWindow(options)).toThrow(RangeError)
  })
})

describe('counts', () => {
  it('go to their own column each', () => {
    const window = tenths()
    expect(window.read(0)).toStrictEqual(NOTHING)
    const adds = ['addPassed', 'addBlocked', 'addSucceeded', 'addFailed', 'addIgnored', 'addSlow'] as const
    adds.forEach((add, i) => {
      for (let n = 0; n <= i; n++) window[add](50, 8)
    })
    expect(window.read(50)).toStrictEqual({
      ...NOTHING,
      passed: 1,
      blocked: 2,
      succeeded: 3,
      failed: 4,
      ignored: 5,
      slow: 6,
      rt: { count: 7, mean: 8, min: 8, max: 8, p50: 8, p90: 8, p95: 8, p99: 8, p999: 8 },
    })
  })

  it('leave the window with their bucket, at its edge and not before', () => {
    const window = tenths()
    everything(window, 0)
    everything(window, 100)
    expect(window.read(999.875)).toMatchObject({ passed: 2, blocked: 2, succeeded: 2, failed: 2, ignored: 2, slow: 2 })
    expect(window.read(1000)).toMatchObject({ passed: 1, blocked: 1, succeeded: 1, failed: 1, ignored: 1, slow: 1 })
    expect(window.read(1000).rt?.count).toBe(2)
    expect(window.read(1100)).toStrictEqual(NOTHING)
  })

  it('are read without being changed, however far ahead or behind', () => {
    const window = tenths()
    everything(window, 500)
    const before = window.read(500)
    for (const now of [600, 5000, 1e15, -1e15]) window.read(now)
    expect(window.read(500)).toStrictEqual(before)
  })
})

describe('a bucket that is used again', () => {
  it('F19 has every counter cleared together: calls of every kind, then of one kind', () => {
    const window = tenths(false)
    for (let i = 0; i < 30; i++) everything(window, i * 100, 1000)
    expect(window.read(2900)).toMatchObject({ passed: 10, slow: 10, failed: 10, rt: { count: 20, max: 1010 } })
    for (let i = 30; i < 60; i++) {
      window.addPassed(i * 100)
      window.addSucceeded(i * 100, 1)
    }
    expect(window.read(5900)).toStrictEqual({
      ...NOTHING,
      passed: 10,
      succeeded: 10,
      rt: { count: 10, mean: 1, min: 1, max: 1 },
    })
  })

  it.each([1000, 1100, 9000, 2 ** 31, 2 ** 32, 2 ** 32 + 1000, 1e15])('is empty after a gap of %d ms', (gap) => {
    const window = tenths()
    for (let t = 0; t < 1000; t += 100) everything(window, t)
    expect(window.read(900 + gap)).toStrictEqual(NOTHING)
    window.addIgnored(900 + gap)
    expect(window.read(900 + gap)).toStrictEqual({ ...NOTHING, ignored: 1 })
  })
})

describe('a clock that steps back', () => {
  it('finds the bucket of then, if the ring still holds it', () => {
    const window = tenths()
    everything(window, 950)
    everything(window, 150)
    expect(window.read(950)).toMatchObject({ passed: 2, succeeded: 2 })
    expect(window.read(1100)).toMatchObject({ passed: 1, succeeded: 1 })
  })

  it('loses what is older than the bucket that has its slot', () => {
    const window = tenths()
    everything(window, 1050)
    everything(window, 50) // the same slot
    expect(window.read(1050)).toMatchObject({ passed: 1, succeeded: 1, rt: { count: 2 } })
  })

  it('sees later buckets as live, and goes on counting', () => {
    const window = tenths()
    everything(window, 950)
    everything(window, -250)
    expect(window.read(-250)).toMatchObject({ passed: 2 })
    expect(window.read(950)).toMatchObject({ passed: 1 })
  })

  it.each([-1e12, -1000, -50, -0.5, 0, 1.7e12, 2 ** 52])('may begin at %d', (start) => {
    const window = tenths()
    everything(window, start)
    expect(window.read(start)).toMatchObject({ passed: 1, rt: { count: 2, min: 20, max: 30, mean: 25 } })
  })
})

describe('response times', () => {
  it('are those of successes and failures, in doubles', () => {
    const window = tenths(false)
    window.addSucceeded(0, 0.125)
    window.addFailed(150, 2 ** 40)
    window.addSucceeded(250, 3.5)
    window.addIgnored(250)
    expect(window.read(250).rt).toStrictEqual({
      count: 3,
      mean: (2 ** 40 + 3.625) / 3,
      min: 0.125,
      max: 2 ** 40,
    })
  })

  it('keep min and max per bucket', () => {
    const window = tenths(false)
    window.addSucceeded(0, 500)
    window.addSucceeded(0, 1)
    window.addSucceeded(100, 20)
    expect(window.read(100).rt).toMatchObject({ min: 1, max: 500 })
    expect(window.read(1000).rt).toStrictEqual({ count: 1, mean: 20, min: 20, max: 20 })
  })

  it('that are negative are 0; that are none are left out, and the call counts all the same', () => {
    const window = tenths()
    window.addSucceeded(0, -3)
    expect(window.read(0).rt).toMatchObject({ count: 1, mean: 0, min: 0, max: 0, p999: 0 })
    window.addFailed(0, Number.NaN)
    window.addSucceeded(0, Number.POSITIVE_INFINITY)
    expect(window.read(0)).toMatchObject({ succeeded: 2, failed: 1, rt: { count: 1, mean: 0, max: 0 } })
    const other = tenths()
    other.addFailed(0, Number.NaN)
    expect(other.read(0)).toStrictEqual({ ...NOTHING, failed: 1 })
  })
})

describe('percentiles', () => {
  it('look back over this interval and the one before, but stay within the window', () => {
    const window = tenths()
    for (let i = 0; i < 99; i++) window.addSucceeded(0, 5000)
    window.addSucceeded(1950, 10)
    window.addSucceeded(1950, 12)
    expect(window.read(1950).rt).toStrictEqual({
      count: 2,
      mean: 11,
      min: 10,
      max: 12,
      p50: 12,
      p90: 12,
      p95: 12,
      p99: 12,
      p999: 12,
    })
    expect(window.read(2000).rt?.p50).toBeLessThan(12)
  })

  it('are there whenever the window has a response time', () => {
    const window = tenths()
    window.addSucceeded(0, 7)
    for (let now = 0; now < 1000; now += 50) expect(window.read(now).rt?.p50).toBe(7)
    expect(window.read(1000).rt).toBeUndefined()
    window.addSucceeded(1950, 8)
    for (let now = 1950; now < 2900; now += 50) expect(window.read(now).rt?.p50).toBe(8)
  })

  it('order themselves', () => {
    const window = new MetricWindow()
    for (let ms = 1; ms <= 1000; ms++) window.addSucceeded(ms, ms)
    const { p50, p90, p95, p99, p999 } = window.read(1000).rt ?? {}
    const expected = [500, 900, 950, 990, 999]
    ;[p50, p90, p95, p99, p999].forEach((value, i) => {
      const exact = expected[i] as number
      expect(Math.abs((value as number) - exact) / exact).toBeLessThanOrEqual(1 / 64)
    })
  })
})

it('cleared, it is as new', () => {
  const window = tenths()
  for (let t = 0; t < 1000; t += 100) everything(window, t)
  window.clear()
  expect(window.read(900)).toStrictEqual(NOTHING)
  everything(window, 900, 5)
  expect(window.read(900)).toMatchObject({ passed: 1, rt: { count: 2, max: 15, p999: 15 } })
})

it('weighs nothing until the first record, then at most 900 bytes, and 4.3 kB with percentiles', () => {
  const window = tenths()
  window.read(0)
  window.clear()
  expect(window.byteLength).toBe(0)
  window.addPassed(0)
  expect(window.byteLength).toBe(880)
  for (let now = 0; now < 50_000; now += 25) everything(window, now, now % 500)
  expect(window.byteLength).toBe(880 + 4232)
  const bare = tenths(false)
  for (let now = 0; now < 50_000; now += 25) everything(bare, now)
  expect(bare.byteLength).toBe(880)
})
