// Loading rules again: what stays, what starts anew, and that dropped state is announced.
import type { DegradeRuleInput, DegradeRuleOptions, ReloadReport } from 'leapguard'
import { describe, expect, it } from 'vitest'
import { ENTRANCES, HOLDING, Scenario } from '../support/scenario.js'

const a: DegradeRuleInput = { resource: 'a', id: 'a1', strategy: 'error-count', threshold: 5, cooldownMs: 60_000 }
const b: DegradeRuleInput = { resource: 'b', id: 'b1', strategy: 'error-count', threshold: 10, cooldownMs: 60_000 }
const A = { resource: 'a', rule: 'a1' }
const B = { resource: 'b', rule: 'b1' }

const withoutId = ({ id: _id, ...rule }: DegradeRuleInput): DegradeRuleInput => rule

const LOADS = {
  loadRules: (s: Scenario, list: readonly DegradeRuleInput[]): ReloadReport => s.guard.loadRules({ degrade: list }),
  loadDegradeRules: (s: Scenario, list: readonly DegradeRuleInput[]): ReloadReport => s.guard.loadDegradeRules(list),
} as const
const loads = Object.keys(LOADS) as (keyof typeof LOADS)[]

async function fail(s: Scenario, resource: string, times: number, ms = 0): Promise<void> {
  for (let i = 0; i < times; i++) expect(await s.call('fail', ms, s.entrance, resource)).toBe('fail')
}

/** `a` open until 60 s, `b` closed with four failures of ten, and now it is 5 s. */
async function aOpenBCounting(s: Scenario): Promise<void> {
  await fail(s, 'a', 5)
  await fail(s, 'b', 4)
  expect(s.moves()).toEqual(['0 closed > open: threshold'])
  s.clock.set(5000)
}

async function expectAOpenUntil60s(s: Scenario): Promise<void> {
  expect(s.rule(0, 'a')).toMatchObject({ state: 'open', openedAt: 0 })
  s.clock.set(59_999)
  expect(await s.call('ok', 0, s.entrance, 'a')).toBe('refused')
  s.clock.set(60_000)
  expect(await s.call('ok', 0, s.entrance, 'a')).toBe('ok')
  expect(s.rule(0, 'a').state).toBe('closed')
}

describe.each(loads)('%s', (load) => {
  it.each(ENTRANCES)(
    'F63 an unchanged open rule stays open and a changed threshold keeps its statistics (%s)',
    async (entrance) => {
      const s = new Scenario(entrance, [a, b])
      await aOpenBCounting(s)

      const report = LOADS[load](s, [a, { ...b, threshold: 5 }])

      const expected = { at: 5000, added: [], removed: [], kept: [A], updated: [B], restarted: [], dropped: [] }
      expect(report).toMatchObject(expected)
      expect(s.reloads).toMatchObject([{ type: 'reload', ...expected }])
      expect(s.states).toHaveLength(1)
      expect(s.rule(0, 'a')).toMatchObject({ state: 'open', openedAt: 0, retryAfterMs: 55_000 })
      expect(s.rule(0, 'b')).toMatchObject({ state: 'closed', total: 4, bad: 4 })

      await fail(s, 'b', 1)
      expect(s.states[1]).toMatchObject({ resource: 'b', to: 'open', at: 5000, value: 5, threshold: 5, total: 5 })
      await expectAOpenUntil60s(s)
    },
  )

  it.each(ENTRANCES)('F63 rules without ids are matched all the same (%s)', async (entrance) => {
    const s = new Scenario(entrance, [a, b].map(withoutId))
    const [ruleA, ruleB] = s.guard.rules().degrade.map((rule) => ({ resource: rule.resource, rule: rule.id }))
    await aOpenBCounting(s)

    const report = LOADS[load](s, [withoutId(a), withoutId({ ...b, threshold: 5 })])

    expect(report).toMatchObject({
      added: [],
      removed: [],
      kept: [ruleA],
      updated: [ruleB],
      restarted: [],
      dropped: [],
    })
    expect(s.states).toHaveLength(1)
    expect(s.rule(0, 'b')).toMatchObject({ state: 'closed', total: 4, bad: 4 })
    await fail(s, 'b', 1)
    expect(s.rule(0, 'b').state).toBe('open')
    await expectAOpenUntil60s(s)
  })

  it.each(ENTRANCES)(
    "F63 with onRuleChange 'restart' the equal rule is left alone and the changed one starts anew (%s)",
    async (entrance) => {
      const s = new Scenario(entrance, [a, b], { onRuleChange: 'restart' })
      await aOpenBCounting(s)

      const report = LOADS[load](s, [a, { ...b, threshold: 5 }])

      const expected = { at: 5000, added: [], removed: [], kept: [A], updated: [], restarted: [B], dropped: [] }
      expect(report).toMatchObject(expected)
      expect(s.reloads).toMatchObject([expected])
      expect(s.states).toHaveLength(1)
      expect(s.rule(0, 'b')).toMatchObject({ state: 'closed', total: 0, bad: 0 })
      await fail(s, 'b', 4)
      expect(s.rule(0, 'b')).toMatchObject({ state: 'closed', total: 4, bad: 4 })
      await fail(s, 'b', 1)
      expect(s.rule(0, 'b').state).toBe('open')
      await expectAOpenUntil60s(s)
    },
  )

  it.each(ENTRANCES)(
    "F63 with onRuleChange 'restart' the dropped state of an open rule is announced (%s)",
    async (entrance) => {
      const s = new Scenario(entrance, [a, b], { onRuleChange: 'restart' })
      await fail(s, 'a', 5)
      await fail(s, 'b', 10)
      s.clock.set(5000)

      const report = LOADS[load](s, [a, { ...b, threshold: 5 }])

      expect(report).toMatchObject({ kept: [A], restarted: [B], dropped: [{ ...B, state: 'open' }] })
      expect(s.states.slice(2)).toMatchObject([
        { resource: 'b', rule: { id: 'b1' }, from: 'open', to: 'closed', reason: 'reload', at: 5000 },
      ])
      expect(s.rule(0, 'b')).toMatchObject({ state: 'closed', total: 0, bad: 0 })
      expect(await s.call('ok', 0, entrance, 'b')).toBe('ok')
      await expectAOpenUntil60s(s)
    },
  )
})

it.each(ENTRANCES)('F63 the same list again and again changes nothing (%s)', async (entrance) => {
  const s = new Scenario(entrance, [a, b])
  await aOpenBCounting(s)
  const before = [s.guard.stats('a'), s.guard.stats('b')]
  for (let i = 0; i < 10; i++) {
    expect(s.guard.loadDegradeRules([a, b])).toMatchObject({ kept: [A, B], updated: [], restarted: [], dropped: [] })
  }
  expect([s.guard.stats('a'), s.guard.stats('b')]).toEqual(before)
  expect(s.states).toHaveLength(1)
  await expectAOpenUntil60s(s)
})

it.each(ENTRANCES)('F63 setting the rules of b alone does not touch a (%s)', async (entrance) => {
  const s = new Scenario(entrance, [a, b])
  await aOpenBCounting(s)
  const { resource: _resource, ...rule } = b
  const report = s.guard.setRulesFor('b', { degrade: [{ ...rule, threshold: 5 }] })
  expect(report).toMatchObject({ added: [], removed: [], updated: [B], restarted: [], dropped: [] })
  expect(s.guard.rules().degrade).toMatchObject([
    { resource: 'a', threshold: 5 },
    { resource: 'b', threshold: 5 },
  ])
  expect(s.rule(0, 'b')).toMatchObject({ state: 'closed', total: 4, bad: 4 })
  await fail(s, 'b', 1)
  expect(s.rule(0, 'b').state).toBe('open')
  await expectAOpenUntil60s(s)
})

it.each(ENTRANCES)('F63 an open rule whose threshold changes stays open for its full time (%s)', async (entrance) => {
  const s = new Scenario(entrance, [a, b])
  await fail(s, 'a', 5)
  s.clock.set(5000)
  expect(s.guard.loadDegradeRules([{ ...a, threshold: 7 }, b])).toMatchObject({ updated: [A], kept: [B], dropped: [] })
  expect(s.states).toHaveLength(1)
  await expectAOpenUntil60s(s)
})

it.each(HOLDING)('F63 a half-open rule and its probe outlive an unchanged load (%s)', async (entrance) => {
  const s = new Scenario(entrance, [a, b])
  await fail(s, 'a', 5)
  s.clock.set(60_000)
  const probe = await s.hold(entrance, 'a')
  s.guard.loadDegradeRules([a, { ...b, threshold: 5 }])
  expect(s.rule(0, 'a')).toMatchObject({ state: 'half-open', probesOut: 1 })
  expect(await s.call('ok', 0, entrance, 'a')).toBe('refused')
  await probe.end('ok')
  expect(s.rule(0, 'a').state).toBe('closed')
  expect(s.moves()).toEqual([
    '0 closed > open: threshold',
    '60000 open > half-open: cooldown-elapsed',
    '60000 half-open > closed: probe-succeeded',
  ])
})

const counting: DegradeRuleInput = { ...b, threshold: 5, statIntervalMs: 10_000, bucketCount: 10 }
const slow: DegradeRuleInput = {
  resource: 'b',
  id: 'b1',
  strategy: 'slow-call-ratio',
  threshold: 0.5,
  maxAllowedRtMs: 500,
  minRequestAmount: 5,
  cooldownMs: 60_000,
}
const SHAPES: readonly (readonly [string, DegradeRuleInput, Partial<DegradeRuleOptions>])[] = [
  ['window length', counting, { statIntervalMs: 20_000 }],
  ['bucket count', counting, { bucketCount: 5 }],
  ['slow limit', slow, { maxAllowedRtMs: 600 }],
  ['strategy', counting, { strategy: 'consecutive-errors' }],
]

describe.each(SHAPES)('another %s', (_what, rule, change) => {
  it.each(ENTRANCES)(
    'F63 restarts an open rule and the events say that its state was dropped (%s)',
    async (entrance) => {
      const s = new Scenario(entrance, [a, rule])
      await fail(s, 'a', 5)
      await fail(s, 'b', 5, 600)
      expect(s.rule(0, 'b')).toMatchObject({ state: 'open', openedAt: 3000 })
      s.clock.set(5000)

      const report = s.guard.loadDegradeRules([a, { ...rule, ...change }])

      const expected = {
        added: [],
        removed: [],
        kept: [A],
        updated: [],
        restarted: [B],
        dropped: [{ ...B, state: 'open' }],
      }
      expect(report).toMatchObject(expected)
      expect(s.reloads).toMatchObject([expected])
      expect(s.states.slice(2)).toMatchObject([
        { resource: 'b', from: 'open', to: 'closed', reason: 'reload', at: 5000 },
      ])
      expect(s.rule(0, 'b')).toMatchObject({ state: 'closed', total: 0, bad: 0, openedAt: undefined })
      expect(await s.call('ok', 0, entrance, 'b')).toBe('ok')
      await expectAOpenUntil60s(s)
    },
  )

  it.each(ENTRANCES)('F63 restarts a closed rule and the reload event says so (%s)', async (entrance) => {
    const s = new Scenario(entrance, [a, rule])
    await fail(s, 'a', 5)
    await fail(s, 'b', 4, 600)
    expect(s.rule(0, 'b')).toMatchObject({ state: 'closed', total: 4, bad: 4 })
    s.clock.set(5000)

    s.guard.loadDegradeRules([a, { ...rule, ...change }])

    expect(s.reloads).toMatchObject([{ kept: [A], updated: [], restarted: [B], dropped: [] }])
    expect(s.states).toHaveLength(1)
    expect(s.rule(0, 'b')).toMatchObject({ state: 'closed', total: 0, bad: 0 })
    await expectAOpenUntil60s(s)
  })
})

it.each(ENTRANCES)(
  'F63 a rule without an id whose window changes drops its open state aloud (%s)',
  async (entrance) => {
    const s = new Scenario(entrance, [withoutId(a), withoutId(counting)])
    await fail(s, 'b', 5)
    const report = s.guard.loadDegradeRules([withoutId(a), withoutId({ ...counting, statIntervalMs: 20_000 })])
    expect(report.dropped).toMatchObject([{ resource: 'b', state: 'open' }])
    expect(s.reloads).toMatchObject([{ dropped: [{ resource: 'b', state: 'open' }] }])
    expect(await s.call('ok', 0, entrance, 'b')).toBe('ok')
  },
)

it.each(ENTRANCES)('F63 removing an open rule drops its state aloud (%s)', async (entrance) => {
  const s = new Scenario(entrance, [a, b])
  await fail(s, 'a', 5)
  s.clock.set(5000)
  const report = s.guard.loadDegradeRules([b])
  const expected = { removed: [A], kept: [B], dropped: [{ ...A, state: 'open' }] }
  expect(report).toMatchObject(expected)
  expect(s.reloads).toMatchObject([expected])
  expect(await s.call('ok', 0, entrance, 'a')).toBe('ok')
})
