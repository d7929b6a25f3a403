// What events say, when they say it, and that decisions need no snapshot.
import { describe, expect, it } from 'vitest'
import { ENTRANCES, flush, Scenario } from '../support/scenario.js'

const errors = { strategy: 'error-ratio', threshold: 0.5, minRequestAmount: 5, cooldownMs: 5000 } as const

describe.each(ENTRANCES)('tripped through %s', (entrance) => {
  it.each(ENTRANCES)('F42 the opened listener sees the open state and its own call is refused (%s)', async (inner) => {
    const s = new Scenario(entrance, [errors])
    const seen: unknown[] = []
    s.guard.on('state', (event) => {
      seen.push([event.to, s.rule().state, s.rule().retryAfterMs, s.attempt(inner)])
    })
    await s.calls(5, 'fail')
    await flush()

    expect(seen).toEqual([['open', 'open', 5000, 'refused']])
    expect(s.moves()).toEqual(['0 closed > open: threshold'])
    expect(s.blocked).toHaveLength(1)
    expect(s.totals()).toMatchObject({ passed: 5, failed: 5, blocked: 1, running: 0 })
    expect(s.rule()).toMatchObject({ state: 'open', openedAt: 0 })
    expect(s.faults).toEqual([])
  })

  it.each(ENTRANCES)('F42 listeners of the recovery see the new state too (%s)', async (inner) => {
    const s = new Scenario(entrance, [errors])
    await s.calls(5, 'fail')
    const seen: unknown[] = []
    s.guard.on('state', (event) => {
      const { state, probesOut } = s.rule()
      seen.push([event.to, state, probesOut, s.attempt(inner)])
    })
    s.clock.set(6000)
    await s.calls(1, 'ok')
    await flush()

    expect(seen).toEqual([
      ['half-open', 'half-open', 1, 'refused'],
      ['closed', 'closed', 0, 'ok'],
    ])
    expect(s.moves()).toEqual([
      '0 closed > open: threshold',
      '6000 open > half-open: cooldown-elapsed',
      '6000 half-open > closed: probe-succeeded',
    ])
    expect(s.totals()).toMatchObject({ passed: 7, failed: 5, succeeded: 2, blocked: 1, running: 0 })
    expect(s.rule()).toMatchObject({ state: 'closed', total: 1, bad: 0 })
    expect(s.faults).toEqual([])
  })
})

it.each(ENTRANCES)(
  'F42 the opened listener is told before the failing call returns to its caller (%s)',
  async (entrance) => {
    const s = new Scenario(entrance, [errors])
    const order: string[] = []
    s.guard.on('state', (event) => order.push(event.to))
    for (let i = 1; i <= 5; i++) {
      await s.call('fail')
      order.push(`call ${i}`)
    }
    expect(order).toEqual(['call 1', 'call 2', 'call 3', 'call 4', 'open', 'call 5'])
  },
)

const slowAndErrors = [
  { ...errors, id: 'errors', minRequestAmount: 10 },
  { ...errors, id: 'slow', strategy: 'slow-call-ratio', maxAllowedRtMs: 500, threshold: 0.8, minRequestAmount: 10 },
] as const

it.each(
  ENTRANCES.flatMap(
    (entrance) =>
      [
        [entrance, 0.8],
        [entrance, 0.6],
      ] as const,
  ),
)(
  'F43 the event names the slow rule, its measure of 0.8 and its threshold (%s, threshold %d)',
  async (entrance, threshold) => {
    const [byErrors, bySlowness] = slowAndErrors
    const s = new Scenario(entrance, [byErrors, { ...bySlowness, threshold }])
    await s.calls(8, 'ok', 600)
    await s.calls(1, 'fail')
    expect(s.states).toEqual([])
    expect(s.rule(0)).toMatchObject({ id: 'errors', total: 9, bad: 1 })
    expect(s.rule(1)).toMatchObject({ id: 'slow', total: 9, bad: 8 })
    await s.calls(1, 'ok')

    expect(s.states).toHaveLength(1)
    expect(s.states[0]).toMatchObject({
      type: 'state',
      resource: 'r',
      rule: { id: 'slow', strategy: 'slow-call-ratio', threshold, maxAllowedRtMs: 500 },
      from: 'closed',
      to: 'open',
      reason: 'threshold',
      value: 0.8,
      threshold,
      total: 10,
      at: 4800,
    })
    expect(s.rule(0)).toMatchObject({ state: 'closed', total: 10, bad: 1 })
    expect(s.rule(1)).toMatchObject({ state: 'open', openedAt: 4800 })
    expect(s.totals()).toMatchObject({ slow: 8, failed: 1, succeeded: 9 })

    expect(await s.call('ok')).toBe('refused')
    expect(s.blocked).toMatchObject([
      { type: 'blocked', resource: 'r', kind: 'degrade', code: 'ERR_BLOCKED_DEGRADE', rule: { id: 'slow' }, at: 4800 },
    ])
    if (entrance !== 'tryEnter') {
      expect(s.refusal).toMatchObject({
        code: 'ERR_BLOCKED_DEGRADE',
        resource: 'r',
        kind: 'degrade',
        rule: { id: 'slow', strategy: 'slow-call-ratio' },
        retryAfterMs: 5000,
      })
    }
  },
)

it.each(ENTRANCES)('F43 where the error ratio trips, the event carries the error ratio (%s)', async (entrance) => {
  const s = new Scenario(entrance, slowAndErrors)
  await s.calls(1, 'ok', 600)
  await s.calls(4, 'ok')
  await s.calls(5, 'fail')
  expect(s.states).toMatchObject([
    { rule: { id: 'errors', strategy: 'error-ratio' }, value: 0.5, threshold: 0.5, total: 10, at: 600 },
  ])
  expect(s.rule(1)).toMatchObject({ id: 'slow', state: 'closed', total: 10, bad: 1 })
})

describe.each(ENTRANCES)('a burst through %s', (entrance) => {
  it.each(ENTRANCES)(
    'F45 the sixth call in the same millisecond as five failures is refused (sixth by %s)',
    async (sixth) => {
      const s = new Scenario(entrance, [errors])
      s.clock.set(1000)
      await s.calls(5, 'fail')
      expect(s.rule()).toMatchObject({ state: 'open', openedAt: 1000 })
      expect(await s.call('ok', 0, sixth)).toBe('refused')
      expect(s.states).toMatchObject([{ at: 1000, value: 1, total: 5 }])
      expect(s.totals()).toMatchObject({ passed: 5, failed: 5, blocked: 1 })
    },
  )

  it('F45 five failures at fractions of one millisecond are all seen by the sixth call', async () => {
    const s = new Scenario(entrance, [errors])
    for (const t of [1000, 1000.2, 1000.4, 1000.6, 1000.8]) {
      s.clock.set(t)
      await s.calls(1, 'fail')
    }
    s.clock.set(1000.9)
    expect(await s.call('ok')).toBe('refused')
    expect(s.states).toMatchObject([{ at: 1000.8, value: 1, total: 5 }])
  })

  it('F45 after four failures in a burst the fifth call still runs', async () => {
    const s = new Scenario(entrance, [errors])
    await s.calls(4, 'fail')
    expect(s.rule()).toMatchObject({ state: 'closed', total: 4, bad: 4 })
    expect(await s.call('ok')).toBe('ok')
    expect(s.rule().state).toBe('open')
    expect(s.states).toMatchObject([{ value: 0.8, total: 5 }])
  })
})
