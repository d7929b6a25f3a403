// What docs/from-opossum.md says of opossum, run: each test is a sentence of the page, and shows what leapguard does in its place.
import { createGuard, type DegradeRuleInput } from 'leapguard'
import { ManualClock } from 'leapguard/testing'
import CircuitBreaker from 'opossum'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

type Options = ConstructorParameters<typeof CircuitBreaker>[1]
type Rule = Partial<DegradeRuleInput>

const error = new Error('503')
const breakers: CircuitBreaker[] = []

/** A function whose calls end when the test says so. */
function held() {
  const ends: { resolve: (value: string) => void; reject: (error: Error) => void }[] = []
  const fn = () => new Promise<string>((resolve, reject) => ends.push({ resolve, reject }))
  return { fn, ends }
}

function opossum(fn: (...args: unknown[]) => Promise<unknown>, options: Options = {}): CircuitBreaker {
  const breaker = new CircuitBreaker(fn, options)
  breakers.push(breaker)
  return breaker
}

function leapguard(rule: Rule = {}) {
  const clock = new ManualClock()
  const guard = createGuard({ clock })
  guard.loadRules({ degrade: [{ resource: 'a', strategy: 'error-ratio', threshold: 0.5, ...rule }] })
  const state = () => guard.stats('a').rules[0]?.state
  return { clock, guard, state }
}

const fails = async () => Promise.reject(error)
const failsIf = async (bad: unknown) => (bad === true ? Promise.reject(error) : 'ok')
const quietly = (call: Promise<unknown>) => call.catch(() => undefined)

beforeEach(() => void vi.useFakeTimers({ now: 0 }))
afterEach(() => {
  for (const breaker of breakers.splice(0)) breaker.shutdown()
  vi.useRealTimers()
})

it('the page is about the version that is run here', async () => {
  const { version } = (await import('opossum/package.json')) as unknown as { version: string }
  expect(version).toBe('9.0.0')
})

describe('options', () => {
  it('have the defaults of the table', () => {
    const { options } = opossum(fails) as unknown as { options: Record<string, unknown> }
    const { timeout, errorThresholdPercentage, resetTimeout, rollingCountTimeout, rollingCountBuckets } = options
    expect([timeout, errorThresholdPercentage, resetTimeout, rollingCountTimeout, rollingCountBuckets]).toEqual([
      10_000, 50, 30_000, 10_000, 10,
    ])
    expect(opossum(fails).volumeThreshold).toBe(0)
    expect(options.capacity).toBe(Number.MAX_SAFE_INTEGER)
  })

  it('timeout: a call is a failure after 10 s, and its caller is told so; leapguard ends no call', async () => {
    const breaker = opossum(held().fn, { volumeThreshold: 20 })
    const call = breaker.fire()
    const told = expect(call).rejects.toMatchObject({ code: 'ETIMEDOUT' })
    await vi.advanceTimersByTimeAsync(10_000)
    await told
    expect(breaker.stats.failures).toBe(1)

    const { clock, guard } = leapguard()
    guard.enter('a')
    clock.advance(3_600_000)
    expect(guard.stats('a').totals.running).toBe(1)
  })

  it('volumeThreshold 0: the first failure opens; leapguard waits for 20 calls', async () => {
    const breaker = opossum(fails)
    await quietly(breaker.fire())
    expect(breaker.opened).toBe(true)

    const { guard, state } = leapguard()
    for (let i = 0; i < 19; i++) await quietly(guard.entry('a', fails))
    expect(state()).toBe('closed')
    await quietly(guard.entry('a', fails))
    expect(state()).toBe('open')
  })

  it('errorThresholdPercentage must be passed, not reached; comparison: above does the same', async () => {
    const breaker = opossum(failsIf, { volumeThreshold: 4 })
    for (const bad of [false, false, true, true]) await quietly(breaker.fire(bad))
    expect(breaker.closed).toBe(true) // 2 of 4
    await quietly(breaker.fire(true))
    expect(breaker.opened).toBe(true) // 3 of 5

    for (const [comparison, after4] of [
      ['at-or-above', 'open'],
      ['above', 'closed'],
    ] as const) {
      const { guard, state } = leapguard({ minRequestAmount: 4, comparison })
      for (const bad of [false, false, true, true]) await quietly(guard.entry('a', () => failsIf(bad)))
      expect(state()).toBe(after4)
    }
  })

  it('is judged at failures only; leapguard at every end, so the call that completes the volume may be a good one', async () => {
    const breaker = opossum(failsIf, { volumeThreshold: 4 })
    for (const bad of [true, true, true, false]) await quietly(breaker.fire(bad))
    expect(breaker.closed).toBe(true) // 3 of 4

    const { guard, state } = leapguard({ minRequestAmount: 4 })
    for (const bad of [true, true, true, false]) await quietly(guard.entry('a', () => failsIf(bad)))
    expect(state()).toBe('open')
  })

  it('the ratio is of calls begun, running ones too; in leapguard of calls ended', async () => {
    const { fn, ends } = held()
    const breaker = opossum(fn, { volumeThreshold: 1 })
    const calls = Array.from({ length: 10 }, () => quietly(breaker.fire()))
    for (const { reject } of ends.slice(0, 5)) reject(error)
    await Promise.all(calls.slice(0, 5))
    expect([breaker.stats.failures, breaker.stats.fires, breaker.closed]).toEqual([5, 10, true]) // 5 of 10

    const { guard, state } = leapguard({ minRequestAmount: 1 })
    const running = Array.from({ length: 10 }, () => guard.enter('a'))
    running[0]?.exit({ error })
    expect(state()).toBe('open') // 1 of 1
  })

  it('calls that were refused are in the ratio, too; in leapguard in none', async () => {
    const breaker = opossum(fails)
    for (let i = 0; i < 3; i++) await quietly(breaker.fire())
    expect([breaker.stats.fires, breaker.stats.rejects, breaker.stats.failures]).toEqual([3, 2, 1])

    const { guard } = leapguard({ minRequestAmount: 1 })
    for (let i = 0; i < 3; i++) await quietly(guard.entry('a', fails))
    expect(guard.stats('a').rules[0]?.total).toBe(1)
  })

  it('errorFilter counts as a success and the caller still gets the error; ignore counts as neither', async () => {
    const breaker = opossum(fails, { errorFilter: () => true })
    await expect(breaker.fire()).rejects.toBe(error)
    expect([breaker.stats.successes, breaker.stats.failures]).toEqual([1, 0])

    const { guard } = leapguard()
    guard.configure('a', { ignore: () => true })
    await expect(guard.entry('a', fails)).rejects.toBe(error)
    const { succeeded, failed, ignored } = guard.stats('a').totals
    expect([succeeded, failed, ignored]).toEqual([0, 0, 1])
    guard.configure('a', { ignore: undefined, classify: () => 'success' })
    await expect(guard.entry('a', fails)).rejects.toBe(error)
    expect(guard.stats('a').totals.succeeded).toBe(1)
  })

  it('a filtered error runs no fallback, nor does an ignored one', async () => {
    const breaker = opossum(fails, { errorFilter: () => true })
    breaker.fallback(() => 'somebody')
    await expect(breaker.fire()).rejects.toBe(error)

    const { guard } = leapguard()
    guard.configure('a', { ignore: () => true, fallbacks: [() => 'somebody'] })
    await expect(guard.entry('a', fails)).rejects.toBe(error)
  })

  it('allowWarmUp opens for no failure within the first window; capacity refuses calls beyond it', async () => {
    const warm = opossum(fails, { allowWarmUp: true })
    await quietly(warm.fire())
    expect(warm.closed).toBe(true)

    const narrow = opossum(held().fn, { capacity: 1, volumeThreshold: 20 })
    void narrow.fire()
    await expect(narrow.fire()).rejects.toMatchObject({ code: 'ESEMLOCKED' })
  })

  it('the name is that of the function, and open and close put it by hand until it decides again', async () => {
    const breaker = opossum(async function fetchName() {
      return 'Ada'
    })
    expect([breaker.name, breaker.group]).toEqual(['fetchName', 'fetchName'])
    breaker.open()
    await vi.advanceTimersByTimeAsync(30_000)
    expect(breaker.halfOpen).toBe(true)
    breaker.close()
    expect(breaker.closed).toBe(true)

    const { clock, guard, state } = leapguard()
    guard.forceOpen('a')
    clock.advance(3_600_000)
    await quietly(guard.entry('a', fails))
    expect(state()).toBe('open')
  })

  it('disable lets all calls through; forceClosed does the same', async () => {
    const breaker = opossum(fails)
    await quietly(breaker.fire())
    breaker.disable()
    await expect(breaker.fire()).rejects.toBe(error)

    const { guard } = leapguard({ minRequestAmount: 1 })
    await quietly(guard.entry('a', fails))
    guard.forceClosed('a')
    await expect(guard.entry('a', fails)).rejects.toBe(error)
  })
})

describe('states', () => {
  it('open turns half-open by a timer, without a call; in leapguard by the next call', async () => {
    const breaker = opossum(fails)
    await quietly(breaker.fire())
    await vi.advanceTimersByTimeAsync(30_000)
    expect(breaker.halfOpen).toBe(true)

    const { clock, guard, state } = leapguard({ minRequestAmount: 1 })
    await quietly(guard.entry('a', fails))
    clock.advance(10_000)
    expect(state()).toBe('open')
    guard.enter('a')
    expect(state()).toBe('half-open')
  })

  it('one call is let through half-open, others are refused, in both', async () => {
    const { fn, ends } = held()
    const breaker = opossum(fn)
    const first = quietly(breaker.fire())
    ends[0]?.reject(error)
    await first
    await vi.advanceTimersByTimeAsync(30_000)
    const probe = breaker.fire()
    await expect(breaker.fire()).rejects.toMatchObject({ code: 'EOPENBREAKER' })
    ends[1]?.resolve('ok')
    await probe
    expect(breaker.closed).toBe(true)
  })

  it('a probe that never ends blocks for ever without a timeout; leapguard gives its slot away', async () => {
    const { fn, ends } = held()
    const breaker = opossum(fn, { timeout: false })
    const first = quietly(breaker.fire())
    ends[0]?.reject(error)
    await first
    await vi.advanceTimersByTimeAsync(30_000)
    void breaker.fire() // never ends
    await vi.advanceTimersByTimeAsync(3_600_000)
    await expect(breaker.fire()).rejects.toMatchObject({ code: 'EOPENBREAKER' })

    const { clock, guard, state } = leapguard({ minRequestAmount: 1 })
    await quietly(guard.entry('a', fails))
    clock.advance(10_000)
    guard.enter('a') // never ends
    clock.advance(10_000)
    await guard.entry('a', async () => 'ok')
    expect(state()).toBe('closed')
  })

  it('closing keeps the old failures in the window, so the next failure opens; leapguard starts afresh', async () => {
    const breaker = opossum(failsIf, { resetTimeout: 100, volumeThreshold: 20 })
    for (let i = 0; i < 20; i++) await quietly(breaker.fire(true))
    await vi.advanceTimersByTimeAsync(100)
    await breaker.fire(false)
    expect(breaker.closed).toBe(true)
    await quietly(breaker.fire(true))
    expect(breaker.opened).toBe(true) // 21 of 22

    const { clock, guard, state } = leapguard({ cooldownMs: 100 })
    for (let i = 0; i < 20; i++) await quietly(guard.entry('a', fails))
    clock.advance(100)
    await guard.entry('a', async () => 'ok')
    await quietly(guard.entry('a', fails))
    expect(state()).toBe('closed') // 1 of 1
  })

  it('a late success closes in place of the probe, and a late failure reopens; leapguard ignores both', async () => {
    for (const end of ['resolve', 'reject'] as const) {
      const { fn, ends } = held()
      const breaker = opossum(fn, { timeout: false, resetTimeout: 100 })
      const late = quietly(breaker.fire())
      const failing = [quietly(breaker.fire()), quietly(breaker.fire())]
      for (const { reject } of ends.slice(1)) reject(error)
      await Promise.all(failing)
      expect(breaker.opened).toBe(true) // 2 of 3
      await vi.advanceTimersByTimeAsync(100)
      void quietly(breaker.fire()) // the probe, still running
      ends[0]?.[end](error as never)
      await late
      expect([breaker.closed, breaker.opened]).toEqual(end === 'resolve' ? [true, false] : [false, true])

      const { clock, guard, state } = leapguard({ minRequestAmount: 1 })
      const early = guard.enter('a')
      await quietly(guard.entry('a', fails))
      clock.advance(10_000)
      guard.enter('a') // the probe, still running
      early.exit(end === 'resolve' ? {} : { error })
      expect(state()).toBe('half-open')
    }
  })

  it('a breaker is an object with timers; a guard has none', () => {
    const before = vi.getTimerCount()
    opossum(fails)
    expect(vi.getTimerCount() - before).toBe(2)
    leapguard()
    expect(vi.getTimerCount() - before).toBe(2)
  })

  it('two breakers around one function know nothing of each other; two guarded functions of one name share it', async () => {
    const one = opossum(fails)
    const other = opossum(fails)
    await quietly(one.fire())
    expect([one.opened, other.closed]).toEqual([true, true])

    const { guard } = leapguard({ minRequestAmount: 1 })
    await quietly(guard.wrap('a', fails)())
    await expect(guard.wrap('a', async () => 'ok')()).rejects.toMatchObject({ code: 'ERR_BLOCKED_DEGRADE' })
  })
})

it('healthCheck opens when its function rejects; leapguard is told by forceOpen', async () => {
  const breaker = opossum(async () => 'ok')
  breaker.healthCheck(fails as () => Promise<never>, 5000)
  await vi.advanceTimersByTimeAsync(0)
  expect(breaker.opened).toBe(true)

  const { guard, state } = leapguard()
  guard.forceOpen('a')
  expect(state()).toBe('open')
})

describe('answers', () => {
  it('a refusal says that, and leapguard for how long, too', async () => {
    const breaker = opossum(fails)
    await quietly(breaker.fire())
    const refusal = (await breaker.fire().catch((why: unknown) => why)) as Error
    expect(refusal).toMatchObject({ message: 'Breaker is open', code: 'EOPENBREAKER' })
    expect(CircuitBreaker.isOurError(refusal)).toBe(true)
    expect(refusal).not.toHaveProperty('retryAfterMs')

    const { guard } = leapguard({ minRequestAmount: 1 })
    await quietly(guard.entry('a', fails))
    await expect(guard.entry('a', fails)).rejects.toMatchObject({ retryAfterMs: 10_000 })
  })

  it('one fallback gets the arguments and the error; leapguard has a list of them, which get the error and a context', async () => {
    const breaker = opossum(fails)
    const seen: unknown[] = []
    breaker.fallback((...args: unknown[]) => {
      seen.push(...args)
      throw new Error('no cache')
    })
    await expect(breaker.fire('7')).rejects.toThrow('no cache')
    expect(seen).toEqual(['7', error])
    breaker.fallback(() => 'second') // replaces the first
    expect(await breaker.fire('7')).toBe('second')

    const { guard } = leapguard()
    const fallbacks = [
      () => {
        throw new Error('no cache')
      },
      (why: unknown, { cause, level }: { cause: string; level: number }) => [why, cause, level],
    ]
    expect(await guard.entry('a', fails, { fallbacks })).toEqual([error, 'failure', 1])
  })

  it('toJSON and state carry the state over', async () => {
    const breaker = opossum(fails)
    await quietly(breaker.fire())
    const { state, status } = breaker.toJSON()
    expect([state.open, status.failures]).toEqual([true, 1])
    const next = opossum(fails, { state } as unknown as Options)
    expect(next.opened).toBe(true)

    const { clock, guard } = leapguard({ minRequestAmount: 1 })
    await quietly(guard.entry('a', fails))
    const restored = createGuard({ clock, restore: JSON.parse(JSON.stringify(guard.save())) })
    restored.loadRules(guard.rules())
    expect(restored.stats('a').rules[0]?.state).toBe('open')
  })

  it('a snapshot is sent at intervals; leapguard makes one when asked', async () => {
    const breaker = opossum(async () => 'ok')
    const seen: unknown[] = []
    breaker.status.on('snapshot', ({ fires }) => seen.push(fires))
    await breaker.fire()
    await vi.advanceTimersByTimeAsync(1000)
    expect(seen).toEqual([1])

    const { guard } = leapguard()
    await guard.entry('a', async () => 'ok')
    expect(guard.snapshot().resources[0]?.totals.passed).toBe(1)
  })
})

describe('events', () => {
  it('a listener that throws makes the call fail; in leapguard it reaches nobody', async () => {
    const breaker = opossum(async () => 'ok', { volumeThreshold: 20 })
    breaker.on('success', () => {
      throw new Error('listener')
    })
    await expect(breaker.fire()).rejects.toThrow('listener')

    const faults: unknown[] = []
    const guard = createGuard({ onInternalError: (fault) => faults.push(fault) })
    guard.setRulesFor('a', { degrade: [{ strategy: 'error-count', threshold: 1 }] })
    guard.on('state', () => {
      throw new Error('listener')
    })
    await expect(guard.entry('a', fails)).rejects.toBe(error)
    expect(faults).toHaveLength(1)
  })

  it('are those of the table', async () => {
    const seen: string[] = []
    const breaker = opossum(failsIf, { resetTimeout: 100 })
    breaker.fallback(() => 'somebody')
    for (const name of ['fire', 'success', 'failure', 'reject', 'fallback', 'open', 'halfOpen', 'close'] as const) {
      ;(breaker as { on(name: string, listener: () => void): unknown }).on(name, () => seen.push(name))
    }
    await breaker.fire(true)
    await breaker.fire(true)
    await vi.advanceTimersByTimeAsync(100)
    await breaker.fire(false)
    expect(seen).toEqual([
      ...['fire', 'failure', 'open', 'fallback'],
      ...['fire', 'reject', 'fallback'],
      'halfOpen',
      ...['fire', 'close', 'success'],
    ])

    const heard: string[] = []
    const { clock, guard } = leapguard({ minRequestAmount: 1 })
    guard.on('state', ({ to }) => heard.push(to))
    guard.on('blocked', ({ type }) => heard.push(type))
    await quietly(guard.entry('a', fails))
    await quietly(guard.entry('a', fails))
    clock.advance(10_000)
    await guard.entry('a', async () => 'ok')
    expect(heard).toEqual(['open', 'blocked', 'half-open', 'closed'])
  })
})
