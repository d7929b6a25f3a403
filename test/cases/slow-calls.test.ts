// Calls that hang: they count as slow while they still run, and only once.
import { describe, expect, it } from 'vitest'
import { type CaseRule, ENTRANCES, type Held, HOLDING, type HoldingEntrance, Scenario } from '../support/scenario.js'

const slow = {
  strategy: 'slow-call-ratio',
  maxAllowedRtMs: 1000,
  threshold: 0.5,
  minRequestAmount: 5,
  statIntervalMs: 10_000,
  cooldownMs: 5000,
} as const

async function hang(n: number, entrance: HoldingEntrance, rule: CaseRule = slow): Promise<[Scenario, Held[]]> {
  const s = new Scenario(entrance, [rule])
  const hung: Held[] = []
  for (let i = 0; i < n; i++) hung.push(await s.hold(entrance))
  return [s, hung]
}

describe.each(HOLDING)('hung calls through %s', (entrance) => {
  it.each(ENTRANCES)('F26 a call that runs past the slow limit counts as slow at once (sixth by %s)', async (sixth) => {
    const [s] = await hang(5, entrance)
    s.clock.set(1500)
    expect(s.rule()).toMatchObject({ state: 'closed' })

    expect(await s.call('ok', 0, sixth)).toBe('refused')

    expect(s.rule()).toMatchObject({ state: 'open', openedAt: 1500, retryAfterMs: 5000 })
    expect(s.states).toMatchObject([
      { from: 'closed', to: 'open', at: 1500, reason: 'threshold', value: 1, threshold: 0.5, total: 5 },
    ])
    expect(s.blocked).toMatchObject([{ kind: 'degrade', retryAfterMs: 5000, at: 1500 }])
    expect(s.totals()).toMatchObject({ passed: 5, blocked: 1, running: 5, succeeded: 0, failed: 0 })
  })

  it('F26 the open time runs from when the hung calls are noticed, and the breaker recovers', async () => {
    const [s, hung] = await hang(5, entrance)
    s.clock.set(1500)
    expect(await s.call('ok')).toBe('refused')
    s.clock.set(6499)
    expect(await s.call('ok')).toBe('refused')
    s.clock.set(6500)
    expect(await s.call('ok')).toBe('ok')
    expect(s.rule()).toMatchObject({ state: 'closed', total: 0, bad: 0 })

    for (const call of hung) await call.end('ok')
    expect(s.rule()).toMatchObject({ state: 'closed', total: 0, bad: 0 })
    expect(await s.call('ok')).toBe('ok')
    expect(s.rule()).toMatchObject({ state: 'closed', total: 1, bad: 0 })
    expect(s.moves()).toEqual([
      '1500 closed > open: threshold',
      '6500 open > half-open: cooldown-elapsed',
      '6500 half-open > closed: probe-succeeded',
    ])
    expect(s.totals()).toMatchObject({ passed: 7, blocked: 2, succeeded: 7, running: 0 })
  })

  it('F26 a hung call that ends while the breaker is open moves nothing', async () => {
    const [s, hung] = await hang(5, entrance)
    s.clock.set(1500)
    expect(await s.call('ok')).toBe('refused')
    s.clock.set(2000)
    const before = s.rule()

    for (const call of hung) await call.end('fail')

    expect(s.rule()).toEqual(before)
    expect(s.rule()).toMatchObject({ state: 'open', openedAt: 1500, retryAfterMs: 4500 })
    expect(s.states).toHaveLength(1)
    expect(s.totals()).toMatchObject({ failed: 5, running: 0 })
  })

  it('F26 a hung call is booked when it is noticed and not again when it ends', async () => {
    const [s, hung] = await hang(5, entrance, { ...slow, minRequestAmount: 20 })
    s.clock.set(1500)
    const sixth = await s.hold(entrance)
    expect(s.rule()).toMatchObject({ state: 'closed', total: 5, bad: 5 })

    s.clock.set(2000)
    for (const call of hung) {
      await call.end('ok')
      expect(s.rule()).toMatchObject({ total: 5, bad: 5 })
    }
    await sixth.end('ok')
    expect(s.rule()).toMatchObject({ total: 6, bad: 5 })
    expect(s.totals()).toMatchObject({ passed: 6, succeeded: 6, slow: 5, running: 0 })

    // Booked in the buckets of 1000 and 2000, they age out like all others.
    s.clock.set(10_999)
    expect(s.rule()).toMatchObject({ total: 6, bad: 5 })
    s.clock.set(11_000)
    expect(s.rule()).toMatchObject({ total: 1, bad: 0 })
    s.clock.set(12_000)
    expect(s.rule()).toMatchObject({ total: 0, bad: 0 })
  })

  it('F26 a call at the limit is not slow yet, and is noticed within an eighth of the limit after it', async () => {
    const [s] = await hang(5, entrance)
    s.clock.set(1000)
    expect(await s.call('ok')).toBe('ok')
    expect(s.rule()).toMatchObject({ state: 'closed', total: 1, bad: 0 })
    s.clock.set(1126)
    expect(await s.call('ok')).toBe('refused')
    expect(s.states).toMatchObject([{ at: 1126, value: 5 / 6, total: 6 }])
  })

  it('F26 finished and hung calls add up to the minimum', async () => {
    const [s] = await hang(3, entrance)
    await s.calls(1, 'ok')
    s.clock.set(1500)
    expect(await s.call('ok')).toBe('ok')
    expect(s.rule().state).toBe('open')
    expect(s.states).toMatchObject([{ at: 1500, value: 3 / 5, total: 5 }])
  })

  it('F26 four hung calls are below the minimum of five', async () => {
    const [s] = await hang(4, entrance)
    s.clock.set(1500)
    const fifth = await s.hold(entrance)
    expect(s.rule()).toMatchObject({ state: 'closed', total: 4, bad: 4 })
    await fifth.end('ok')
    expect(s.states).toMatchObject([{ to: 'open', at: 1500, value: 4 / 5, total: 5 }])
  })

  it('F26 with countRunning off a hung call is not judged before it ends', async () => {
    const [s, hung] = await hang(5, entrance, { ...slow, countRunning: false })
    s.clock.set(1500)
    const sixth = await s.hold(entrance)
    expect(s.rule()).toMatchObject({ state: 'closed', total: 0, bad: 0 })
    for (const call of hung) await call.end('ok')
    expect(s.rule().state).toBe('open')
    await sixth.end('ok')
    expect(s.states).toMatchObject([{ at: 1500, value: 1, total: 5 }])
  })
})
