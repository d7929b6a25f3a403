// Which calls pass at which share, and when the share grows.
import { describe, expect, it } from 'vitest'
import { isLetIn, nextStepMs, tenthsAt } from '../../rules/recovery.js'

const ten = Array.from({ length: 10 }, (_, i) => i)
const letIn = (tenths: number, from = 0): number[] => ten.map((i) => from + i).filter((n) => isLetIn(n, tenths))

describe('a share of so many tenths', () => {
  it.each([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])('lets exactly %d of any ten calls in a row pass', (tenths) => {
    for (const from of [0, 1, 7, 2 ** 31 - 5, 2 ** 32 - 5, 2 ** 53 - 20])
      expect(letIn(tenths, from)).toHaveLength(tenths)
  })

  it('lets pass what every smaller share lets pass', () => {
    for (let tenths = 2; tenths <= 10; tenths++)
      expect(letIn(tenths)).toEqual(expect.arrayContaining(letIn(tenths - 1)))
  })

  it.each([
    [1, 10],
    [2, 5],
    [3, 5],
    [4, 3],
    [5, 3],
    [6, 2],
    [7, 2],
    [8, 2],
    [9, 2],
    [10, 1],
  ])('of %d spreads them: no two lie more than %d apart', (tenths, most) => {
    const passing = [...letIn(tenths), ...letIn(tenths, 10)]
    expect(Math.max(...passing.slice(1).map((n, i) => n - (passing[i] as number)))).toBe(most)
  })
})

describe('the share', () => {
  it.each([10, 1000, 7, 1, 2 ** 30])('grows by a tenth at each tenth of %d ms, at that very moment', (recoveryMs) => {
    for (let step = 0; step < 10; step++) {
      const at = (step * recoveryMs) / 10
      expect(tenthsAt(at, recoveryMs), `at ${at}`).toBe(step + 1)
      if (step > 0) expect(tenthsAt(at - recoveryMs / 1000, recoveryMs), `before ${at}`).toBe(step)
      expect(nextStepMs(step + 1, recoveryMs)).toBe(((step + 1) * recoveryMs) / 10)
    }
    expect([recoveryMs, recoveryMs + 1, 1e15].map((elapsed) => tenthsAt(elapsed, recoveryMs))).toEqual([10, 10, 10])
  })

  it('is never beyond its bounds, whatever the clock does', () => {
    expect([-1, -1e15].map((elapsed) => tenthsAt(elapsed, 1000))).toEqual([1, 1])
    expect([-1, 0, 1].map((elapsed) => tenthsAt(elapsed, 0))).toEqual([10, 10, 10])
    expect(tenthsAt(3 - 2 ** -51, 3)).toBe(10)
  })
})
