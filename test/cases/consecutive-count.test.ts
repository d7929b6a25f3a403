// The count of failures in a row: when it starts anew, and that it is compared with "at least".
import { expect, it } from 'vitest'
import { ENTRANCES, Scenario } from '../support/scenario.js'

const inARow = { id: 'row', strategy: 'consecutive-errors', threshold: 5, cooldownMs: 30_000 } as const

it.each(ENTRANCES)(
  'F22 a resource that stays ill is put aside again after each failed probe (%s)',
  async (entrance) => {
    const s = new Scenario(entrance, [inARow])
    for (let failed = 0; failed < 5; failed++) {
      expect(s.rule()).toMatchObject({ state: 'closed', total: failed, bad: failed })
      expect(await s.call('fail')).toBe('fail')
    }
    expect(s.rule()).toMatchObject({ state: 'open', openedAt: 0, total: 0, bad: 0 })

    const probes: number[] = []
    for (let second = 31; second <= 200; second++) {
      s.clock.set(second * 1000)
      if ((await s.call('fail')) === 'fail') probes.push(second)
      expect(s.rule()).toMatchObject({ state: 'open', openedAt: (probes.at(-1) ?? 0) * 1000, total: 0, bad: 0 })
    }

    expect(probes).toEqual([31, 61, 91, 121, 151, 181])
    expect(s.totals()).toMatchObject({ passed: 11, failed: 11, succeeded: 0, blocked: 164, running: 0 })
    expect(s.moves()).toEqual([
      '0 closed > open: threshold',
      ...probes.flatMap((second) => [
        `${second}000 open > half-open: cooldown-elapsed`,
        `${second}000 half-open > open: probe-failed`,
      ]),
    ])
    expect(s.states[0]).toMatchObject({ value: 5, threshold: 5, total: 5 })
  },
)

it.each(ENTRANCES)('F22 after its return the full five failures in a row trip again (%s)', async (entrance) => {
  const s = new Scenario(entrance, [inARow])
  await s.calls(5, 'fail')
  s.clock.set(31_000)
  await s.calls(1, 'fail')
  s.clock.set(61_000)
  await s.calls(1, 'ok')
  expect(s.rule()).toMatchObject({ state: 'closed', total: 0, bad: 0 })

  await s.calls(4, 'fail')
  expect(s.rule()).toMatchObject({ state: 'closed', total: 4, bad: 4 })
  await s.calls(1, 'fail')
  expect(s.rule()).toMatchObject({ state: 'open', openedAt: 61_000, total: 0, bad: 0 })
  expect(await s.call('fail')).toBe('refused')
})

it.each(ENTRANCES)('F22 a count already past a lowered limit trips at the next failure (%s)', async (entrance) => {
  const s = new Scenario(entrance, [inARow])
  await s.calls(4, 'fail')
  s.guard.loadDegradeRules([{ ...inARow, resource: 'r', threshold: 3 }])
  expect(s.rule()).toMatchObject({ state: 'closed', total: 4, bad: 4 })

  await s.calls(1, 'fail')

  expect(s.rule().state).toBe('open')
  expect(s.states).toMatchObject([{ to: 'open', value: 5, threshold: 3, total: 5 }])
})
