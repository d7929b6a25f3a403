import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createGuard } from 'leapguard'
import { ManualClock } from 'leapguard/testing'
import { RULES, userNames } from './user-names.js'

test('the service fails, is left alone, and is taken back', async (t) => {
  const clock = new ManualClock()
  const guard = createGuard({ clock })
  guard.loadRules(RULES)
  let ill = true
  const fetchName = t.mock.fn(async () => (ill ? Promise.reject(new Error('503')) : 'Ada'))
  const nameOf = userNames(guard, fetchName)

  for (let i = 0; i < 25; i++) assert.equal(await nameOf('7'), 'somebody')
  assert.equal(fetchName.mock.callCount(), 20) // the breaker opened at the 20th

  ill = false
  clock.advance(5000)
  assert.equal(await nameOf('7'), 'Ada')
  assert.equal(guard.stats('users').rules[0]?.state, 'closed')
})
