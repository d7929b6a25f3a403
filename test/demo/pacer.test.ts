import { describe, expect, it } from 'vitest'
import { Pacer } from '../../docs/demo/pacer.js'
import { percentile } from '../../docs/demo/percentile.js'

describe('Pacer', () => {
  it('gives the whole pace over a second, however uneven the ticks', () => {
    const pacer = new Pacer(300, 0)
    let calls = 0
    for (const at of [1, 5, 6, 30, 31, 100, 110, 180, 260, 333, 400, 480, 560, 640, 720, 800, 880, 960, 1000])
      calls += pacer.due(at)
    expect(calls).toBe(300)
  })

  it('catches up with a late tick in one burst of a tenth of a second, and forgets the rest of a stall', () => {
    const pacer = new Pacer(300, 0)
    expect(pacer.due(90)).toBe(27)
    expect(pacer.due(5000)).toBe(30)
    expect(pacer.due(5010)).toBe(3)
  })

  it('owes nothing while the clock stands still', () => {
    const pacer = new Pacer(300, 1000)
    expect(pacer.due(1000)).toBe(0)
    expect(pacer.due(1010)).toBe(3)
    expect(pacer.due(1010)).toBe(0)
  })

  it('makes slow paces out of whole calls', () => {
    const pacer = new Pacer(5, 0)
    expect([100, 200, 300, 400, 500].map((at) => pacer.due(at))).toEqual([0, 1, 0, 1, 0])
  })
})

describe('percentile', () => {
  it('is the nearest rank', () => {
    const values = Array.from({ length: 200 }, (_, i) => 200 - i)
    expect(percentile(values, 0.99)).toBe(198)
    expect(percentile(values, 0.5)).toBe(100)
    expect(percentile(values, 1)).toBe(200)
  })

  it('is the only value of one, and nothing of none', () => {
    expect(percentile([7], 0.99)).toBe(7)
    expect(percentile([], 0.99)).toBeUndefined()
  })

  it('sorts by number and leaves its input alone', () => {
    const values = [100, 9, 20]
    expect(percentile(values, 0.5)).toBe(20)
    expect(values).toEqual([100, 9, 20])
  })
})
