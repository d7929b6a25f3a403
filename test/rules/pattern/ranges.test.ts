// Sets of characters as sorted ranges: made tidy, turned over, asked.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { complement, holds, LAST_CODE_POINT, tidy } from '../../../rules/pattern/ast.js'

const CODES = Array.from({ length: 40 }, (_, code) => code)
const range = fc.tuple(fc.nat(39), fc.nat(9)).map(([first, more]) => [first, Math.min(39, first + more)])

it('hold what was put in, and their complement the rest', () => {
  fc.assert(
    fc.property(fc.array(range, { maxLength: 8 }), (list) => {
      const ranges = tidy(list.flat())
      const members = CODES.filter((code) => list.some(([first = 0, last = 0]) => code >= first && code <= last))
      expect(CODES.filter((code) => holds(ranges, code))).toEqual(members)
      expect(CODES.filter((code) => !holds(complement(ranges), code))).toEqual(members)
      expect(holds(complement(ranges), LAST_CODE_POINT)).toBe(true)
      expect(complement(complement(ranges))).toEqual(ranges)
    }),
  )
})

it('hold nothing at the end of a name', () => {
  expect([holds([], 0), holds([0, LAST_CODE_POINT], -1)]).toEqual([false, false])
})

it('are asked by halving: a class of a thousand ranges takes about ten looks, not a thousand', () => {
  const ranges = Array.from({ length: 1024 }, (_, i) => [3 * i, 3 * i + 1]).flat()
  let looks = 0
  const watched = new Proxy(ranges, {
    get(target, key) {
      if (key !== 'length') looks++
      return Reflect.get(target, key)
    },
  })
  for (const [code, expected] of [
    [0, true],
    [1534, true],
    [1535, false],
    [3070, true],
    [3071, false],
    [-1, false],
  ] as const) {
    looks = 0
    expect([code, holds(watched, code)]).toEqual([code, expected])
    expect(looks).toBeLessThanOrEqual(2 * 11)
  }
})
