import { describe, expect, it } from 'vitest'
import { median, pairedRatio, quantile, spread } from '../../bench/support/stats.js'

describe('median', () => {
  it('is the middle reading, whatever their order', () => {
    expect(median([9, 1, 5])).toBe(5)
  })

  it('is the mean of the two in the middle of an even number', () => {
    expect(median([4, 1, 3, 2])).toBe(2.5)
  })

  it('leaves the readings as they were', () => {
    const readings = [3, 1, 2]
    median(readings)
    expect(readings).toEqual([3, 1, 2])
  })

  it('refuses to invent a number for no readings', () => {
    expect(() => median([])).toThrow(RangeError)
  })
})

describe('quantile', () => {
  it('interpolates between neighbours and reaches both ends', () => {
    expect(quantile([10, 20, 30, 40, 50], 0.25)).toBe(20)
    expect(quantile([10, 20], 0.25)).toBe(12.5)
    expect(quantile([10, 20, 30], 0)).toBe(10)
    expect(quantile([10, 20, 30], 1)).toBe(30)
  })
})

describe('pairedRatio', () => {
  it('is not moved by moments that slow both sides down', () => {
    expect(pairedRatio([10, 100, 10], [20, 200, 20])).toBe(2)
  })

  it('is not moved by one reading that was disturbed on one side', () => {
    expect(pairedRatio([10, 10, 10], [20, 900, 20])).toBe(2)
  })

  it('refuses sides that were not taken in pairs', () => {
    expect(() => pairedRatio([1], [1, 2])).toThrow(RangeError)
  })
})

describe('spread', () => {
  it('is the distance of the quartiles as a share of the median', () => {
    expect(spread([8, 9, 10, 11, 12])).toBeCloseTo(0.2)
    expect(spread([7, 7, 7])).toBe(0)
  })
})
