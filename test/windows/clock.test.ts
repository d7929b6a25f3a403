// The clock of the process, and the one that a test moves by hand.
import { type Clock, PreciseClock } from 'leapguard'
import { ManualClock } from 'leapguard/testing'
import { describe, expect, it } from 'vitest'

describe('the precise clock', () => {
  it('is anchored to the epoch when it is made', () => {
    const wall = Date.now() // real time: the anchor is what is tested
    const now = new PreciseClock().now()
    expect(now).toBeGreaterThan(wall - 5)
    expect(now).toBeLessThan(wall + 5000)
  })

  it('never goes back and tells moments apart within a millisecond', () => {
    const clock = new PreciseClock()
    const readings = Array.from({ length: 2000 }, () => clock.now())
    for (const [i, reading] of readings.entries()) expect(reading).toBeGreaterThanOrEqual(readings[i - 1] ?? 0)
    expect(readings.some((reading) => !Number.isInteger(reading))).toBe(true)
    expect(new Set(readings.map(Math.floor)).size).toBeLessThan(new Set(readings).size)
  })

  it('tells a moment the same time as its caller', () => {
    const clock = new PreciseClock()
    const moment = { now: 0 }
    const before = clock.now()
    clock.tick(moment)
    expect(moment.now).toBeGreaterThanOrEqual(before)
    expect(moment.now).toBeLessThanOrEqual(clock.now())
  })

  it('runs a timer that is left alone and not one that is cleared', async () => {
    const clock: Clock = new PreciseClock()
    const ran: string[] = []
    clock.clearTimer(clock.setTimer(() => ran.push('cleared'), 0))
    await new Promise<void>((resolve) => {
      clock.setTimer(() => {
        ran.push('left alone')
        resolve()
      }, 1) // real time: the timers of the process are what is tested
    })
    expect(ran).toEqual(['left alone'])
  })
})

describe('the manual clock', () => {
  it('stands still until told', () => {
    const clock = new ManualClock()
    expect(clock.now()).toBe(0)
    expect(clock.now()).toBe(0)
    clock.advance(0.25)
    expect(clock.now()).toBe(0.25)
    clock.set(1_700_000_000_000)
    expect(clock.now()).toBe(1_700_000_000_000)
    clock.set(-5)
    expect(clock.now()).toBe(-5)
    expect(new ManualClock(-7.5).now()).toBe(-7.5)
  })

  it('runs timers in order of due time, each at its own instant', () => {
    const clock = new ManualClock(100)
    const ran: [string, number][] = []
    const note = (name: string) => () => ran.push([name, clock.now()])
    clock.setTimer(note('c'), 30)
    clock.setTimer(note('a'), 10)
    clock.setTimer(note('b'), 20)
    clock.setTimer(note('far'), 1000)
    clock.advance(30)
    expect(ran).toEqual([
      ['a', 110],
      ['b', 120],
      ['c', 130],
    ])
    expect(clock.now()).toBe(130)
    expect(clock.pendingTimers).toBe(1)
  })

  it('runs timers that are due together in the order in which they were set', () => {
    const clock = new ManualClock()
    const ran: string[] = []
    clock.setTimer(() => ran.push('first'), 10)
    clock.advance(5)
    clock.setTimer(() => ran.push('second'), 5)
    clock.setTimer(() => ran.push('third'), 5)
    clock.advance(5)
    expect(ran).toEqual(['first', 'second', 'third'])
  })

  it('lets timers that are set meanwhile take part', () => {
    const clock = new ManualClock()
    const ran: [string, number][] = []
    clock.setTimer(() => {
      ran.push(['outer', clock.now()])
      clock.setTimer(() => ran.push(['within', clock.now()]), 5)
      clock.setTimer(() => ran.push(['at once', clock.now()]), 0)
      clock.setTimer(() => ran.push(['beyond', clock.now()]), 50)
    }, 10)
    clock.setTimer(() => ran.push(['between', clock.now()]), 12)
    clock.advance(20)
    expect(ran).toEqual([
      ['outer', 10],
      ['at once', 10],
      ['between', 12],
      ['within', 15],
    ])
    expect([clock.now(), clock.pendingTimers]).toEqual([20, 1])
    clock.advance(40)
    expect(ran.at(-1)).toEqual(['beyond', 60])
  })

  it('runs a timer with a negative or no delay only when time is told to pass', () => {
    const clock = new ManualClock(50)
    let ran = 0
    clock.setTimer(() => ran++, -10)
    clock.setTimer(() => ran++, 0)
    expect(ran).toBe(0)
    clock.advance(0)
    expect([ran, clock.now()]).toEqual([2, 50])
  })

  it('runs no timer on the way back, and keeps those that are still to come', () => {
    const clock = new ManualClock(1000)
    const ran: number[] = []
    clock.setTimer(() => ran.push(clock.now()), 100)
    clock.set(0)
    expect([ran, clock.pendingTimers]).toEqual([[], 1])
    clock.set(1099)
    expect(ran).toEqual([])
    clock.set(1100)
    expect(ran).toEqual([1100])
  })

  it('forgets a cleared timer, even if another timer clears it, and takes unknown ones calmly', () => {
    const clock = new ManualClock()
    let ran = 0
    const second = clock.setTimer(() => ran++, 10)
    clock.setTimer(() => clock.clearTimer(second), 5)
    clock.clearTimer(undefined)
    clock.clearTimer({})
    expect(clock.pendingTimers).toBe(2)
    clock.advance(20)
    clock.clearTimer(second)
    expect([ran, clock.pendingTimers]).toEqual([0, 0])
  })

  it('stops at the instant of a timer that throws, and goes on when told again', () => {
    const clock = new ManualClock()
    let ran = 0
    clock.setTimer(() => {
      throw new Error('in a timer')
    }, 10)
    clock.setTimer(() => ran++, 20)
    expect(() => clock.advance(30)).toThrow('in a timer')
    expect([clock.now(), ran, clock.pendingTimers]).toEqual([10, 0, 1])
    clock.set(30)
    expect([clock.now(), ran]).toEqual([30, 1])
  })

  it.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])('refuses to stand at %d', (ms) => {
    const clock = new ManualClock(5)
    for (const [name, act] of [
      ['startMs', () => new ManualClock(ms)],
      ['ms', () => clock.set(ms)],
      ['ms', () => clock.advance(ms)],
    ] as const) {
      expect(act).toThrow(RangeError)
      expect(act).toThrow(`ManualClock: ${name} must be a finite number, got ${ms}`)
    }
    expect(clock.now()).toBe(5)
  })

  it('refuses to advance backwards and says what to use instead', () => {
    const clock = new ManualClock(5)
    expect(() => clock.advance(-1)).toThrow(/set\(\)/)
    expect(clock.now()).toBe(5)
  })

  it('refuses what is no number', () => {
    // @ts-expect-error text is no number
    expect(() => new ManualClock('5')).toThrow(RangeError)
    // @ts-expect-error a date is no number
    expect(() => new ManualClock().set(new Date(0))).toThrow(RangeError)
  })
})
