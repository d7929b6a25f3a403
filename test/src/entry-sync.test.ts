// entrySync: the value or the error, at once.
import { isBlocked } from 'leapguard'
import { describe, expect, it } from 'vitest'
import { flush } from '../support/scenario.js'
import { HAIR, INVALID, thrown, unhandledBy, watched } from './support.js'

it('returns the value and throws the error, the same object', () => {
  const { guard } = watched()
  const value = {}
  const error = new Error('no')
  expect(guard.entrySync('r', () => value)).toBe(value)
  expect(
    thrown(() =>
      guard.entrySync('r', () => {
        throw error
      }),
    ),
  ).toBe(error)
  expect(guard.stats('r').totals).toMatchObject({ passed: 2, succeeded: 1, failed: 1, running: 0 })
})

it('throws a refusal without calling the function', () => {
  const { guard } = watched()
  guard.setRulesFor('r', { degrade: [HAIR] })
  const broken = () => {
    throw new Error('no')
  }
  thrown(() => guard.entrySync('r', broken))
  let ran = false
  const error = thrown(() =>
    guard.entrySync('r', () => {
      ran = true
    }),
  )
  expect([isBlocked(error), ran]).toEqual([true, false])
})

describe('a function that returns a promise', () => {
  it.each([
    ['without options', undefined],
    ['with options', {}],
  ])('is refused as ignored, and its rejection is handled (%s)', async (_what, options) => {
    const { guard } = watched()
    guard.setRulesFor('r', { degrade: [HAIR] })
    const seen = await unhandledBy(async () => {
      const error = thrown(() =>
        // @ts-expect-error a promise is no synchronous result
        guard.entrySync('r', async () => Promise.reject(new Error('later')), options),
      )
      expect(error).toBeInstanceOf(TypeError)
      expect(error).toMatchObject({ code: 'ERR_SYNC_PROMISE', message: expect.stringContaining('"r"') })
      await flush()
    })
    expect(seen).toEqual([])
    expect(guard.stats('r')).toMatchObject({
      totals: { passed: 1, ignored: 1, failed: 0, succeeded: 0, running: 0 },
      rules: [{ state: 'closed', total: 0 }],
    })
  })

  it('gives a probe back without a verdict', () => {
    const { guard, clock } = watched()
    guard.setRulesFor('r', { degrade: [HAIR] })
    guard.enter('r').exit({ error: 1 })
    clock.set(1000)
    thrown(() =>
      guard.entrySync(
        'r',
        // @ts-expect-error a promise is no synchronous result
        () => Promise.resolve(1),
      ),
    )
    expect(guard.stats('r').rules[0]).toMatchObject({ state: 'half-open', probesOut: 0 })
    expect(guard.entrySync('r', () => 'ok')).toBe('ok')
    expect(guard.stats('r').rules[0]?.state).toBe('closed')
  })
})

it.each(['', undefined, null, 7])('throws for the name %s', (name) => {
  const { guard } = watched()
  expect(() =>
    guard.entrySync(
      // @ts-expect-error a name is text that is not empty
      name,
      () => 1,
    ),
  ).toThrow(expect.objectContaining(INVALID))
})

it.each([undefined, null, 'fn', {}])('throws for %s in place of a function', (fn) => {
  const { guard } = watched()
  // @ts-expect-error only functions are called
  expect(() => guard.entrySync('r', fn)).toThrow(expect.objectContaining(INVALID))
  expect(guard.stats('r').totals.passed).toBe(0)
})

it('nests without mixing results, names or outcomes', () => {
  const { guard } = watched()
  const result = guard.entrySync('outer', (outer) =>
    guard.entrySync('inner', (inner) => `${outer.resource} > ${inner.resource}`),
  )
  expect(result).toBe('outer > inner')
  for (const name of ['outer', 'inner']) expect(guard.stats(name).totals).toMatchObject({ succeeded: 1, running: 0 })
})
