// Does a window cost more with more buckets: alone, and inside a guard?
import { CountingWindow } from 'leapguard'
import { type Case, pair } from './support/case.js'
import { guardWith, NAME, TickClock } from './support/service.js'

const INTERVAL_MS = 60_000
/** One call a millisecond: a window of 60 s holds 60,000 calls, and of 600 buckets one ends every 100 calls. */
const STEP_MS = 1

function buildRing(bucketCount: number) {
  const window = new CountingWindow(INTERVAL_MS, bucketCount)
  const clocks = new Float64Array(2).fill(1_800_000_000_000)
  return {
    raw(calls: number) {
      const start = clocks[0] as number
      let sum = 0
      for (let i = 1; i <= calls; i++) {
        const now = start + i * STEP_MS
        const bad = (i & 15) === 0 ? 1 : 0
        if (now > bad) sum++
      }
      clocks[0] = start + calls * STEP_MS
      return sum
    },
    guarded(calls: number) {
      const start = clocks[1] as number
      let tripped = 0
      for (let i = 1; i <= calls; i++) {
        const now = start + i * STEP_MS
        const bad = (i & 15) === 0 ? 1 : 0
        window.add(now, bad)
        if (window.total >= 20 && window.bad / window.total >= 0.5) tripped++
      }
      clocks[1] = start + calls * STEP_MS
      return tripped + window.total
    },
  }
}

/** Both sides are guards and run the same code; they differ in the bucket count only. */
export function buildGuards() {
  const rule = { resource: NAME, strategy: 'error-ratio', threshold: 0.5, statIntervalMs: INTERVAL_MS } as const
  const side = (bucketCount: number) => {
    const guard = guardWith([{ ...rule, bucketCount }], { clock: new TickClock(STEP_MS / 2) })
    return (calls: number) => {
      let sum = 0
      for (let i = 0; i < calls; i++) {
        const permit = guard.tryEnter(NAME)
        sum += permit
        guard.leave(permit)
      }
      return sum
    }
  }
  return { raw: side(10), guarded: side(600) }
}

export const ringCases: readonly Case[] = [
  ...[10, 60, 600].map((buckets) =>
    pair(`ring/${buckets}`, `record and decide, ${buckets} buckets`, 'the loop around it', () => buildRing(buckets)),
  ),
  pair('ring/guard-600-vs-10', 'tryEnter/leave, 600 buckets', 'the same, 10 buckets', buildGuards),
]
