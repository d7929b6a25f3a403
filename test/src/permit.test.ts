// Permit numbers: what tryEnter gives out and leave takes, garbage included.
import { BlockCode } from 'leapguard'
import { describe, expect, it } from 'vitest'
import { deferred } from '../support/scenario.js'
import { fail, HAIR, INVALID, watched } from './support.js'

it.each(['', undefined, null, 7])('tryEnter throws for the name %s', (name) => {
  const { guard } = watched()
  // @ts-expect-error a name is text that is not empty
  expect(() => guard.tryEnter(name)).toThrow(expect.objectContaining(INVALID))
})

it('numbers are integers >= 0, different for calls in flight together', () => {
  const { guard } = watched()
  const numbers = Array.from({ length: 300 }, (_, i) => guard.tryEnter(i % 2 === 0 ? 'a' : 'b'))
  expect(new Set(numbers).size).toBe(300)
  expect(numbers.every((number) => Number.isSafeInteger(number) && number >= 0)).toBe(true)
  for (const number of numbers) guard.leave(number)
  expect([guard.stats('a').totals.running, guard.stats('b').totals.running]).toEqual([0, 0])
})

it('refusals are negated block codes, one for each cause', () => {
  const { guard, clock } = watched({ onClockBack: 'refuse' })
  guard.configure('custom', { rules: [{ check: () => 5 }] })
  guard.configure('wait', { rules: [{ check: () => -50 }] })
  guard.setRulesFor('degrade', { degrade: [HAIR] })
  guard.forceOpen('forced')
  fail(guard, 'degrade')
  const names = ['degrade', 'forced', 'custom', 'wait']
  expect(names.map((name) => guard.tryEnter(name))).toEqual([
    -BlockCode.DEGRADE,
    -BlockCode.DEGRADE,
    -BlockCode.CUSTOM,
    -BlockCode.CUSTOM,
  ])
  guard.tryEnter('free')
  clock.set(-1)
  expect(guard.tryEnter('free')).toBe(-BlockCode.CLOCK)
  expect(BlockCode).toEqual({ DEGRADE: 1, CUSTOM: 2, CLOCK: 3 })
})

describe('leave', () => {
  it.each([
    ['success', 'succeeded'],
    ['failure', 'failed'],
    ['ignored', 'ignored'],
  ] as const)('with %s counts as %s, once', (outcome, counted) => {
    const { guard } = watched()
    const permit = guard.tryEnter('r')
    guard.leave(permit, outcome)
    guard.leave(permit, 'failure')
    guard.leave(permit)
    expect(guard.stats('r').totals).toMatchObject({ succeeded: 0, failed: 0, ignored: 0, [counted]: 1, running: 0 })
  })

  it.each(['Success', 'ok', '', 0, null, {}, Symbol('success'), '__proto__', 'toString'])(
    'refuses the outcome %s and ends nothing',
    (outcome) => {
      const { guard } = watched()
      const permit = guard.tryEnter('r')
      // @ts-expect-error there is no such outcome
      expect(() => guard.leave(permit, outcome)).toThrow(expect.objectContaining(INVALID))
      expect(guard.stats('r').totals.running).toBe(1)
    },
  )

  it.each([
    ['a refusal', (_: number) => -1],
    ['minus zero off', (_: number) => -0.5],
    ['NaN', (_: number) => Number.NaN],
    ['Infinity', (_: number) => Number.POSITIVE_INFINITY],
    ['a number never given', (n: number) => n + 1],
    ['a slot never used', (n: number) => n + 2 ** 20],
    ['beyond all integers', (_: number) => 2 ** 60],
    ['a fraction of a permit', (n: number) => n + 0.5],
    ['undefined', (_: number) => undefined],
    ['null', (_: number) => null],
    ['the number as text', (n: number) => String(n)],
    ['the number as a bigint', (n: number) => BigInt(n)],
    ['an object', (_: number) => ({})],
  ])('with %s does nothing', (_what, garbage) => {
    const { guard } = watched()
    for (let i = 0; i < 3; i++) guard.leave(guard.tryEnter('r'))
    const permit = guard.tryEnter('r')
    // @ts-expect-error garbage comes in all types
    const leave = () => guard.leave(garbage(permit))
    expect(leave).not.toThrow()
    expect(guard.stats('r').totals).toMatchObject({ succeeded: 3, running: 1 })
    guard.leave(permit)
    expect(guard.stats('r').totals).toMatchObject({ succeeded: 4, running: 0 })
  })

  it('with a number that tryEnter did not give out ends nobody’s promise', async () => {
    const { guard } = watched()
    const work = deferred<string>()
    const promise = guard.entry('r', () => work.promise)
    for (let number = 0; number < 3; number++) guard.leave(number, 'failure')
    expect(guard.stats('r').totals).toMatchObject({ failed: 0, running: 1 })
    work.resolve('value')
    expect(await promise).toBe('value')
    expect(guard.stats('r').totals).toMatchObject({ passed: 1, succeeded: 1, failed: 0, running: 0 })
    expect(guard.tryEnter('r')).not.toBe(guard.tryEnter('r'))
  })

  it('a second time is harmless, however many calls later', () => {
    const { guard } = watched()
    const permit = guard.tryEnter('r')
    guard.leave(permit)
    for (let i = 1; i <= 10_000; i++) {
      const other = guard.tryEnter('r')
      guard.leave(permit, 'failure')
      if (guard.stats('r').totals.failed !== 0) throw new Error(`ended the call of another, ${i} calls later`)
      guard.leave(other)
    }
    expect(guard.stats('r').totals).toMatchObject({ succeeded: 10_001, running: 0 })
  })

  it('of a call that its signal has ended does nothing', () => {
    const { guard } = watched()
    const controller = new AbortController()
    const permit = guard.tryEnter('r', { signal: controller.signal })
    controller.abort()
    guard.leave(permit, 'failure')
    expect(guard.stats('r').totals).toMatchObject({ ignored: 1, failed: 0, running: 0 })
  })

  it('takes back far more permits than the pool keeps, each number good for one call', () => {
    const { guard } = watched()
    const seen = new Set<number>()
    for (let round = 0; round < 3; round++) {
      const burst = Array.from({ length: 5000 }, () => guard.tryEnter('r'))
      for (const number of burst) {
        seen.add(number)
        guard.leave(number)
        guard.leave(number, 'failure')
      }
    }
    expect(seen.size).toBe(15_000)
    expect(guard.stats('r').totals).toMatchObject({ passed: 15_000, succeeded: 15_000, failed: 0, running: 0 })
  })
})

it('numbers of one guard mean nothing to another', () => {
  const [a, b] = [watched().guard, watched().guard]
  const permit = a.tryEnter('r')
  b.leave(permit)
  expect(a.stats('r').totals.running).toBe(1)
})

it('args and origin reach rules through the permit and do not outlive the call', () => {
  const { guard } = watched()
  const seen: unknown[] = []
  guard.configure('r', {
    rules: [{ check: () => 0, take: (_now, { args, origin, resource }) => seen.push([args, origin, resource]) }],
  })
  const args = [1, 'two']
  guard.leave(guard.tryEnter('r', { args, origin: 'web' }))
  guard.leave(guard.tryEnter('r'))
  expect(seen).toEqual([
    [args, 'web', 'r'],
    [undefined, undefined, 'r'],
  ])
})
