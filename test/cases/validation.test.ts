// Bad rules are refused at load: every fault named, nothing applied, the old rules still in force.
import { type DegradeRuleInput, type ReloadReport, RuleError } from 'leapguard'
import { describe, expect, it } from 'vitest'
import { Scenario } from '../support/scenario.js'

const ratio = { resource: 'orders', strategy: 'error-ratio', threshold: 0.5 } as const
const slow = { resource: 'orders', strategy: 'slow-call-ratio', threshold: 0.5, maxAllowedRtMs: 500 } as const
const count = { resource: 'orders', strategy: 'error-count', threshold: 5 } as const
const row = { resource: 'orders', strategy: 'consecutive-errors', threshold: 5 } as const

/** A rule as it may come from a file: whatever it holds, the types did not check it. */
const unchecked = (rule: object): DegradeRuleInput => rule as DegradeRuleInput

const UP_TO_2_30 = /2\^30|1[,_ ]?073[,_ ]?741[,_ ]?824/
const ZERO_TO_ONE = /0.*1/
const A_NUMBER = /\d/

/** What is bad, the good rule around it, the field, its value, and what the stated bound must say. */
const FAULTS: readonly (readonly [string, object, string, unknown, RegExp])[] = [
  ['window 1000 ms with 3 buckets', { ...ratio, statIntervalMs: 1000 }, 'bucketCount', 3, /divi/i],
  ['buckets 0', ratio, 'bucketCount', 0, /10[,_ ]?000/],
  ['window 0', ratio, 'statIntervalMs', 0, UP_TO_2_30],
  ['window NaN', ratio, 'statIntervalMs', Number.NaN, UP_TO_2_30],
  ['error ratio 1.5', ratio, 'threshold', 1.5, ZERO_TO_ONE],
  ['slow ratio 1.5', slow, 'threshold', 1.5, ZERO_TO_ONE],
  ['error ratio -0.1', ratio, 'threshold', -0.1, ZERO_TO_ONE],
  ['slow ratio -0.1', slow, 'threshold', -0.1, ZERO_TO_ONE],
  ['min -1 of a ratio', ratio, 'minRequestAmount', -1, /1/],
  ['min -1 of a count', count, 'minRequestAmount', -1, /1/],
  ['open "5s" as text', ratio, 'cooldownMs', '5s', UP_TO_2_30],
  ['an error ratio of Infinity', ratio, 'threshold', Number.POSITIVE_INFINITY, ZERO_TO_ONE],
  ['a slow ratio of Infinity', slow, 'threshold', Number.POSITIVE_INFINITY, ZERO_TO_ONE],
  ['an error count of Infinity', count, 'threshold', Number.POSITIVE_INFINITY, /1/],
  ['Infinity errors in a row', row, 'threshold', Number.POSITIVE_INFINITY, /1/],
  ['window Infinity', ratio, 'statIntervalMs', Number.POSITIVE_INFINITY, UP_TO_2_30],
  ['buckets Infinity', ratio, 'bucketCount', Number.POSITIVE_INFINITY, /10[,_ ]?000/],
  ['min Infinity', ratio, 'minRequestAmount', Number.POSITIVE_INFINITY, /1/],
  ['open Infinity', ratio, 'cooldownMs', Number.POSITIVE_INFINITY, UP_TO_2_30],
  ['slow limit Infinity', slow, 'maxAllowedRtMs', Number.POSITIVE_INFINITY, /0/],
  ['cooldown growth Infinity', ratio, 'cooldownMultiplier', Number.POSITIVE_INFINITY, /1/],
  ['cooldown cap Infinity', ratio, 'maxCooldownMs', Number.POSITIVE_INFINITY, UP_TO_2_30],
  ['cooldown jitter Infinity', ratio, 'cooldownJitter', Number.POSITIVE_INFINITY, ZERO_TO_ONE],
  ['probes Infinity', ratio, 'probeCount', Number.POSITIVE_INFINITY, /10[,_ ]?000/],
  ['successes Infinity', ratio, 'successThreshold', Number.POSITIVE_INFINITY, A_NUMBER],
  ['probe timeout Infinity', ratio, 'probeTimeoutMs', Number.POSITIVE_INFINITY, UP_TO_2_30],
  ['unknown field minReqests', ratio, 'minReqests', 10, /unknown/i],
]

type Load = (s: Scenario, bad: DegradeRuleInput) => ReloadReport
const LOADS: readonly (readonly [string, Load])[] = [
  ['loadRules', (s, bad) => s.guard.loadRules({ degrade: [bad] })],
  ['loadDegradeRules', (s, bad) => s.guard.loadDegradeRules([bad])],
  ['setRulesFor', (s, bad) => s.guard.setRulesFor('orders', { degrade: [bad] })],
]

function ruleError(load: () => unknown): RuleError {
  try {
    load()
  } catch (error) {
    if (error instanceof RuleError) return error
    throw error
  }
  throw new Error('the load was not refused')
}

/** Rules in force at first, with the breaker of `orders` open. */
async function inForce(): Promise<Scenario> {
  const s = new Scenario('entry', [
    { ...count, id: 'old', cooldownMs: 60_000 },
    { ...count, id: 'other', resource: 'stock' },
  ])
  for (let i = 0; i < 5; i++) expect(await s.call('fail', 0, 'entry', 'orders')).toBe('fail')
  for (let i = 0; i < 4; i++) expect(await s.call('fail', 0, 'entry', 'stock')).toBe('fail')
  s.clock.set(5000)
  return s
}

/** Runs a load that must be refused and checks that nothing at all has changed. */
async function refused(load: (s: Scenario) => unknown): Promise<RuleError> {
  const s = await inForce()
  const rules = s.guard.rules()
  const stats = [s.guard.stats('orders'), s.guard.stats('stock')]

  const error = ruleError(() => load(s))

  expect(s.guard.rules()).toEqual(rules)
  expect([s.guard.stats('orders'), s.guard.stats('stock')]).toEqual(stats)
  expect(s.guard.stats('new').rules).toEqual([])
  expect(s.reloads).toEqual([])
  expect(s.states).toHaveLength(1)
  expect(await s.call('ok', 0, 'entry', 'orders')).toBe('refused')
  expect(await s.call('fail', 0, 'entry', 'stock')).toBe('fail')
  expect(s.rule(0, 'stock').state).toBe('open')
  s.clock.set(60_000)
  expect(await s.call('ok', 0, 'entry', 'orders')).toBe('ok')
  return error
}

describe.each(LOADS)('%s', (_way, load) => {
  it.each(FAULTS)(
    'F65 %s is refused, naming resource, field, value and range',
    async (_what, good, field, value, bound) => {
      const error = await refused((s) => load(s, unchecked({ ...good, [field]: value })))

      expect(error).toMatchObject({ name: 'RuleError', code: 'ERR_RULE_INVALID' })
      expect(error.faults).toHaveLength(1)
      const [fault] = error.faults
      expect(fault?.path).toBe(`degrade[0].${field}`)
      expect(fault?.value).toBe(value)
      expect(String(fault?.bound)).toMatch(bound)
      for (const part of ['orders', field, String(value), String(fault?.bound)]) expect(error.message).toContain(part)
    },
  )

  it.each(FAULTS.map(([what, good]) => [what, good] as const))(
    'F65 the rule around it is good by itself: %s',
    (_what, good) => {
      const s = new Scenario('entry', [])
      expect(load(s, unchecked(good))).toMatchObject({ added: [{ resource: 'orders' }] })
    },
  )
})

const manyFaults = unchecked({
  ...ratio,
  threshold: 1.5,
  statIntervalMs: Number.NaN,
  minRequestAmount: -1,
  cooldownMs: '5s',
  minReqests: 10,
})

it('F65 all faults of one rule come in one error', async () => {
  const error = await refused((s) => s.guard.loadDegradeRules([manyFaults]))
  const found = error.faults.map(({ path, value }) => [path, value])
  expect(found).toHaveLength(5)
  expect(found).toEqual(
    expect.arrayContaining([
      ['degrade[0].threshold', 1.5],
      ['degrade[0].statIntervalMs', Number.NaN],
      ['degrade[0].minRequestAmount', -1],
      ['degrade[0].cooldownMs', '5s'],
      ['degrade[0].minReqests', 10],
    ]),
  )
})

it('F65 all faults of all rules come in one error, and no good rule among them is applied', async () => {
  const error = await refused((s) =>
    s.guard.loadRules({
      degrade: [
        { ...ratio, resource: 'new' },
        manyFaults,
        { ...count, id: 'other', resource: 'stock', threshold: 100 },
        { ...ratio, resource: 'new', statIntervalMs: 1000, bucketCount: 3 },
        { ...slow, threshold: -0.1, statIntervalMs: 0, bucketCount: 0, cooldownMs: Number.POSITIVE_INFINITY },
      ],
    }),
  )
  expect(error.faults.map((fault) => fault.path).sort()).toEqual([
    'degrade[1].cooldownMs',
    'degrade[1].minReqests',
    'degrade[1].minRequestAmount',
    'degrade[1].statIntervalMs',
    'degrade[1].threshold',
    'degrade[3].bucketCount',
    'degrade[4].bucketCount',
    'degrade[4].cooldownMs',
    'degrade[4].statIntervalMs',
    'degrade[4].threshold',
  ])
  expect(error.message).toContain('orders')
  expect(error.message).toContain('new')
})

it.each([
  ['null', null],
  ['text', 'error-ratio'],
  ['a list', []],
  ['nothing', undefined],
])('F65 %s in place of a rule is a fault at its place in the list', async (_what, value) => {
  const error = await refused((s) => s.guard.loadDegradeRules([ratio, value as unknown as DegradeRuleInput]))
  expect(error.faults.length).toBeGreaterThan(0)
  for (const fault of error.faults) expect(fault.path).toMatch(/^degrade\[1\]/)
})

it('F65 a corrected list is taken after a refused one', async () => {
  const s = await inForce()
  ruleError(() => s.guard.loadDegradeRules([manyFaults]))
  expect(s.guard.loadDegradeRules([{ ...ratio, id: 'new' }])).toMatchObject({
    added: [{ resource: 'orders', rule: 'new' }],
  })
  expect(s.guard.rules().degrade).toMatchObject([{ resource: 'orders', id: 'new', threshold: 0.5 }])
})
