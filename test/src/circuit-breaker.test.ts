// CircuitBreaker: consecutive failures, alone.
import { CircuitBreaker, type CircuitBreakerOptions, isBlocked, RuleError } from 'leapguard'
import { ManualClock } from 'leapguard/testing'
import { describe, expect, it } from 'vitest'
import { rejection } from '../support/harness.js'
import { deferred, flush } from '../support/scenario.js'
import { INVALID, thrown, unhandledBy } from './support.js'

const DOWN = new Error('down')
const bad = (breaker: CircuitBreaker) => rejection(breaker.run(() => Promise.reject(DOWN)))

function breakerOf(options: CircuitBreakerOptions = {}) {
  const clock = new ManualClock(0)
  return { clock, breaker: new CircuitBreaker({ clock, ...options }) }
}

describe('by default', () => {
  it('opens at the fifth failure in a row, for 30 s, and one success closes', async () => {
    const { breaker, clock } = breakerOf()
    for (let i = 0; i < 5; i++) {
      expect(breaker.state).toBe('closed')
      expect(await bad(breaker)).toBe(DOWN)
    }
    expect(breaker.state).toBe('open')
    clock.set(29_999)
    expect(await bad(breaker)).toMatchObject({
      code: 'ERR_BLOCKED_DEGRADE',
      resource: 'circuit-breaker',
      rule: { strategy: 'consecutive-errors' },
      retryAfterMs: 1,
    })
    clock.set(30_000)
    expect(breaker.state).toBe('open')
    expect(await breaker.run(() => breaker.state)).toBe('half-open')
    expect(breaker.state).toBe('closed')
  })

  it('a success in between starts the count again', async () => {
    const { breaker } = breakerOf()
    for (let i = 0; i < 4; i++) await bad(breaker)
    expect(await breaker.run(async () => 'fine')).toBe('fine')
    for (let i = 0; i < 4; i++) await bad(breaker)
    expect(breaker.state).toBe('closed')
  })

  it('works on the real clock', async () => {
    const breaker = new CircuitBreaker()
    expect(await breaker.run(() => 1)).toBe(1)
    expect(breaker.state).toBe('closed')
  })
})

describe('with options', () => {
  it('asks for several good probes, one at a time', async () => {
    const { breaker, clock } = breakerOf({ failureThreshold: 1, successThreshold: 2, cooldownMs: 100, name: 'pay' })
    await bad(breaker)
    clock.set(100)
    const work = deferred<string>()
    const probe = breaker.run(() => work.promise)
    expect(await rejection(breaker.run(() => 1))).toMatchObject({ resource: 'pay' })
    work.resolve('first')
    expect([await probe, breaker.state]).toEqual(['first', 'half-open'])
    await breaker.run(() => 'second')
    expect(breaker.state).toBe('closed')
  })

  it('a bad probe opens for the full time again', async () => {
    const { breaker, clock } = breakerOf({ failureThreshold: 1, cooldownMs: 100 })
    await bad(breaker)
    clock.set(100)
    expect(await bad(breaker)).toBe(DOWN)
    clock.set(199)
    expect(isBlocked(await bad(breaker))).toBe(true)
    clock.set(200)
    expect(await breaker.run(() => 1)).toBe(1)
  })
})

describe('run', () => {
  it('gives the function one context', async () => {
    const { breaker } = breakerOf({ name: 'pay' })
    expect(await breaker.run(({ resource, attempt, signal }) => [resource, attempt, signal.aborted])).toEqual([
      'pay',
      1,
      false,
    ])
  })

  it('never throws synchronously', async () => {
    const { breaker } = breakerOf()
    const error = rejection(
      breaker.run(() => {
        throw DOWN
      }),
    )
    expect(await error).toBe(DOWN)
    // @ts-expect-error only functions are run
    expect(await rejection(breaker.run(Promise.resolve(1)))).toMatchObject(INVALID)
  })

  it('refused and not awaited leaves nothing unhandled', async () => {
    const { breaker } = breakerOf({ failureThreshold: 1 })
    await bad(breaker)
    expect(await unhandledBy(() => void breaker.run(() => 1))).toEqual([])
  })

  it('does not count the refusal of another breaker as a failure', async () => {
    const inner = breakerOf({ failureThreshold: 1 }).breaker
    const outer = breakerOf({ failureThreshold: 1 }).breaker
    await bad(inner)
    expect(isBlocked(await rejection(outer.run(() => inner.run(() => 1))))).toBe(true)
    expect(outer.state).toBe('closed')
  })
})

describe('reset', () => {
  it('closes, and calls in flight decide nothing any more', async () => {
    const { breaker } = breakerOf({ failureThreshold: 2 })
    const work = deferred<string>()
    const running = breaker.run(() => work.promise)
    await bad(breaker)
    await bad(breaker)
    expect(breaker.state).toBe('open')
    breaker.reset()
    expect(breaker.state).toBe('closed')
    await bad(breaker)
    work.reject(DOWN)
    expect(await rejection(running)).toBe(DOWN)
    await flush()
    expect(breaker.state).toBe('closed')
    await bad(breaker)
    expect(breaker.state).toBe('open')
  })

  it('while half-open frees the probe', async () => {
    const { breaker, clock } = breakerOf({ failureThreshold: 1, cooldownMs: 100 })
    await bad(breaker)
    clock.set(100)
    breaker.run(() => new Promise(() => {}))
    breaker.reset()
    expect([breaker.state, await breaker.run(() => 'free')]).toEqual(['closed', 'free'])
  })
})

describe('validation', () => {
  it.each([
    ['failureThreshold', 0],
    ['failureThreshold', 1.5],
    ['failureThreshold', '5'],
    ['failureThreshold', Number.NaN],
    ['successThreshold', 0],
    ['successThreshold', 1.5],
    ['cooldownMs', 0],
    ['cooldownMs', 2 ** 30 + 1],
    ['cooldownMs', '30s'],
    ['name', ''],
    ['name', 5],
  ])('names its own option %s and the value %o', (option, value) => {
    const error = thrown(() => new CircuitBreaker({ [option]: value }))
    expect(error).toBeInstanceOf(RuleError)
    const { faults, message } = error as RuleError
    expect(faults).toHaveLength(1)
    expect([faults[0]?.path, Object.is(faults[0]?.value, value)]).toEqual([option, true])
    expect(message).toContain(option)
    expect(message).not.toContain('options[0]')
  })

  it('says in its message what stood there', () => {
    const error = thrown(() => new CircuitBreaker({ failureThreshold: 0.5 }))
    expect((error as RuleError).message).toMatch(/failureThreshold.*0\.5/)
  })

  it('tells all faults at once', () => {
    const error = thrown(() => new CircuitBreaker({ failureThreshold: 0, cooldownMs: 0, successThreshold: 0 }))
    expect((error as RuleError).faults.map(({ path }) => path).sort()).toEqual([
      'cooldownMs',
      'failureThreshold',
      'successThreshold',
    ])
  })

  it.each([
    ['threshold', 5],
    ['halfOpenAfter', 5],
    ['clock', 'fast'],
  ])('refuses %s: %o as an argument', (option, value) => {
    expect(thrown(() => new CircuitBreaker({ [option]: value }))).toMatchObject(INVALID)
  })

  it.each([null, 5, 'pay'])('refuses %s in place of options', (options) => {
    // @ts-expect-error options are an object
    expect(thrown(() => new CircuitBreaker(options))).toMatchObject(INVALID)
  })
})
