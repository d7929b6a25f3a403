// Which of several refusals a caller hears, and who may not import whom to decide it.
import { describe, expect, it } from 'vitest'
import { outranks, UNKNOWN_WAIT } from '../../rules/index.js'
import { FAMILY_ORDER } from '../../rules/order.js'

it('the families are asked in the order of the design', () => {
  expect(FAMILY_ORDER).toEqual(['degrade', 'custom'])
})

describe('a later refusal', () => {
  it.each([
    [1000, 999, true],
    [1000, 1000, false],
    [999, 1000, false],
    [0, UNKNOWN_WAIT, true],
    [UNKNOWN_WAIT, UNKNOWN_WAIT, false],
    [UNKNOWN_WAIT, 0, false],
    [Number.POSITIVE_INFINITY, 2 ** 30, true],
  ])('of %d ms against %d ms replaces the earlier one: %s', (wait, best, replaces) => {
    expect(outranks(wait, best)).toBe(replaces)
  })
})
