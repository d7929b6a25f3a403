// What does the guard add to a call that fails, and does it matter how much the window holds?
import { setImmediate as turn } from 'node:timers/promises'
import { type Case, pair } from './support/case.js'
import { failUser, guardWith, NAME } from './support/service.js'

/**
 * A rule that sees every failure and never has enough of them to open. Each loop ends with a turn of the event loop: Node keeps a list of
 * rejections that were handled a moment late until such a turn, and in a process that never makes one that list would be measured.
 */
export function buildFailure(bucketCount: number, held: number) {
  const rule = { resource: NAME, strategy: 'error-ratio', threshold: 0.5, minRequestAmount: 2 ** 40 } as const
  const guard = guardWith([{ ...rule, statIntervalMs: 600_000, bucketCount }])
  for (let i = 0; i < held; i++) {
    const permit = guard.tryEnter(NAME)
    guard.leave(permit, 'failure')
  }
  return {
    async raw(calls: number) {
      let failed = 0
      for (let i = 0; i < calls; i++) {
        try {
          await failUser()
        } catch {
          failed++
        }
      }
      await turn()
      return failed
    },
    async guarded(calls: number) {
      let failed = 0
      for (let i = 0; i < calls; i++) {
        try {
          await guard.entry(NAME, failUser)
        } catch {
          failed++
        }
      }
      await turn()
      return failed
    },
  }
}

export const failureCases: readonly Case[] = [
  pair('failure/small-window', 'failing entry, 10 buckets', 'caught rejection', () => buildFailure(10, 0)),
  pair('failure/full-window', 'failing entry, 600 buckets, a million calls held', 'caught rejection', () =>
    buildFailure(600, 1_000_000),
  ),
]
