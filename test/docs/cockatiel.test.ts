// What docs/from-cockatiel.md says of cockatiel, run: each test is a sentence of the page, and shows what leapguard does in its place.
import {
  BrokenCircuitError,
  CircuitState,
  ConsecutiveBreaker,
  CountBreaker,
  circuitBreaker,
  ExponentialBackoff,
  fallback,
  handleAll,
  handleType,
  handleWhenResult,
  type IBreaker,
  IsolatedCircuitError,
  isBrokenCircuitError,
  SamplingBreaker,
  wrap,
} from 'cockatiel'
import { createGuard, type DegradeRuleInput } from 'leapguard'
import { ManualClock } from 'leapguard/testing'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

const { Closed, Open, HalfOpen, Isolated } = CircuitState
const error = new Error('503')
const fails = async () => Promise.reject(error)
const works = async () => 'ok'
const quietly = (call: Promise<unknown>) => call.catch(() => undefined)

function cockatiel(breaker: IBreaker, halfOpenAfter = 10_000) {
  return circuitBreaker(handleAll, { breaker, halfOpenAfter })
}

function leapguard(rule: Partial<DegradeRuleInput> = {}) {
  const clock = new ManualClock()
  const guard = createGuard({ clock })
  guard.loadRules({ degrade: [{ resource: 'a', strategy: 'consecutive-errors', threshold: 1, ...rule }] })
  const state = () => guard.stats('a').rules[0]?.state
  return { clock, guard, state }
}

/** A call that ends when the test says so. */
function held() {
  let resolve = (_value: string): void => {}
  let reject = (_error: Error): void => {}
  const promise = new Promise<string>((yes, no) => {
    resolve = yes
    reject = no
  })
  return { fn: () => promise, resolve, reject }
}

beforeEach(() => void vi.useFakeTimers({ now: 1_000_000 }))
afterEach(() => void vi.useRealTimers())

it('the page is about the version that is run here', async () => {
  const { version } = (await import('cockatiel/package.json')) as unknown as { version: string }
  expect(version).toBe('3.2.1')
})

describe('breakers', () => {
  it('ConsecutiveBreaker(n) opens at the nth failure in a row, as consecutive-errors does', async () => {
    const policy = cockatiel(new ConsecutiveBreaker(3))
    const { guard, state } = leapguard({ threshold: 3 })
    const seen: unknown[] = []
    for (const fn of [fails, fails, works, fails, fails, fails]) {
      await quietly(policy.execute(fn))
      await quietly(guard.entry('a', fn))
      seen.push(policy.state, state())
    }
    expect(seen.filter((_, i) => i % 2 === 0)).toEqual([Closed, Closed, Closed, Closed, Closed, Open])
    expect(seen.filter((_, i) => i % 2 === 1)).toEqual(['closed', 'closed', 'closed', 'closed', 'closed', 'open'])
  })

  it('CountBreaker judges the last calls, at failures only and above the threshold; statCallCount at every end', async () => {
    const policy = cockatiel(new CountBreaker({ threshold: 0.5, size: 4 }))
    const { guard, state } = leapguard({ strategy: 'error-ratio', threshold: 0.5, statCallCount: 4 })
    const strict = leapguard({ strategy: 'error-ratio', threshold: 0.5, statCallCount: 4, comparison: 'above' })
    const all = async (fn: () => Promise<string>) => {
      for (const execute of [policy.execute(fn), guard.entry('a', fn), strict.guard.entry('a', fn)])
        await quietly(execute)
      return [policy.state, state(), strict.state()]
    }
    await all(works)
    await all(works)
    await all(fails)
    expect(await all(fails)).toEqual([Closed, 'open', 'closed']) // 2 of 4
    expect(await all(fails)).toEqual([Open, 'open', 'open']) // 3 of 4
  })

  it('CountBreaker and SamplingBreaker do not judge when a call ends well; leapguard does', async () => {
    const count = cockatiel(new CountBreaker({ threshold: 0.5, size: 4 }))
    const sampling = cockatiel(new SamplingBreaker({ threshold: 0.5, duration: 1000, minimumRps: 4 }))
    const { guard, state } = leapguard({ strategy: 'error-ratio', threshold: 0.5, minRequestAmount: 4 })
    for (const fn of [fails, fails, fails, works]) {
      for (const call of [count.execute(fn), sampling.execute(fn), guard.entry('a', fn)]) await quietly(call)
    }
    expect([count.state, sampling.state, state()]).toEqual([Closed, Closed, 'open']) // 3 of 4
  })

  it('CountBreaker asks for as many calls as it has room for, unless told; statCallCount for 20 at most', async () => {
    const policy = cockatiel(new CountBreaker({ threshold: 0.5, size: 100 }))
    const { guard, state } = leapguard({ strategy: 'error-ratio', threshold: 0.5, statCallCount: 100 })
    for (let i = 0; i < 20; i++)
      for (const call of [policy.execute(fails), guard.entry('a', fails)]) await quietly(call)
    expect([policy.state, state()]).toEqual([Closed, 'open'])
    for (let i = 0; i < 80; i++) await quietly(policy.execute(fails))
    expect(policy.state).toBe(Open)
  })

  it('SamplingBreaker asks for 5 failures a second unless told', async () => {
    const policy = cockatiel(new SamplingBreaker({ threshold: 0.5, duration: 10_000 }))
    for (let i = 0; i < 99; i++) await quietly(policy.execute(fails))
    expect(policy.state).toBe(Closed)
    await quietly(policy.execute(fails)) // 10 calls a second over 10 s, of which half fail
    expect(policy.state).toBe(Open)
  })

  it('SamplingBreaker: minimumRps times the duration is minRequestAmount, and the threshold must be passed', async () => {
    const policy = cockatiel(new SamplingBreaker({ threshold: 0.5, duration: 10_000, minimumRps: 2 }))
    const rule = { strategy: 'error-ratio', threshold: 0.5, minRequestAmount: 20, comparison: 'above' } as const
    const { guard, state } = leapguard(rule)
    for (let i = 0; i < 19; i++)
      for (const call of [policy.execute(fails), guard.entry('a', fails)]) await quietly(call)
    expect([policy.state, state()]).toEqual([Closed, 'closed'])
    for (const call of [policy.execute(fails), guard.entry('a', fails)]) await quietly(call)
    expect([policy.state, state()]).toEqual([Open, 'open'])
  })

  it('a threshold of 1 is an error; leapguard takes it, for all calls', () => {
    expect(() => new SamplingBreaker({ threshold: 1, duration: 10_000 })).toThrow(RangeError)
    expect(() => new CountBreaker({ threshold: 1, size: 10 })).toThrow(RangeError)
    expect(() => leapguard({ strategy: 'error-ratio', threshold: 1 })).not.toThrow()
  })

  it('SamplingBreaker keeps counts of long ago after an idle time; leapguard forgets them', async () => {
    const policy = cockatiel(new SamplingBreaker({ threshold: 0.5, duration: 10_000, minimumRps: 2 }))
    const { clock, guard, state } = leapguard({ strategy: 'error-ratio', threshold: 0.5, comparison: 'above' })
    const both = async (fn: () => Promise<string>) => {
      for (const call of [policy.execute(fn), guard.entry('a', fn)]) await quietly(call)
    }
    for (let i = 0; i < 10; i++) {
      await both(works)
      await both(fails)
    }
    expect([policy.state, state()]).toEqual([Closed, 'closed']) // 10 of 20
    vi.setSystemTime(Date.now() + 3_600_000)
    clock.advance(3_600_000)
    await both(fails)
    expect([policy.state, state()]).toEqual([Open, 'closed']) // an hour later
    expect(guard.stats('a').rules[0]?.total).toBe(1)
  })

  it('halfOpenAfter takes a backoff that grows, as cooldownMultiplier and maxCooldownMs do', async () => {
    const backoff = new ExponentialBackoff({ initialDelay: 1000, maxDelay: 4000, generator: noJitter })
    const policy = circuitBreaker(handleAll, { breaker: new ConsecutiveBreaker(1), halfOpenAfter: backoff })
    const { clock, guard, state } = leapguard({ cooldownMs: 1000, cooldownMultiplier: 2, maxCooldownMs: 4000 })
    await quietly(policy.execute(fails))
    await quietly(guard.entry('a', fails))
    for (const waitMs of [1000, 2000, 4000, 4000]) {
      expect(guard.stats('a').rules[0]?.retryAfterMs).toBe(waitMs)
      vi.setSystemTime(Date.now() + waitMs - 1)
      clock.advance(waitMs - 1)
      await expect(policy.execute(fails)).rejects.toThrow(BrokenCircuitError)
      vi.setSystemTime(Date.now() + 1)
      clock.advance(1)
      await expect(policy.execute(fails)).rejects.toBe(error)
      await expect(guard.entry('a', fails)).rejects.toBe(error)
      expect([policy.state, state()]).toEqual([Open, 'open'])
    }
  })
})

/** Doubles, as ExponentialBackoff does without its jitter. */
const noJitter = (
  attempt: number | undefined,
  { initialDelay, maxDelay }: { initialDelay: number; maxDelay: number },
) => {
  const n = attempt ?? 0
  return [Math.min(maxDelay, initialDelay * 2 ** n), n + 1] as [number, number]
}

describe('what is a failure', () => {
  class NotFound extends Error {}
  const notFound = async () => Promise.reject(new NotFound())

  it('an error that the policy does not handle counts neither way while closed, as an ignored one', async () => {
    const breaker = new ConsecutiveBreaker(2)
    const policy = circuitBreaker(handleType(RangeError), { breaker, halfOpenAfter: 1000 })
    await quietly(policy.execute(async () => Promise.reject(new RangeError())))
    await expect(policy.execute(notFound)).rejects.toThrow(NotFound)
    expect(breaker.state).toBe(1)

    const { guard } = leapguard({ threshold: 2 })
    guard.configure('a', { ignore: [NotFound] })
    await quietly(guard.entry('a', fails))
    await expect(guard.entry('a', notFound)).rejects.toThrow(NotFound)
    expect(guard.stats('a').rules[0]?.total).toBe(1)
  })

  it('such an error of a probe closes; an ignored one gives no verdict', async () => {
    const policy = circuitBreaker(handleType(RangeError), { breaker: new ConsecutiveBreaker(1), halfOpenAfter: 0 })
    await quietly(policy.execute(async () => Promise.reject(new RangeError())))
    await quietly(policy.execute(notFound))
    expect(policy.state).toBe(Closed)

    const { clock, guard, state } = leapguard()
    guard.configure('a', { ignore: [NotFound] })
    await quietly(guard.entry('a', fails))
    clock.advance(10_000)
    await quietly(guard.entry('a', notFound))
    expect(state()).toBe('half-open')
  })

  it('handleWhenResult makes a failure of a result, as classify does; both pass the result on', async () => {
    const isDown = (result: unknown) => result === 'down'
    const policy = circuitBreaker(handleWhenResult(isDown), { breaker: new ConsecutiveBreaker(1), halfOpenAfter: 1000 })
    expect(await policy.execute(() => 'down')).toBe('down')
    expect(policy.state).toBe(Open)

    const { guard, state } = leapguard()
    guard.configure('a', { classify: (result, threw) => (!threw && isDown(result) ? 'failure' : undefined) })
    expect(await guard.entry('a', () => 'down')).toBe('down')
    expect(state()).toBe('open')
  })

  it('an abort is an error like others; in leapguard it ends the call at once and is ignored', async () => {
    const abort = new AbortController()
    const policy = cockatiel(new ConsecutiveBreaker(1))
    const first = held()
    const settled = vi.fn()
    const call = quietly(policy.execute(first.fn, abort.signal)).then(settled)
    const { guard, state } = leapguard()
    const guarded = guard.entry('a', held().fn, { signal: abort.signal })
    abort.abort(new Error('left'))
    await expect(guarded).rejects.toThrow('left')
    expect(settled).not.toHaveBeenCalled() // waits for the function
    first.reject(new Error('left'))
    await call
    expect([policy.state, state()]).toEqual([Open, 'closed'])
  })
})

describe('states', () => {
  it('calls made while the probe runs wait for it and then go on; leapguard refuses them', async () => {
    const policy = cockatiel(new ConsecutiveBreaker(1), 0)
    await quietly(policy.execute(fails))
    const probe = held()
    const probing = policy.execute(probe.fn)
    const settled = vi.fn()
    const second = policy.execute(works).then(settled)
    await vi.advanceTimersByTimeAsync(0)
    expect([policy.state, settled.mock.calls.length]).toEqual([HalfOpen, 0])
    probe.resolve('ok')
    await Promise.all([probing, second])
    expect([policy.state, settled.mock.calls]).toEqual([Closed, [['ok']]])

    const { clock, guard } = leapguard()
    await quietly(guard.entry('a', fails))
    clock.advance(10_000)
    guard.enter('a') // the probe
    await expect(guard.entry('a', works)).rejects.toMatchObject({ code: 'ERR_BLOCKED_DEGRADE' })
  })

  it('a probe that never ends makes all later calls wait for ever; leapguard gives its slot away', async () => {
    const policy = cockatiel(new ConsecutiveBreaker(1), 0)
    await quietly(policy.execute(fails))
    void policy.execute(held().fn)
    const settled = vi.fn()
    void policy.execute(works).then(settled, settled)
    await vi.advanceTimersByTimeAsync(24 * 3_600_000)
    expect([policy.state, settled.mock.calls.length]).toEqual([HalfOpen, 0])

    const { clock, guard, state } = leapguard()
    await quietly(guard.entry('a', fails))
    clock.advance(10_000)
    guard.enter('a') // never ends
    clock.advance(10_000)
    expect(await guard.entry('a', works)).toBe('ok')
    expect(state()).toBe('closed')
  })

  it('late failures count after it has closed, and reopen it while the probe runs; leapguard ignores them', async () => {
    for (const probeEndsFirst of [true, false]) {
      const policy = cockatiel(new ConsecutiveBreaker(1), 0)
      const late = held()
      const first = quietly(policy.execute(late.fn))
      await quietly(policy.execute(fails))
      const probe = held()
      const probing = policy.execute(probe.fn)
      if (probeEndsFirst) {
        probe.resolve('ok')
        await probing
      }
      late.reject(error)
      await first
      expect(policy.state).toBe(Open)

      const { clock, guard, state } = leapguard()
      const early = guard.enter('a')
      await quietly(guard.entry('a', fails))
      clock.advance(10_000)
      const ours = guard.enter('a')
      if (probeEndsFirst) ours.exit()
      early.exit({ error })
      expect(state()).toBe(probeEndsFirst ? 'closed' : 'half-open')
    }
  })

  it('isolate holds it open until every handle is disposed of; forceOpen until auto, and the rules go on from where they were', async () => {
    const policy = cockatiel(new ConsecutiveBreaker(1))
    await quietly(policy.execute(fails))
    const handles = [policy.isolate(), policy.isolate()]
    expect(policy.state).toBe(Isolated)
    const refusal: unknown = await policy.execute(works).catch((why: unknown) => why)
    expect(refusal).toBeInstanceOf(IsolatedCircuitError)
    handles[0]?.dispose()
    expect(policy.state).toBe(Isolated)
    handles[1]?.dispose()
    expect(policy.state).toBe(Closed) // it was open before

    const { guard, state } = leapguard()
    await quietly(guard.entry('a', fails))
    guard.forceOpen('a')
    guard.forceOpen('a')
    guard.auto('a')
    expect(state()).toBe('open')
  })

  it('toJSON and initialState carry the state over', async () => {
    const policy = cockatiel(new ConsecutiveBreaker(1))
    await quietly(policy.execute(fails))
    const initialState: unknown = JSON.parse(JSON.stringify(policy.toJSON()))
    const next = circuitBreaker(handleAll, { breaker: new ConsecutiveBreaker(1), halfOpenAfter: 10_000, initialState })
    expect(next.state).toBe(Open)

    const { clock, guard } = leapguard()
    await quietly(guard.entry('a', fails))
    const restored = createGuard({ clock, restore: JSON.parse(JSON.stringify(guard.save())) })
    restored.loadRules(guard.rules())
    expect(restored.stats('a').rules[0]?.state).toBe('open')
  })
})

describe('answers', () => {
  it('a refusal has no wait; in leapguard it has, and the name and the rule', async () => {
    const policy = cockatiel(new ConsecutiveBreaker(1))
    await quietly(policy.execute(fails))
    const refusal: unknown = await policy.execute(works).catch((why: unknown) => why)
    expect(isBrokenCircuitError(refusal)).toBe(true)
    expect(refusal).not.toHaveProperty('retryAfterMs')

    const { guard } = leapguard({ id: 'in-a-row' })
    await quietly(guard.entry('a', fails))
    await expect(guard.entry('a', works)).rejects.toMatchObject({
      resource: 'a',
      rule: { id: 'in-a-row' },
      retryAfterMs: 10_000,
    })
  })

  it('fallback is a policy around, with one answer that is not told why; leapguard has a list that is', async () => {
    const seen: unknown[] = []
    const policy = wrap(
      fallback(handleAll, (...args: unknown[]) => {
        seen.push(...args)
        return 'somebody'
      }),
      cockatiel(new ConsecutiveBreaker(1)),
    )
    expect([await policy.execute(fails), await policy.execute(fails)]).toEqual(['somebody', 'somebody'])
    expect(seen).toEqual([])

    const { guard } = leapguard()
    const fallbacks = [(_why: unknown, { cause }: { cause: string }) => cause]
    const call = () => guard.entry('a', fails, { fallbacks })
    expect([await call(), await call()]).toEqual(['failure', 'blocked'])
  })

  it('a fallback answers for unhandled errors only if its own policy handles them', async () => {
    const policy = wrap(fallback(handleType(RangeError), 'somebody'), cockatiel(new ConsecutiveBreaker(9)))
    await expect(policy.execute(fails)).rejects.toBe(error)
  })
})

describe('events', () => {
  it('are those of the table', async () => {
    const policy = cockatiel(new ConsecutiveBreaker(1))
    const seen: string[] = []
    policy.onBreak(() => seen.push('onBreak'))
    policy.onBreak(() => seen.push('not heard')).dispose()
    policy.onReset(() => seen.push('onReset'))
    policy.onHalfOpen(() => seen.push('onHalfOpen'))
    policy.onStateChange((state) => seen.push(CircuitState[state]))
    policy.onSuccess(({ duration }) => seen.push(`onSuccess ${typeof duration}`))
    policy.onFailure(({ handled }) => seen.push(`onFailure ${handled}`))
    await quietly(policy.execute(fails))
    await quietly(policy.execute(works)) // refused: no event
    vi.setSystemTime(Date.now() + 10_000)
    await policy.execute(works)
    expect(policy.lastFailure).toEqual({ error })
    expect(seen).toEqual([
      ...['onFailure true', 'onBreak', 'Open'],
      ...['onHalfOpen', 'HalfOpen', 'onSuccess number', 'onReset', 'Closed'],
    ])
  })
})
