import { createGuard } from 'leapguard'
import { ManualClock } from 'leapguard/testing'
import { expect, it, vi } from 'vitest'
import { type FetchName, RULES, userNames } from './user-names.js'

function setUp() {
  const clock = new ManualClock()
  const guard = createGuard({ clock })
  guard.loadRules(RULES)
  const fetchName = vi.fn<FetchName>(async () => 'Ada')
  const states: string[] = []
  guard.on('state', ({ rule, to, reason }) => states.push(`${rule.strategy}: ${to} (${reason})`))
  return { clock, guard, fetchName, nameOf: userNames(guard, fetchName), states }
}

it('leaves the service alone once half of 20 calls have failed', async () => {
  const { fetchName, nameOf, states } = setUp()
  for (let i = 0; i < 10; i++) expect(await nameOf('7')).toBe('Ada')
  fetchName.mockRejectedValue(new Error('503'))
  for (let i = 0; i < 9; i++) await nameOf('7')
  expect(states).toEqual([]) // 9 of 19
  await nameOf('7')
  expect(states).toEqual(['error-ratio: open (threshold)'])

  expect(await nameOf('7')).toBe('somebody')
  expect(fetchName).toHaveBeenCalledTimes(20) // the last call did not reach the service
})

it('tries one call when the cooldown is over, and goes on if it is good', async () => {
  const { clock, fetchName, nameOf, states } = setUp()
  fetchName.mockRejectedValue(new Error('503'))
  for (let i = 0; i < 20; i++) await nameOf('7')

  clock.advance(4999)
  expect(await nameOf('7')).toBe('somebody')
  expect(fetchName).toHaveBeenCalledTimes(20)

  clock.advance(1)
  expect(await nameOf('7')).toBe('somebody') // the probe: it is called, and fails
  expect(fetchName).toHaveBeenCalledTimes(21)

  clock.advance(5000)
  fetchName.mockResolvedValue('Ada')
  expect(await nameOf('7')).toBe('Ada')
  expect(states).toEqual([
    'error-ratio: open (threshold)',
    'error-ratio: half-open (cooldown-elapsed)',
    'error-ratio: open (probe-failed)',
    'error-ratio: half-open (cooldown-elapsed)',
    'error-ratio: closed (probe-succeeded)',
  ])
})

it('stops calling a service that has become slow', async () => {
  const { clock, fetchName, nameOf, states } = setUp()
  const answers: ((name: string) => void)[] = []
  fetchName.mockImplementation(() => new Promise((resolve) => answers.push(resolve)))
  const calls = Array.from({ length: 20 }, () => nameOf('7')) // all at the same time
  clock.advance(801)
  for (const answer of answers) answer('Ada')

  expect(await Promise.all(calls)).toEqual(Array(20).fill('Ada')) // slow, but answered
  expect(states).toEqual(['slow-call-ratio: open (threshold)'])
})

it('stops calling a service that hangs', async () => {
  const { clock, fetchName, nameOf, states } = setUp()
  fetchName.mockReturnValue(new Promise(() => {})) // never settles
  for (let i = 0; i < 20; i++) void nameOf('7') // not awaited: it would wait for ever

  clock.advance(800)
  void nameOf('7') // at the limit, which is not past it
  expect(states).toEqual([])

  clock.advance(100) // an eighth of the limit later at the latest
  expect(await nameOf('7')).toBe('somebody')
  expect(states).toEqual(['slow-call-ratio: open (threshold)'])
  expect(fetchName).toHaveBeenCalledTimes(21)
})
