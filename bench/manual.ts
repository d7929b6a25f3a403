// What do the two manual forms cost around an await: `enter` / `exit` with a handle, `tryEnter` / `leave` with a number?
import { type Case, pair } from './support/case.js'
import { ERROR_RULE, fetchUser, guardWith, NAME, RULE_SETS, TickClock } from './support/service.js'

async function raw(calls: number) {
  let sum = 0
  for (let i = 0; i < calls; i++) sum += await fetchUser()
  return sum
}

export function buildEnter(...setup: Parameters<typeof guardWith>) {
  const guard = guardWith(...setup)
  return {
    raw,
    async guarded(calls: number) {
      let sum = 0
      for (let i = 0; i < calls; i++) {
        const call = guard.enter(NAME)
        try {
          sum += await fetchUser()
          call.exit()
        } catch (error) {
          call.exit({ error })
          throw error
        }
      }
      return sum
    },
  }
}

export function buildTryEnter(...setup: Parameters<typeof guardWith>) {
  const guard = guardWith(...setup)
  return {
    raw,
    async guarded(calls: number) {
      let sum = 0
      for (let i = 0; i < calls; i++) {
        const permit = guard.tryEnter(NAME)
        if (permit < 0) continue
        try {
          sum += await fetchUser()
          guard.leave(permit)
        } catch (error) {
          guard.leave(permit, 'failure')
          throw error
        }
      }
      return sum
    },
  }
}

export const manualCases: readonly Case[] = [
  ...RULE_SETS.map(({ key, title, rules }) =>
    pair(`enter/${key}`, `enter/exit, ${title}`, 'await fn()', () => buildEnter(rules)),
  ),
  pair('enter/error-1-free-clock', 'enter/exit, one error-ratio rule, clock that costs nothing', 'await fn()', () =>
    buildEnter([ERROR_RULE], { clock: new TickClock(0.05) }),
  ),
  ...RULE_SETS.map(({ key, title, rules }) =>
    pair(`try-enter/${key}`, `tryEnter/leave, ${title}`, 'await fn()', () => buildTryEnter(rules)),
  ),
  pair(
    'try-enter/error-1-free-clock',
    'tryEnter/leave, one error-ratio rule, clock that costs nothing',
    'await fn()',
    () => buildTryEnter([ERROR_RULE], { clock: new TickClock(0.05) }),
  ),
]
