// From a time to a bucket number, at the edges where rounding could betray.
import { describe, expect, it } from 'vitest'
import { bucketLength, bucketNumber, slotOf } from '../../windows/bucket-time.js'

describe('the number of a bucket', () => {
  it.each([
    [0, 100, 0],
    [99.999, 100, 0],
    [100, 100, 1],
    [-1, 100, -1],
    [-100, 100, -1],
    [-100.5, 100, -2],
    [1_700_000_000_710, 200, 8_500_000_003],
    [2 ** 53 - 1, 1, 2 ** 53 - 1],
  ])('covers %d in buckets of %d ms with bucket %d', (t, bucketMs, number) => {
    expect(bucketNumber(t, bucketMs)).toBe(number)
  })

  it('is the one before where a division would round a time up to the edge', () => {
    expect(-Number.MIN_VALUE / 3).toBe(-0)
    expect(bucketNumber(-Number.MIN_VALUE, 3)).toBe(-1)
  })
})

describe('the slot of a bucket', () => {
  it('goes round the ring in both directions', () => {
    expect([-4, -3, -2, -1, 0, 1, 2, 3].map((n) => slotOf(n, 3) + 0)).toEqual([2, 0, 1, 2, 0, 1, 2, 0])
  })

  it('is exact for buckets counted in milliseconds since the epoch', () => {
    expect(slotOf(1_700_000_000_711, 10)).toBe(1)
    expect(slotOf(2 ** 53 - 1, 2 ** 20)).toBe(2 ** 20 - 1)
  })
})

describe('the length of a bucket', () => {
  it('is the interval divided by the number of buckets', () => {
    expect(bucketLength(1000, 5)).toBe(200)
    expect(bucketLength(1, 1)).toBe(1)
    expect(bucketLength(2 ** 30, 2 ** 30)).toBe(1)
  })

  it.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])('refuses an interval of %d', (intervalMs) => {
    expect(() => bucketLength(intervalMs, 1)).toThrow(RangeError)
    expect(() => bucketLength(intervalMs, 1)).toThrow(String(intervalMs))
  })

  it.each([0, -1, 1.5, 3, 2000, Number.NaN, Number.POSITIVE_INFINITY])('refuses %d buckets over 1000 ms', (buckets) => {
    expect(() => bucketLength(1000, buckets)).toThrow(RangeError)
    expect(() => bucketLength(1000, buckets)).toThrow(String(buckets))
  })
})
