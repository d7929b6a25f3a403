// The guard and its clock: backward steps as configured, and nonsense that must not reach a call.
import { type Clock, isBlocked, PreciseClock } from 'leapguard'
import { describe, expect, it } from 'vitest'
import { rejection } from '../support/harness.js'
import { fail, HAIR, thrown, unhandledBy, watched } from './support.js'

/** A clock that shows whatever is put into it. */
class Showing implements Clock {
  shows: () => unknown = () => 0
  now(): number {
    return this.shows() as number
  }
  setTimer(): unknown {
    return undefined
  }
  clearTimer(): void {}
}

function shown(readings: unknown[], options = {}) {
  const clock = new Showing()
  clock.shows = () => readings[0]
  return { ...watched({ ...options, clock }), readings, clock }
}

describe('a clock that steps back', () => {
  const slow = { strategy: 'slow-call-ratio', threshold: 1, maxAllowedRtMs: 10, minRequestAmount: 9 } as const

  it('clamped, shows the latest reading until it has caught up', () => {
    const setup = shown([1000])
    const { guard, readings } = setup
    guard.setRulesFor('r', { degrade: [HAIR] })
    fail(guard)
    readings[0] = 400
    expect(guard.stats('r').rules[0]).toMatchObject({ openedAt: 1000, retryAfterMs: 1000 })
    readings[0] = 1300
    expect(guard.stats('r').rules[0]?.retryAfterMs).toBe(700)
  })

  it('refused, refuses calls until it has caught up, and lets those in flight end', async () => {
    const { guard, readings } = shown([1000], { onClockBack: 'refuse' })
    guard.setRulesFor('r', { degrade: [slow] })
    const handle = guard.enter('r')
    readings[0] = 999
    const refusal = await rejection(guard.entry('r', () => 1))
    expect(refusal).toMatchObject({
      code: 'ERR_BLOCKED_CLOCK',
      kind: 'clock',
      rule: undefined,
      retryAfterMs: undefined,
      message: 'resource "r" is blocked (a clock that stepped back)',
    })
    expect([isBlocked(refusal), guard.tryEnter('r')]).toEqual([true, -3])
    handle.exit()
    expect(guard.stats('r')).toMatchObject({
      totals: { passed: 1, blocked: 2, succeeded: 1, slow: 0, running: 0 },
      rules: [{ total: 1, bad: 0 }],
    })
    expect(guard.tryEnter('r')).toBe(-3)
    readings[0] = 1000
    guard.enter('r').exit()
  })

  it('refused, is not held against a call that comes when it has caught up, whatever was read meanwhile', () => {
    const { guard, readings } = shown([1000], { onClockBack: 'refuse' })
    const handle = guard.enter('r')
    readings[0] = 10
    guard.stats('r')
    handle.exit()
    guard.reset('r')
    guard.loadRules({})
    readings[0] = 1001
    guard.enter('r').exit()
    expect(guard.stats('r').totals.blocked).toBe(0)
  })

  it('raw, is believed: a call across the step lasted a negative time and is not slow', () => {
    const { guard, readings } = shown([1000], { onClockBack: 'raw' })
    guard.setRulesFor('r', { degrade: [{ ...slow, countRunning: false }, HAIR] })
    const handle = guard.enter('r')
    readings[0] = 200
    handle.exit({ error: 1 })
    expect(guard.stats('r')).toMatchObject({
      totals: { slow: 0 },
      rules: [
        { total: 1, bad: 0 },
        { openedAt: 200, retryAfterMs: 1000 },
      ],
    })
  })
})

describe('a clock that shows nonsense', () => {
  it.each([
    ['NaN', Number.NaN],
    ['Infinity', Number.POSITIVE_INFINITY],
    ['-Infinity', Number.NEGATIVE_INFINITY],
    ['a number beyond all integers', 2 ** 60],
    ['a number below all integers', -(2 ** 60)],
    ['undefined', undefined],
    ['null', null],
    ['a bigint', 5000n],
    ['a date', new Date(5000)],
    ['text', '5000'],
    ['an object', {}],
    ['true', true],
  ])('%s is told once, the last good reading holds, and calls run', async (_what, nonsense) => {
    const { guard, readings, told } = shown([1000])
    guard.setRulesFor('r', { degrade: [HAIR] })
    fail(guard)
    readings[0] = nonsense
    expect(await rejection(guard.entry('r', () => 1))).toMatchObject({ retryAfterMs: 1000 })
    expect(await guard.entry('other', () => 'value')).toBe('value')
    expect(guard.entrySync('other', () => 'value')).toBe('value')
    expect(guard.stats('r').rules[0]).toMatchObject({ openedAt: 1000, retryAfterMs: 1000 })
    readings[0] = 1500
    expect(guard.stats('r').rules[0]?.retryAfterMs).toBe(500)
    expect(told()).toEqual([['LEAPGUARD_CLOCK', 'clock']])
  })

  it.each([
    ['NaN', Number.NaN],
    ['-Infinity', Number.NEGATIVE_INFINITY],
    ['a number below all integers', -(2 ** 60)],
    ['null', null],
    ['a bigint', 5000n],
    ['a date', new Date(5000)],
    ['text', '5000'],
  ])('%s from the start counts as 0, told once', (_what, nonsense) => {
    const { guard, told } = shown([nonsense])
    guard.setRulesFor('r', { degrade: [HAIR] })
    fail(guard)
    expect(guard.stats('r').rules[0]).toMatchObject({ state: 'open', openedAt: 0, retryAfterMs: 1000 })
    expect(told()).toEqual([['LEAPGUARD_CLOCK', 'clock']])
  })
})

it('a clock that answers by a promise has not answered, and its rejection ends no process', async () => {
  const { guard, readings, told } = shown([1000])
  const act = () => {
    readings[0] = Promise.reject(new Error('no time'))
    return guard.entry('r', () => 1)
  }
  expect(await unhandledBy(act)).toEqual([])
  expect(told()).toEqual([['LEAPGUARD_CLOCK', 'clock']])
})

describe('a clock that throws', () => {
  it('is told once, the last good reading holds, and calls run', async () => {
    const fault = new Error('no time')
    const { guard, clock, faults, told } = shown([1000])
    guard.setRulesFor('r', { degrade: [HAIR] })
    fail(guard)
    clock.shows = () => {
      throw fault
    }
    expect(thrown(() => guard.enter('r'))).toMatchObject({ retryAfterMs: 1000 })
    for (let i = 0; i < 3; i++) expect(await guard.entry('other', () => i)).toBe(i)
    expect(told()).toEqual([['LEAPGUARD_CLOCK', 'clock']])
    expect(faults[0]?.error).toBe(fault)
  })

  it('while a call runs does not keep its result from it', async () => {
    const { guard, clock } = shown([1000])
    expect(
      await guard.entry('r', () => {
        clock.shows = () => {
          throw new Error('no time')
        }
        return 'value'
      }),
    ).toBe('value')
    expect(guard.stats('r').totals).toMatchObject({ succeeded: 1, running: 0 })
  })

  it('is caught too if it is made from the precise clock', async () => {
    class Faulty extends PreciseClock {
      override now(): number {
        throw new Error('no time')
      }
    }
    const { guard, told } = watched({ clock: new Faulty() })
    expect(await guard.entry('r', () => 'value')).toBe('value')
    expect(told()).toEqual([['LEAPGUARD_CLOCK', 'clock']])
  })

  it('by a value that says nothing is told all the same', () => {
    const { guard, clock, told } = shown([1000])
    clock.shows = () => {
      throw undefined
    }
    guard.enter('r').exit()
    expect(told()).toEqual([['LEAPGUARD_CLOCK', 'clock']])
  })
})

it('a clock that uses this, and one that makes calls of its own, are served', () => {
  const { guard } = watched({
    clock: {
      reads: 0,
      now() {
        this.reads++
        return this.reads * 10
      },
      setTimer: () => undefined,
      clearTimer: () => {},
    } as Clock & { reads: number },
  })
  guard.setRulesFor('r', { degrade: [HAIR] })
  fail(guard)
  expect(guard.stats('r').rules[0]?.openedAt).toBeGreaterThan(0)
})
