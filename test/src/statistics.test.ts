// The rolling statistics window of a resource: what is counted, when it is kept, when it begins anew.
import { type CustomRule, createGuard, type Guard, type GuardOptions, isBlocked, type MetricSnapshot } from 'leapguard'
import { describe, expect, it } from 'vitest'
import { deferred } from '../support/scenario.js'
import { fail, HAIR, INVALID, thrown, type Watched, watched } from './support.js'

const kept = (options: GuardOptions = {}): Watched => watched({ statistics: true, ...options })
const windowOf = (guard: Guard, resource = 'r'): MetricSnapshot | undefined => guard.stats(resource).window

/** One call through `enter` that takes so long. */
function call({ guard, clock }: Watched, ms: number, end?: { error: unknown }): void {
  const handle = guard.enter('r')
  clock.advance(ms)
  handle.exit(end)
}

const NOTHING: MetricSnapshot = {
  intervalMs: 10_000,
  passed: 0,
  blocked: 0,
  succeeded: 0,
  failed: 0,
  ignored: 0,
  slow: 0,
  rt: undefined,
}

describe('the option', () => {
  it('is off by default: stats has no window, whatever is called', () => {
    const { guard } = watched()
    guard.enter('r').exit()
    expect(Object.keys(guard.stats('r'))).toEqual(['resource', 'totals', 'rules'])
    expect(Object.keys(guard.stats('unknown'))).toEqual(['resource', 'totals', 'rules'])
    guard.configure('r', { statistics: false })
    expect(windowOf(guard)).toBeUndefined()
  })

  it.each([true, {}, { intervalMs: 10_000 }])('%j means ten buckets in ten seconds with percentiles', (statistics) => {
    const setup = watched({ statistics })
    call(setup, 40)
    setup.clock.set(9999)
    expect(windowOf(setup.guard)).toMatchObject({ intervalMs: 10_000, succeeded: 1, rt: { p50: 40 } })
    setup.clock.set(10_000)
    expect(windowOf(setup.guard)).toStrictEqual(NOTHING)
  })

  it('takes an interval, a bucket count, and leaves percentiles out if told so', () => {
    const setup = watched({ statistics: { intervalMs: 600, bucketCount: 3, percentiles: false } })
    call(setup, 7)
    setup.clock.set(599)
    expect(windowOf(setup.guard)).toMatchObject({
      intervalMs: 600,
      rt: { count: 1, mean: 7, min: 7, max: 7 },
    })
    expect(Object.keys(windowOf(setup.guard)?.rt ?? {})).toEqual(['count', 'mean', 'min', 'max'])
    setup.clock.set(600)
    expect(windowOf(setup.guard)?.succeeded).toBe(0)
  })

  it('finds a bucket count where ten does not divide', () => {
    const setup = watched({ statistics: { intervalMs: 7 } })
    call(setup, 1)
    setup.clock.set(6)
    expect(windowOf(setup.guard)?.succeeded).toBe(1)
    setup.clock.set(7)
    expect(windowOf(setup.guard)?.succeeded).toBe(1) // seven buckets of 1 ms: that of 1 ms is live until 8
    setup.clock.set(8)
    expect(windowOf(setup.guard)?.succeeded).toBe(0)
  })

  it.each([
    [null, 'statistics must be true, false or an object of options, got null'],
    [1, 'statistics must be true, false or an object of options, got 1'],
    ['on', 'statistics must be true, false or an object of options, got "on"'],
    [[], 'statistics must be true, false or an object of options, got an array'],
    [{ intervalMs: 0 }, 'statistics.intervalMs: must be an integer >= 1 and <= 1073741824, got 0'],
    [{ intervalMs: 2 ** 30 + 1 }, 'statistics.intervalMs: must be an integer >= 1 and <= 1073741824, got 1073741825'],
    [
      { bucketCount: 7 },
      'statistics.bucketCount: must be an integer >= 1 and <= 10000 that divides intervalMs (10000), got 7',
    ],
    [
      { intervalMs: 1e6, bucketCount: 20_000 },
      'statistics.bucketCount: must be an integer >= 1 and <= 10000, got 20000',
    ],
    [{ percentiles: 'yes' }, 'statistics.percentiles: must be true or false, got "yes"'],
    [{ interval: 5 }, "statistics.interval: must be absent: unknown field (did you mean 'intervalMs'?), got 5"],
  ])('%j is refused with its bounds', (statistics, message) => {
    const wrong = { statistics } as unknown as GuardOptions
    const { guard } = watched()
    for (const act of [() => createGuard(wrong), () => guard.configure('r', wrong as object)]) {
      expect(thrown(act)).toMatchObject({ ...INVALID, message })
    }
    expect(guard.resources()).toEqual([])
  })

  it('tells all that is wrong at once, and configures nothing of it', () => {
    const { guard } = kept()
    guard.configure('r', { statistics: { intervalMs: 500 } })
    const wrong = { intervalMs: 1.5, percentiles: 0, size: 1 } as object
    const { message } = thrown(() => guard.configure('r', { statistics: wrong, fallbacks: [() => 1] })) as Error
    expect(message.split('; ').map((part) => part.split(':')[0])).toEqual([
      'statistics.size',
      'statistics.intervalMs',
      'statistics.percentiles',
    ])
    expect(windowOf(guard)?.intervalMs).toBe(500)
    guard.forceOpen('r')
    expect(isBlocked(thrown(() => guard.entrySync('r', () => 1)))).toBe(true)
  })
})

describe('what is counted', () => {
  it('calls of every way in, and how they ended, with their response times', async () => {
    const { guard, clock } = kept()
    const answer = deferred<number>()
    const pending = guard.entry('r', () => answer.promise)
    guard.entrySync('r', () => clock.advance(10))
    const permit = guard.tryEnter('r')
    clock.advance(20)
    guard.leave(permit, 'failure')
    const handle = guard.enter('r')
    clock.advance(30)
    handle.exit()
    answer.resolve(1)
    await pending
    expect(windowOf(guard)).toStrictEqual({
      ...NOTHING,
      passed: 4,
      succeeded: 3,
      failed: 1,
      rt: { count: 4, mean: 30, min: 10, max: 60, p50: 20.25, p90: 60, p95: 60, p99: 60, p999: 60 },
    })
  })

  it('a call as passed when it is admitted, as ended when it ends', () => {
    const { guard, clock } = kept()
    const handle = guard.enter('r')
    expect(windowOf(guard)).toStrictEqual({ ...NOTHING, passed: 1 })
    clock.set(15_000)
    handle.exit()
    expect(windowOf(guard)).toMatchObject({ passed: 0, succeeded: 1, rt: { min: 15_000, max: 15_000, p999: 15_000 } })
    handle.exit()
    handle.cancel()
    expect(windowOf(guard)).toMatchObject({ succeeded: 1, ignored: 0 })
  })

  it('ignored calls as ignored, and not in the response times', async () => {
    const { guard, clock } = kept()
    const user = new AbortController()
    const aborted = guard.entry('r', () => new Promise(() => {}), { signal: user.signal })
    const handle = guard.enter('r')
    clock.advance(700)
    user.abort()
    handle.cancel()
    await expect(aborted).rejects.toBe(user.signal.reason)
    expect(windowOf(guard)).toStrictEqual({ ...NOTHING, passed: 2, ignored: 2 })
  })

  it('refused calls as blocked and nothing else, by every way in', async () => {
    const { guard } = kept()
    guard.forceOpen('r')
    await expect(guard.entry('r', () => 1)).rejects.toSatisfy(isBlocked)
    await expect(guard.entry('r', () => 1, { fallbacks: [() => 2] })).resolves.toBe(2)
    expect(isBlocked(thrown(() => guard.entrySync('r', () => 1)))).toBe(true)
    expect(isBlocked(thrown(() => guard.enter('r')))).toBe(true)
    expect(guard.tryEnter('r')).toBe(-1)
    expect(windowOf(guard)).toStrictEqual({ ...NOTHING, blocked: 5 })
  })

  it('what a dry run would have refused as passed', () => {
    const { guard } = kept()
    guard.setRulesFor('r', { degrade: [{ ...HAIR, dryRun: true }] })
    fail(guard)
    guard.enter('r').exit()
    expect(windowOf(guard)).toMatchObject({ passed: 2, blocked: 0, succeeded: 1, failed: 1 })
    expect(guard.stats('r').totals.wouldBlock).toBe(1)
  })

  it('slow calls once, as the slow rules see them, however they ended', () => {
    const setup = kept()
    const slow = { strategy: 'slow-call-ratio', threshold: 1, minRequestAmount: 100, countRunning: false } as const
    setup.guard.setRulesFor('r', {
      degrade: [
        { ...slow, maxAllowedRtMs: 50 },
        { ...slow, maxAllowedRtMs: 60 },
      ],
    })
    call(setup, 50)
    call(setup, 51)
    call(setup, 61, { error: new Error('slow and failed') })
    expect(windowOf(setup.guard)).toMatchObject({ succeeded: 2, failed: 1, slow: 2 })
    expect(setup.guard.stats('r').totals.slow).toBe(2)
  })

  it('no slow calls where no rule says what slow is', () => {
    const setup = kept()
    call(setup, 1e9)
    expect(windowOf(setup.guard)).toMatchObject({ slow: 0 })
  })

  it('a call that ran unguarded because a custom rule failed', () => {
    const { guard, told } = kept()
    const broken: CustomRule = {
      check: () => 0,
      take: () => {
        throw new Error('broken')
      },
    }
    guard.configure('r', { rules: [broken] })
    guard.enter('r').exit()
    expect(told()).toEqual([['LEAPGUARD_CUSTOM_RULE', 'take']])
    expect(windowOf(guard)).toMatchObject({ passed: 1, succeeded: 1 })
  })

  it('a response time of 0 where the clock stepped back and is believed', () => {
    const { guard, clock } = kept({ onClockBack: 'raw' })
    clock.set(5000)
    const handle = guard.enter('r')
    clock.set(4000)
    handle.exit()
    expect(windowOf(guard)).toMatchObject({ succeeded: 1, rt: { count: 1, min: 0, max: 0, p50: 0 } })
  })

  it('calls of names without room together, where they share a resource', () => {
    const { guard } = kept({ maxResources: 1, onRegistryFull: 'shared' })
    guard.forceClosed('kept')
    guard.enter('a').exit()
    guard.enter('b').exit()
    expect(windowOf(guard, '(overflow)')).toMatchObject({ passed: 2, succeeded: 2 })
  })
})

describe('the window of a resource', () => {
  it('is not emptied by its breakers', () => {
    const setup = kept()
    setup.guard.setRulesFor('r', { degrade: [HAIR] })
    fail(setup.guard)
    setup.clock.set(1000)
    setup.guard.enter('r').exit()
    expect(setup.guard.stats('r').rules[0]).toMatchObject({ state: 'closed', total: 0 })
    expect(windowOf(setup.guard)).toMatchObject({ passed: 2, failed: 1, succeeded: 1 })
    setup.guard.loadRules({ degrade: [] })
    expect(windowOf(setup.guard)).toMatchObject({ passed: 2, failed: 1, succeeded: 1 })
  })

  it('is read without being changed', () => {
    const setup = kept()
    call(setup, 30)
    const before = windowOf(setup.guard)
    setup.guard.snapshot()
    expect(windowOf(setup.guard)).toStrictEqual(before)
  })

  it.each([['r'], [undefined]])('is emptied by reset(%s); a call in flight counts when it ends', (name) => {
    const { guard, clock } = kept()
    guard.enter('r').exit()
    const handle = guard.enter('r')
    clock.advance(5)
    guard.reset(name)
    expect(windowOf(guard)).toStrictEqual(NOTHING)
    handle.exit()
    expect(windowOf(guard)).toMatchObject({ passed: 0, succeeded: 1, rt: { count: 1, max: 5, p50: 5 } })
  })

  it('is forgotten with the resource', () => {
    const { guard } = kept()
    guard.configure('r', { statistics: { intervalMs: 500 } })
    guard.enter('r').exit()
    guard.remove('r')
    guard.enter('r').exit()
    expect(windowOf(guard)).toMatchObject({ intervalMs: 10_000, passed: 1 })
  })

  it('after dispose is kept for nobody', () => {
    const { guard, told } = kept()
    const handle = guard.enter('r')
    guard.dispose()
    handle.exit()
    guard.enter('r').exit()
    expect(guard.stats('r')).toMatchObject({ totals: { passed: 0 } })
    expect(windowOf(guard)).toBeUndefined()
    expect(told()).toEqual([['LEAPGUARD_DISPOSED', 'entry']])
  })
})

describe('configured for one resource', () => {
  it('it is kept for that one alone', () => {
    const { guard } = watched()
    guard.configure('r', { statistics: true })
    guard.enter('r').exit()
    guard.enter('other').exit()
    expect(windowOf(guard)).toMatchObject({ passed: 1 })
    expect(windowOf(guard, 'other')).toBeUndefined()
  })

  it('false leaves it out where the guard keeps it, undefined gives the word back to the guard', () => {
    const { guard } = kept({ statistics: { intervalMs: 300 } })
    guard.configure('r', { statistics: false })
    guard.enter('r').exit()
    expect(windowOf(guard)).toBeUndefined()
    guard.configure('r', { statistics: undefined })
    guard.enter('r').exit()
    expect(windowOf(guard)).toMatchObject({ intervalMs: 300, passed: 1 })
    guard.configure('r', { statistics: true })
    expect(windowOf(guard)?.intervalMs).toBe(10_000)
  })

  it('on, off and on again it begins anew', () => {
    const { guard } = watched()
    for (const statistics of [true, false, true]) {
      guard.configure('r', { statistics })
      guard.enter('r').exit()
    }
    expect(windowOf(guard)).toMatchObject({ passed: 1, succeeded: 1 })
    expect(guard.stats('r').totals.passed).toBe(3)
  })

  it('of the same shape it goes on, and any other configuration leaves it alone', () => {
    const { guard } = watched()
    guard.configure('r', { statistics: true })
    guard.enter('r').exit()
    guard.configure('r', { statistics: { intervalMs: 10_000, bucketCount: 10 } })
    guard.configure('r', { fallbacks: [] })
    expect(windowOf(guard)).toMatchObject({ passed: 1 })
  })

  it.each([{ intervalMs: 20_000 }, { bucketCount: 5 }, { percentiles: false }])(
    'changed to %j it begins anew',
    (statistics) => {
      const { guard } = kept()
      guard.enter('r').exit()
      guard.configure('r', { statistics })
      expect(windowOf(guard)).toMatchObject({ passed: 0 })
      expect(windowOf(guard)?.rt).toBeUndefined()
    },
  )

  it('while a call runs it counts that call when it ends, and off it is not missed', () => {
    const { guard, clock } = watched()
    const [first, second] = [guard.enter('r'), guard.enter('r')]
    clock.advance(9)
    guard.configure('r', { statistics: true })
    first.exit()
    expect(windowOf(guard)).toMatchObject({ passed: 0, succeeded: 1, rt: { max: 9 } })
    guard.configure('r', { statistics: false })
    second.exit()
    expect(guard.stats('r').totals).toMatchObject({ passed: 2, succeeded: 2, running: 0 })
  })
})
