// Where the counts live: with the route, with each user, or with each request.
import { createGuard } from 'leapguard'
import { ManualClock } from 'leapguard/testing'
import { seeded } from './random.js'
import { number, type Table } from './table.js'

/** 2,000 requests of 500 users, 20 a second; the service behind them is down. */
const REQUESTS = { count: 2000, users: 500, gapMs: 50 }

interface Result {
  reached: number
  names: number
}

function simulate(nameOf: (user: number) => string, guardPerRequest: boolean): Result {
  const clock = new ManualClock()
  const random = seeded(13)
  const newGuard = () => {
    const guard = createGuard({ clock })
    guard.loadRules({ degrade: [{ match: 'default', strategy: 'error-ratio', threshold: 0.5 }] })
    return guard
  }
  let guard = newGuard()
  let reached = 0
  for (let i = 0; i < REQUESTS.count; i++) {
    if (guardPerRequest) guard = newGuard()
    const permit = guard.tryEnter(nameOf(Math.floor(random() * REQUESTS.users)))
    if (permit >= 0) {
      reached++
      guard.leave(permit, 'failure')
    }
    clock.advance(REQUESTS.gapMs)
  }
  return { reached, names: guard.resources().length }
}

export function names(): Table {
  const rows: readonly (readonly [string, Result])[] = [
    ['a guard per request', simulate(() => 'GET /users/:id', true)],
    ['a name per user', simulate((user) => `GET /users/${user}`, false)],
    ['one name, one guard', simulate(() => 'GET /users/:id', false)],
  ]
  return {
    name: 'names',
    columns: ['state is kept by', 'names', 'calls into the outage, of 2,000'],
    rows: rows.map(([name, result]) => [name, number(result.names), number(result.reached)]),
  }
}
