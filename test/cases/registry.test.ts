// State belongs to the name within a guard, wherever in the program the call is made.
import { createGuard, RuleError } from 'leapguard'
import { ManualClock } from 'leapguard/testing'
import { expect, it } from 'vitest'
import { ENTRANCES, type Entrance, FAILURE, Scenario } from '../support/scenario.js'

const pay = { resource: 'pay', id: 'errors', strategy: 'error-ratio', threshold: 0.5, minRequestAmount: 5 } as const

/** A new handler with functions of its own, as a request handler would make them. */
const handler = (s: Scenario, entrance: Entrance) => () => s.call('fail', 0, entrance, 'pay')

it.each(ENTRANCES)(
  'F38 ten handlers share the breaker of one name: it opens at the fifth failure (%s)',
  async (entrance) => {
    const s = new Scenario(entrance, [pay])
    const verdicts: string[] = []
    for (let i = 1; i <= 10; i++) {
      verdicts.push(await handler(s, entrance)())
      expect(s.rule(0, 'pay').state).toBe(i < 5 ? 'closed' : 'open')
    }
    expect(verdicts).toEqual([...Array(5).fill('fail'), ...Array(5).fill('refused')])
    expect(s.guard.resources()).toEqual(['pay'])
    expect(s.totals('pay')).toMatchObject({ passed: 5, failed: 5, blocked: 5 })
  },
)

it('F38 handlers that use different entrances share it too', async () => {
  const s = new Scenario('entry', [pay])
  const verdicts: string[] = []
  for (let i = 0; i < 10; i++) verdicts.push(await handler(s, ENTRANCES[i % 4] ?? 'entry')())
  expect(verdicts).toEqual([...Array(5).fill('fail'), ...Array(5).fill('refused')])
  expect(s.states).toMatchObject([{ resource: 'pay', to: 'open', value: 1, total: 5 }])
})

it('F38 functions wrapped anew inside each handler share it too', async () => {
  const s = new Scenario('entry', [pay])
  let ran = 0
  for (let i = 0; i < 10; i++) {
    const charge = s.guard.wrap('pay', async () => {
      ran++
      throw FAILURE
    })
    await charge().catch(() => {})
  }
  expect(ran).toBe(5)
  expect(s.totals('pay')).toMatchObject({ passed: 5, failed: 5, blocked: 5 })
})

it('F38 the same name in another guard is another breaker', async () => {
  const s = new Scenario('entry', [pay])
  for (let i = 0; i < 5; i++) await handler(s, 'entry')()
  const other = createGuard({ clock: new ManualClock(0) })
  other.loadDegradeRules([pay])
  expect(s.rule(0, 'pay').state).toBe('open')
  expect(other.stats('pay').rules[0]).toMatchObject({ state: 'closed', total: 0, bad: 0 })
})

it('F38 another rule for the same name replaces the first and says so', async () => {
  const s = new Scenario('entry', [pay])
  for (let i = 0; i < 4; i++) await handler(s, 'entry')()
  const report = s.guard.setRulesFor('pay', { degrade: [{ ...pay, threshold: 0.8 }] })
  expect(report).toMatchObject({ added: [], removed: [], kept: [], updated: [{ resource: 'pay', rule: 'errors' }] })
  expect(s.guard.rules().degrade).toMatchObject([{ resource: 'pay', id: 'errors', threshold: 0.8 }])
  expect(s.rule(0, 'pay')).toMatchObject({ state: 'closed', total: 4, bad: 4 })
})

it('F38 two rules with one id for the same name are refused together', () => {
  const s = new Scenario('entry', [pay])
  expect(() => s.guard.loadDegradeRules([pay, { ...pay, threshold: 0.8 }])).toThrow(RuleError)
  expect(s.guard.rules().degrade).toMatchObject([{ resource: 'pay', threshold: 0.5 }])
})

it('F38 another configuration of the same name replaces the first, field by field', async () => {
  const s = new Scenario('entry', [pay])
  s.guard.configure('pay', { ignore: (error) => error === FAILURE, fallbacks: [() => 'first'] })
  s.guard.configure('pay', { fallbacks: [() => 'second'], fallbackOnIgnored: true })
  const failing = async () => {
    throw FAILURE
  }
  expect(await s.guard.entry<unknown>('pay', failing)).toBe('second')
  expect(s.totals('pay')).toMatchObject({ ignored: 1, failed: 0 })

  s.guard.configure('pay', { ignore: undefined, fallbacks: undefined })
  await expect(s.guard.entry('pay', failing)).rejects.toBe(FAILURE)
  expect(s.totals('pay')).toMatchObject({ ignored: 1, failed: 1 })
})
