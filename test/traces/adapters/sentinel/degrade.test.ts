// What the recordings at hand never do, but others may: reloads that change a field without a counterpart here.
import { describe, expect, test } from 'vitest'
import { replay } from '../../runner.js'
import type { Step } from '../../types.js'
import { type SentinelDegradeRule, toDegradeRules } from './degrade-rule.js'

const AT = 1_700_000_000_500
const RATIO: SentinelDegradeRule = {
  resource: 'r',
  limitApp: 'default',
  grade: 1,
  count: 0.5,
  timeWindow: 2,
  minRequestAmount: 1,
  slowRatioThreshold: 1,
  statIntervalMs: 1000,
}
const SLOW: SentinelDegradeRule = { ...RATIO, grade: 0, count: 10.4, slowRatioThreshold: 0.5 }

/** One bad call of 20 ms opens the breaker; then the rule is loaded once more. */
function reloadedAs(before: SentinelDegradeRule, after: SentinelDegradeRule, state: string): string | undefined {
  const steps: Step[] = [
    [AT, 'enter', 0, true, 'CLOSED'],
    [AT + 20, 'exit', 0, 20, true, 'OPEN'],
    [AT + 20, 'rule', after, state],
    [AT + 20, 'enter', 1, state === 'CLOSED', state],
  ]
  const config = { ...before }
  return replay({ source: 'alibaba/Sentinel', kind: 'degrade', name: '', config, steps, place: '' }).difference
}

describe('a reloaded rule', () => {
  test('that is equal in every field keeps its breaker', () => {
    expect(reloadedAs(RATIO, { ...RATIO }, 'OPEN')).toBeUndefined()
    expect(reloadedAs(SLOW, { ...SLOW }, 'OPEN')).toBeUndefined()
  })

  test.each<[string, SentinelDegradeRule, SentinelDegradeRule]>([
    ['the threshold', RATIO, { ...RATIO, count: 0.6 }],
    ['the recovery time', RATIO, { ...RATIO, timeWindow: 3 }],
    ['the grade', RATIO, SLOW],
    ['the slow ratio, which an error ratio ignores', RATIO, { ...RATIO, slowRatioThreshold: 0.5 }],
    ['the fraction of the slow limit, which is rounded away', SLOW, { ...SLOW, count: 10 }],
    ['the caller it applies to', SLOW, { ...SLOW, limitApp: 'other' }],
  ])('that differs in %s starts a new breaker', (_what, before, after) => {
    expect(reloadedAs(before, after, 'CLOSED')).toBeUndefined()
  })
})

describe('translated rules', () => {
  test('round the slow limit half up and turn seconds into milliseconds', () => {
    const limits = [10.4, 10.5, 0].map((count) => toDegradeRules([{ ...SLOW, count }])[0]?.maxAllowedRtMs)

    expect(limits).toEqual([10, 11, 0])
    expect(toDegradeRules([SLOW])[0]?.cooldownMs).toBe(2000)
  })

  test('have ids of their own even when equal', () => {
    const ids = toDegradeRules([RATIO, RATIO, SLOW]).map((rule) => rule.id)

    expect(new Set(ids).size).toBe(3)
  })
})
