// A guard holds no timer and no other active resource, neither while it lives nor after dispose.
import { CircuitBreaker, type Clock, createGuard, type DegradeRuleInput } from 'leapguard'
import { expect, it } from 'vitest'

/** What keeps the event loop alive now. Only microtasks pass between two readings, so nothing else comes or goes. */
const active = (): string[] => process.getActiveResourcesInfo().sort()

const base = { resource: 'r', statIntervalMs: 1000, cooldownMs: 1000 } as const
const everyStrategy: readonly DegradeRuleInput[] = [
  { ...base, strategy: 'slow-call-ratio', threshold: 0.5, maxAllowedRtMs: 100 },
  { ...base, strategy: 'error-ratio', threshold: 0.5 },
  { ...base, strategy: 'error-count', threshold: 1 },
  { ...base, strategy: 'consecutive-errors', threshold: 1 },
]

it('F31 the list of active resources does show a timer', () => {
  const before = active()
  const interval = setInterval(() => {}, 1000) // real time: the measuring stick itself is measured
  const during = active()
  clearInterval(interval)
  expect(during).toEqual([...before, 'Timeout'].sort())
  expect(active()).toEqual(before)
})

it.each([
  ['no rules', []],
  ['a rule of every strategy', everyStrategy],
] as const)('F31 creating, calling and disposing a guard leaves no timer behind (%s)', async (_what, rules) => {
  const before = active()
  const guard = createGuard()
  guard.loadDegradeRules(rules)
  expect(await guard.entry('r', async () => 'value')).toBe('value')
  expect(guard.entrySync('r', () => 'value')).toBe('value')
  guard.enter('r').exit()
  guard.leave(guard.tryEnter('r'))
  expect(guard.stats('r').totals).toMatchObject({ passed: 4, succeeded: 4, running: 0 })
  expect(active()).toEqual(before)
  guard.dispose()
  expect(active()).toEqual(before)
})

it('F31 an open breaker, a refusal and a call in flight hold no timer either', async () => {
  const before = active()
  const guard = createGuard()
  guard.loadDegradeRules(everyStrategy)
  const running = guard.enter('r')
  const failing = guard.entry('r', async () => {
    throw new Error('down')
  })
  await expect(failing).rejects.toThrow('down')
  expect(guard.tryEnter('r')).toBe(-1)
  expect(active()).toEqual(before)
  guard.dispose()
  expect(active()).toEqual(before)
  running.exit()
  expect(active()).toEqual(before)
})

it('F31 a guard never asks its clock for a timer', async () => {
  let now = 0
  let timers = 0
  const clock: Clock = {
    now: () => now,
    setTimer: () => ++timers,
    clearTimer: () => {},
  }
  const guard = createGuard({ clock })
  guard.loadDegradeRules(everyStrategy)
  for (; now < 5000; now += 100) {
    await guard
      .entry('r', async () => {
        if (now < 2000) throw new Error('down')
      })
      .catch(() => {})
  }
  expect(guard.stats('r').rules.map((rule) => rule.state)).toEqual(['closed', 'closed', 'closed', 'closed'])
  expect(guard.stats('r').totals.blocked).toBeGreaterThan(0)
  guard.dispose()
  expect(timers).toBe(0)
})

it('F31 a CircuitBreaker used alone holds no timer', async () => {
  const before = active()
  const breaker = new CircuitBreaker({ failureThreshold: 1 })
  await expect(
    breaker.run(async () => {
      throw new Error('down')
    }),
  ).rejects.toThrow('down')
  expect(breaker.state).toBe('open')
  expect(active()).toEqual(before)
})
