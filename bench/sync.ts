// What does `guard.entrySync(name, fn)` cost beside `fn()`? Read nanoseconds over the bare call: a bare call is next to nothing.
import { type Case, pair } from './support/case.js'
import { ERROR_RULE, guardWith, NAME, RULE_SETS, readUser, TickClock } from './support/service.js'

export function buildSync(...setup: Parameters<typeof guardWith>) {
  const guard = guardWith(...setup)
  return {
    raw(calls: number) {
      let sum = 0
      for (let i = 0; i < calls; i++) sum += readUser()
      return sum
    },
    guarded(calls: number) {
      let sum = 0
      for (let i = 0; i < calls; i++) sum += guard.entrySync(NAME, readUser)
      return sum
    },
  }
}

export const syncCases: readonly Case[] = [
  ...RULE_SETS.map(({ key, title, rules }) =>
    pair(`sync/${key}`, `entrySync, ${title}`, 'fn()', () => buildSync(rules)),
  ),
  pair('sync/error-1-free-clock', 'entrySync, one error-ratio rule, clock that costs nothing', 'fn()', () =>
    buildSync([ERROR_RULE], { clock: new TickClock(0.05) }),
  ),
]
