// The window of the last so many calls. Long schedules are left to the properties.
import { CountWindow } from 'leapguard'
import { describe, expect, it } from 'vitest'

const counts = ({ total, bad, slow, badAndSlow }: CountWindow): number[] => [total, bad, slow, badAndSlow]
const filled = (size: number, kinds: readonly number[]): CountWindow => {
  const window = new CountWindow(size)
  for (const kind of kinds) window.add(0, kind)
  return window
}

it('shows its size and refuses one that is none', () => {
  expect(new CountWindow(1).size).toBe(1)
  expect(new CountWindow(100_000).size).toBe(100_000)
  for (const size of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53]) {
    expect(() => new CountWindow(size)).toThrow(new RangeError(`size must be an integer >= 1, got ${size}`))
  }
})

it('nobody has written to reads zeros', () => {
  const window = new CountWindow(3)
  window.clear(0)
  expect([counts(window), window.totalAt(9), window.badAt(9), window.saved()]).toEqual([[0, 0, 0, 0], 0, 0, []])
})

it('counts each kind by its bits', () => {
  expect(counts(filled(10, [0, 1, 2, 3, 3]))).toEqual([5, 3, 3, 2])
})

it('forgets its oldest call for each new one once it is full, whatever the time', () => {
  const window = filled(3, [3, 1, 2])
  const seen = [counts(window)]
  for (const kind of [0, 1, 0, 0, 0]) {
    window.add(1e12, kind)
    seen.push(counts(window))
  }
  expect(seen).toEqual([
    [3, 2, 2, 1],
    [3, 1, 1, 0],
    [3, 1, 1, 0],
    [3, 1, 0, 0],
    [3, 1, 0, 0],
    [3, 0, 0, 0],
  ])
})

it('of one call knows the last', () => {
  const window = filled(1, [1, 0, 1])
  expect(counts(window)).toEqual([1, 1, 0, 0])
  window.add(0, 0)
  expect(counts(window)).toEqual([1, 0, 0, 0])
})

describe('several at once', () => {
  it('are the good ones, then the bad ones', () => {
    const window = new CountWindow(5)
    window.addMany(0, 4, 1)
    expect(window.saved()).toEqual([
      [0, 3],
      [1, 1],
    ])
    window.addMany(0, 3, 2)
    expect(window.saved()).toEqual([
      [0, 1],
      [1, 1],
      [0, 1],
      [1, 2],
    ])
  })

  it('may be more than it holds', () => {
    const window = filled(4, [0, 0])
    window.addMany(0, 1e9, 1e9 - 3)
    expect(window.saved()).toEqual([[1, 4]])
    window.addMany(0, 1e9, 1)
    expect(window.saved()).toEqual([
      [0, 3],
      [1, 1],
    ])
  })
})

it('emptied leaves nothing behind, wherever it stood', () => {
  for (let n = 0; n <= 7; n++) {
    const window = filled(3, new Array(n).fill(3))
    window.clear(0)
    expect([counts(window), window.saved()]).toEqual([[0, 0, 0, 0], []])
    for (const kind of [1, 0, 0]) window.add(0, kind)
    expect(counts(window)).toEqual([3, 1, 0, 0])
    window.add(0, 0)
    expect(counts(window)).toEqual([3, 0, 0, 0])
  }
})

describe('saving and restoring', () => {
  it('keeps every call in its place, so that the oldest goes first', () => {
    const window = filled(5, [3, 3, 0, 1, 1, 2, 0, 0])
    const saved = window.saved()
    expect(saved).toEqual([
      [1, 2],
      [2, 1],
      [0, 2],
    ])
    const restored = new CountWindow(5)
    restored.restore(JSON.parse(JSON.stringify(saved)), 0)
    for (let i = 0; i < 6; i++) {
      expect([counts(restored), restored.saved()]).toEqual([counts(window), window.saved()])
      window.add(0, i % 2)
      restored.add(0, i % 2)
    }
  })
})
