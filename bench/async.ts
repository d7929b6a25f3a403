// What does `await guard.entry(name, fn)` cost beside `await fn()`?
import { type Case, pair } from './support/case.js'
import { ERROR_RULE, fetchUser, guardWith, NAME, RULE_SETS, SLOW_RULE, TickClock } from './support/service.js'

export function buildEntry(...setup: Parameters<typeof guardWith>) {
  const guard = guardWith(...setup)
  return {
    async raw(calls: number) {
      let sum = 0
      for (let i = 0; i < calls; i++) sum += await fetchUser()
      return sum
    },
    async guarded(calls: number) {
      let sum = 0
      for (let i = 0; i < calls; i++) sum += await guard.entry(NAME, fetchUser)
      return sum
    },
  }
}

export const asyncCases: readonly Case[] = [
  ...RULE_SETS.map(({ key, title, rules }) =>
    pair(`async/${key}`, `entry, ${title}`, 'await fn()', () => buildEntry(rules)),
  ),
  pair('async/error-1-free-clock', 'entry, one error-ratio rule, clock that costs nothing', 'await fn()', () =>
    buildEntry([ERROR_RULE], { clock: new TickClock(0.05) }),
  ),
  pair('async/slow-1-free-clock', 'entry, one slow-call rule, clock that costs nothing', 'await fn()', () =>
    buildEntry([SLOW_RULE], { clock: new TickClock(0.05) }),
  ),
]
