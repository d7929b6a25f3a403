// How many calls it takes before a rule is judged, and that reaching the threshold trips.
import { expect, it } from 'vitest'
import { type CaseRule, ENTRANCES, Scenario } from '../support/scenario.js'

const HOUR = 3_600_000

it.each(ENTRANCES)('F23 a first failure, or the first after a quiet hour, does not open (%s)', async (entrance) => {
  const s = new Scenario(entrance, [
    { strategy: 'error-ratio', threshold: 0.5, minRequestAmount: 10, statIntervalMs: 20_000 },
  ])
  await s.calls(1, 'fail')
  expect(s.rule()).toMatchObject({ state: 'closed', total: 1, bad: 1 })

  s.clock.set(HOUR)
  expect(s.rule()).toMatchObject({ state: 'closed', total: 0, bad: 0 })
  await s.calls(1, 'fail')
  expect(s.rule()).toMatchObject({ state: 'closed', total: 1, bad: 1 })
  for (let fine = 1; fine <= 8; fine++) {
    await s.calls(1, 'ok')
    expect(s.rule()).toMatchObject({ state: 'closed', total: 1 + fine, bad: 1 })
  }

  expect(s.states).toEqual([])
  expect(s.totals()).toMatchObject({ passed: 10, failed: 2, succeeded: 8, blocked: 0 })
})

it.each(ENTRANCES)(
  'F23 below ten calls nothing opens even if all failed, the tenth is judged (%s)',
  async (entrance) => {
    const s = new Scenario(entrance, [
      { strategy: 'error-ratio', threshold: 0.5, minRequestAmount: 10, statIntervalMs: 20_000 },
    ])
    await s.calls(9, 'fail')
    expect(s.rule()).toMatchObject({ state: 'closed', total: 9, bad: 9 })
    await s.calls(1, 'ok')
    expect(s.rule().state).toBe('open')
    expect(s.states).toMatchObject([{ value: 0.9, threshold: 0.5, total: 10 }])
  },
)

it.each(ENTRANCES)('F23 a ratio rule that names no minimum waits for twenty calls (%s)', async (entrance) => {
  const s = new Scenario(entrance, [
    { strategy: 'error-ratio', threshold: 0.5 },
    { strategy: 'slow-call-ratio', threshold: 0.5, maxAllowedRtMs: 10_000 },
  ])
  expect(s.guard.rules().degrade.map((rule) => rule.minRequestAmount)).toEqual([20, 20])
  for (let failed = 1; failed <= 19; failed++) {
    await s.calls(1, 'fail')
    expect(s.rule()).toMatchObject({ state: 'closed', total: failed, bad: failed })
  }
  await s.calls(1, 'fail')
  expect(s.rule().state).toBe('open')
})

it.each(ENTRANCES)('F24 failures with successes between them are not in a row (%s)', async (entrance) => {
  const s = new Scenario(entrance, [{ strategy: 'consecutive-errors', threshold: 3 }])
  const runs: number[] = []
  for (const ending of ['fail', 'fail', 'ok', 'fail', 'fail', 'ok', 'fail'] as const) {
    await s.calls(1, ending)
    expect(s.rule().state).toBe('closed')
    runs.push(s.rule().bad)
  }
  expect(runs).toEqual([1, 2, 0, 1, 2, 0, 1])
  expect(s.states).toEqual([])

  await s.calls(1, 'fail')
  expect(s.rule().state).toBe('closed')
  await s.calls(1, 'fail')
  expect(s.rule().state).toBe('open')
})

it.each(ENTRANCES)('F25 a slow ratio of 1.0 opens at the fifth slow call of five (%s)', async (entrance) => {
  const s = new Scenario(entrance, [
    { strategy: 'slow-call-ratio', maxAllowedRtMs: 500, threshold: 1.0, minRequestAmount: 5, cooldownMs: 10_000 },
  ])
  for (let slow = 1; slow <= 4; slow++) {
    await s.calls(1, 'ok', 600)
    expect(s.rule()).toMatchObject({ state: 'closed', total: slow, bad: slow })
  }
  await s.calls(1, 'ok', 600)
  expect(s.rule()).toMatchObject({ state: 'open', openedAt: 3000, retryAfterMs: 10_000 })
  expect(s.states).toMatchObject([{ at: 3000, value: 1, threshold: 1, total: 5, reason: 'threshold' }])
  expect(await s.call('ok', 600)).toBe('refused')
  expect(s.totals()).toMatchObject({ passed: 5, slow: 5, succeeded: 5, blocked: 1 })
})

it.each(ENTRANCES)('F25 one fast call of five keeps a slow ratio of 1.0 closed (%s)', async (entrance) => {
  const s = new Scenario(entrance, [
    { strategy: 'slow-call-ratio', maxAllowedRtMs: 500, threshold: 1.0, minRequestAmount: 5 },
  ])
  await s.calls(1, 'ok', 500)
  await s.calls(4, 'ok', 501)
  expect(s.rule()).toMatchObject({ state: 'closed', total: 5, bad: 4 })
})

const reached: readonly (readonly [string, CaseRule, number, number])[] = [
  ['an error ratio of 1.0', { strategy: 'error-ratio', threshold: 1, minRequestAmount: 5 }, 0, 5],
  ['an error ratio of 0.5', { strategy: 'error-ratio', threshold: 0.5, minRequestAmount: 10 }, 5, 5],
  // 0.55 * 100 is 55.00000000000001: only a division finds this tie.
  ['an error ratio of 0.55', { strategy: 'error-ratio', threshold: 0.55, minRequestAmount: 100 }, 45, 55],
  ['an error count of 5', { strategy: 'error-count', threshold: 5 }, 3, 5],
  ['5 errors in a row', { strategy: 'consecutive-errors', threshold: 5 }, 3, 5],
]

it.each(
  reached.flatMap(([what, rule, fine, failing]) =>
    ENTRANCES.map((entrance) => [what, entrance, rule, fine, failing] as const),
  ),
)('F25 reaching %s exactly trips (%s)', async (_what, entrance, rule, fine, failing) => {
  const s = new Scenario(entrance, [rule])
  await s.calls(fine, 'ok')
  await s.calls(failing - 1, 'fail')
  expect(s.rule().state).toBe('closed')
  await s.calls(1, 'fail')
  expect(s.rule().state).toBe('open')
  expect(s.states).toHaveLength(1)
  expect(s.states[0]?.value).toBe(rule.threshold)
})

it.each(ENTRANCES)('F25 with comparison above, only passing the threshold trips (%s)', async (entrance) => {
  const s = new Scenario(entrance, [{ strategy: 'error-count', threshold: 5, comparison: 'above' }])
  await s.calls(5, 'fail')
  expect(s.rule()).toMatchObject({ state: 'closed', total: 5, bad: 5 })
  await s.calls(1, 'fail')
  expect(s.rule().state).toBe('open')
})
