// A bound on the time a breaker may stay half-open, and what it becomes then.
import { describe, expect, it } from 'vitest'
import { FakeHost, type Fields, Rig } from './support.js'

const rule = {
  strategy: 'consecutive-errors',
  threshold: 1,
  cooldownMs: 1000,
  successThreshold: 3,
  probeTimeoutMs: null,
  maxHalfOpenMs: 5000,
} as const

/** Half-open since 1000, with one good probe. */
function halfOpen(fields: Partial<Fields> = {}, host = new FakeHost()): Rig {
  const rig = new Rig({ ...rule, ...fields }, host)
  rig.call('failure')
  rig.now = 1000
  rig.call('success')
  expect(rig.state).toBe('half-open')
  host.changes.length = 0
  host.measured.length = 0
  return rig
}

describe('to open', () => {
  it('happens at the entry that finds the time over, and not before', () => {
    const rig = halfOpen()
    rig.now = 5999.75
    rig.end(rig.begin(), 'ignored')
    expect(rig.state).toBe('half-open')
    rig.now = 6000
    expect(rig.state).toBe('half-open')
    expect(rig.enter()).toBeUndefined()
    expect(rig.host.changes).toEqual(['6000 half-open > open: half-open-timeout'])
    expect(rig.host.measured).toEqual([[undefined, 1]])
    expect(rig.seen).toMatchObject({ openedAt: 6000, retryAfterMs: 1000 })
  })

  it('counts the cooldown from when the time was over, so a late caller is not refused', () => {
    const rig = halfOpen()
    rig.now = 6400
    expect(rig.enter()).toBeUndefined()
    expect(rig.seen).toMatchObject({ openedAt: 6000, retryAfterMs: 600 })
    const other = halfOpen()
    other.now = 7000
    other.begin()
    expect(other.host.changes).toEqual([
      '7000 half-open > open: half-open-timeout',
      '7000 open > half-open: cooldown-elapsed',
    ])
    expect(other.seen).toMatchObject({ probesOut: 1, state: 2 })
  })

  it('begins a new half-open time with every probe that opens one, and forgets what was earned', () => {
    const rig = halfOpen()
    for (const hour of [1, 2, 3]) {
      rig.now = 3_600_000 * hour
      expect(rig.call('success')).toBe(true)
      expect(rig.state).toBe('half-open')
    }
    rig.call('success')
    rig.now += 4999
    rig.call('success')
    expect(rig.state).toBe('closed')
  })

  it('does not grow the cooldown, and keeps the growth there was', () => {
    const rig = halfOpen({ cooldownMultiplier: 2 })
    rig.call('failure')
    expect(rig.seen.retryAfterMs).toBe(2000)
    rig.now = 3000
    rig.call('success')
    rig.now = 8000
    rig.enter()
    expect(rig.seen).toMatchObject({ openedAt: 8000, retryAfterMs: 2000 })
    rig.now = 10_000
    rig.call('failure')
    expect(rig.seen.retryAfterMs).toBe(4000)
  })

  it('draws a share of jitter like any opening', () => {
    const host = new FakeHost(0, [0, 0.5])
    const rig = halfOpen({ cooldownJitter: 1 }, host)
    rig.now = 6000
    rig.enter()
    expect([rig.seen.retryAfterMs, host.draws]).toEqual([1500, 2])
  })

  it('voids the probes that are out: their results decide nothing', () => {
    const rig = halfOpen({ probeCount: 2 })
    const out = [rig.begin(), rig.begin()] as const
    rig.now = 6000
    expect(rig.enter()).toBeUndefined()
    expect([rig.seen.probesOut, rig.host.probesOut]).toEqual([0, 0])
    rig.end(out[0], 'failure')
    rig.end(out[1], 'success')
    expect(rig.seen).toMatchObject({ openedAt: 6000, retryAfterMs: 1000 })
    expect(rig.host.changes).toHaveLength(1)
  })

  it('is the doing of an entry: a result that comes first still decides', () => {
    const good = halfOpen({ successThreshold: 2 })
    const probe = good.begin()
    good.now = 9000
    good.end(probe)
    expect(good.state).toBe('closed')
    const bad = halfOpen()
    const other = bad.begin()
    bad.now = 9000
    bad.end(other, 'failure')
    expect(bad.seen).toMatchObject({ openedAt: 9000, retryAfterMs: 1000 })
  })
})

describe('to closed', () => {
  const closing = { afterHalfOpen: 'closed' } as const

  it('lets the call pass that finds the time over, with fresh statistics', () => {
    const rig = halfOpen({ ...closing, cooldownMultiplier: 2 })
    const probe = rig.begin()
    rig.now = 6000
    rig.begin()
    expect(rig.host.changes).toEqual(['6000 half-open > closed: half-open-timeout'])
    expect(rig.host.measured).toEqual([[undefined, 1]])
    expect(rig.host.probesOut).toBe(0)
    rig.end(probe, 'failure')
    expect([rig.state, rig.counts]).toEqual(['closed', [0, 0]])
    rig.call('failure')
    expect(rig.seen).toMatchObject({ openedAt: 6000, retryAfterMs: 1000 })
  })

  it('lets traffic back by steps if the rule asks for that', () => {
    const rig = halfOpen({ ...closing, recoveryMs: 100 })
    rig.now = 20_000
    rig.host.offered = 0
    expect(rig.enter()).toBeUndefined()
    expect(rig.seen).toMatchObject({ state: 0, admittedShare: 0.1, retryAfterMs: 10 })
  })
})

describe('together with a probe that does not come back', () => {
  it('a takeover that comes first happens, and after the time is over none does', () => {
    const rig = halfOpen({ probeTimeoutMs: 2000 })
    rig.begin()
    expect(rig.seen.retryAfterMs).toBe(2000)
    rig.now = 3000
    rig.begin()
    expect([rig.state, rig.seen.probesOut]).toEqual(['half-open', 1])
    // The next timeout is 4000 and would end at 7000.
    expect(rig.seen.retryAfterMs).toBe(3000 + 1000)
    rig.now = 6000
    expect(rig.enter()).toBeUndefined()
    expect(rig.state).toBe('open')
  })

  it('a slow probe that is seen past its limit decides first', () => {
    const slow = {
      ...rule,
      strategy: 'slow-call-ratio',
      minRequestAmount: 1,
      maxAllowedRtMs: 800,
      afterHalfOpen: 'closed',
      cooldownMultiplier: 2,
    } as const
    const rig = new Rig(slow)
    rig.call('success', 801)
    rig.now = 2000
    rig.begin()
    rig.now = 7000
    expect(rig.enter()).toBeUndefined()
    expect(rig.host.changes.at(-1)).toBe('7000 half-open > open: probe-slow')
    expect(rig.seen.retryAfterMs).toBe(2000)
  })

  it.each<[Partial<Fields>, number | undefined]>([
    [{}, 5500 + 1000],
    [{ cooldownJitter: 0.25, cooldownMultiplier: 7 }, 5500 + 1250],
    [{ cooldownJitter: 1, maxCooldownMs: 1500 }, 5500 + 1500],
    [{ afterHalfOpen: 'closed' }, 5500],
    [{ afterHalfOpen: 'closed', probeTimeoutMs: 5499 }, 5499],
    [{ probeTimeoutMs: 5500 }, 5500 + 1000],
    [{ maxHalfOpenMs: null }, undefined],
    [{ maxHalfOpenMs: null, probeTimeoutMs: 8000 }, 8000],
  ])('%j names a wait that is enough: %d', (fields, wait) => {
    const rig = halfOpen({ maxHalfOpenMs: 6000, ...fields })
    rig.now = 1500
    rig.begin()
    expect(rig.seen.retryAfterMs).toBe(wait)
    if (wait === undefined) return
    rig.now = 1500 + wait
    expect(rig.enter()).toBeDefined()
  })
})

it('has no bound where nobody asks for one', () => {
  const rig = halfOpen({ maxHalfOpenMs: null, successThreshold: 2 })
  rig.now = 1e12
  rig.call('success')
  expect(rig.state).toBe('closed')
})

it('goes on unseen while forced, and a dry run refuses nothing', () => {
  const rig = halfOpen()
  rig.breaker.force(false, true, rig.now)
  rig.now = 6500
  rig.call('failure')
  rig.breaker.force(false, false, rig.now)
  expect(rig.seen).toMatchObject({ state: 1, openedAt: 6000, retryAfterMs: 500 })
  const dry = halfOpen({ dryRun: true })
  dry.now = 6500
  dry.call('failure')
  expect(dry.seen).toMatchObject({ state: 1, openedAt: 6000, wouldBlock: 1 })
})

it('follows a changed bound at the next entry', () => {
  const rig = halfOpen({ successThreshold: 9 })
  rig.now = 2000
  rig.breaker.update({ ...rig.breaker.rule, maxHalfOpenMs: 900 }, rig.now)
  expect(rig.enter()).toBeUndefined()
  expect(rig.seen.openedAt).toBe(1900)
})
