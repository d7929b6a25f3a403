// How a value is shown in a message: short, and never throwing, whatever it is.
import { describe, expect, it } from 'vitest'
import { isPlainObject, show } from '../../rules/index.js'

describe('show', () => {
  it.each([
    ['text', '"text"'],
    ['a "quoted"\nline', '"a \\"quoted\\"\\nline"'],
    ['x'.repeat(60), `"${'x'.repeat(60)}"`],
    ['x'.repeat(61), `"${'x'.repeat(60)}..."`],
    [1.5, '1.5'],
    [Number.NaN, 'NaN'],
    [12n, '12n'],
    [true, 'true'],
    [null, 'null'],
    [undefined, 'undefined'],
    [Symbol('s'), 'Symbol(s)'],
    [() => 1, 'a function'],
    [[1, 2], 'an array'],
    [{}, 'an object'],
    [Object.create(null), 'an object'],
    [new Date(0), 'an object'],
  ])('writes %o as %s', (value, text) => {
    expect(show(value)).toBe(text)
  })

  it.each([
    ['a long text', 'x'.repeat(1e6)],
    ['a large bigint', 10n ** 1000n],
    ['a symbol with a long description', Symbol('x'.repeat(1e6))],
    ['a long list', new Array(1e6)],
  ])('is short for %s', (_what, value) => {
    expect(show(value).length).toBeLessThan(100)
  })

  it('does not throw for an object that answers nothing', () => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    expect(() => show(proxy)).not.toThrow()
  })
})

it.each([
  [{}, true],
  [Object.create(null), true],
  [[], false],
  [null, false],
  [undefined, false],
  ['text', false],
  [() => 1, false],
])('%o as a rule object: %s', (value, is) => {
  expect(isPlainObject(value)).toBe(is)
})
