// What does it cost to record a response time, to keep the statistics window, and to have a guard keep it?
import { LatencyHistogram, MetricWindow } from 'leapguard'
import { type Case, type Pair, pair } from './support/case.js'
import { ERROR_RULE, guardWith, NAME, TickClock } from './support/service.js'

/** Response times from a fraction of a millisecond to seconds, out of order, so that no branch can be guessed. */
const TIMES = Float64Array.from({ length: 1024 }, (_, i) => 2 ** (((i * 389) % 1024) / 64 - 3))
/** One call a millisecond: a window of 10 s turns a bucket every 1,000 calls. */
const STEP_MS = 1

/** Both sides read a time and the clock; the guarded one hands them on. */
function recording(record: (now: number, ms: number) => void, result: () => number): Pair {
  const clocks = new Float64Array(2).fill(1_800_000_000_000)
  return {
    raw(calls: number) {
      const start = clocks[0] as number
      let sum = 0
      for (let i = 0; i < calls; i++) sum += (TIMES[i & 1023] as number) + start + i * STEP_MS
      clocks[0] = start + calls * STEP_MS
      return sum
    },
    guarded(calls: number) {
      const start = clocks[1] as number
      for (let i = 0; i < calls; i++) record(start + i * STEP_MS, TIMES[i & 1023] as number)
      clocks[1] = start + calls * STEP_MS
      return result()
    },
  }
}

function buildHistogram(): Pair {
  const histogram = new LatencyHistogram()
  return recording(
    (_now, ms) => histogram.record(ms),
    () => histogram.count,
  )
}

function buildWindow(percentiles: boolean): Pair {
  const window = new MetricWindow({ percentiles })
  return recording(
    (now, ms) => window.addSucceeded(now, ms),
    () => window.byteLength,
  )
}

/** Both sides are guards and run the same code; one keeps statistics. */
function buildGuards(clock: () => object): Pair {
  const side = (statistics: boolean) => {
    const guard = guardWith([ERROR_RULE], { ...clock(), statistics })
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
  return { raw: side(false), guarded: side(true) }
}

export const statisticsCases: readonly Case[] = [
  pair('statistics/histogram', 'LatencyHistogram.record', 'the loop around it', buildHistogram),
  pair('statistics/window', 'MetricWindow.addSucceeded', 'the loop around it', () => buildWindow(true)),
  pair('statistics/window-bare', 'MetricWindow.addSucceeded, no percentiles', 'the loop around it', () =>
    buildWindow(false),
  ),
  pair('statistics/guard', 'tryEnter/leave with statistics', 'the same without', () => buildGuards(() => ({}))),
  pair(
    'statistics/guard-free-clock',
    'tryEnter/leave with statistics, clock that costs nothing',
    'the same without',
    () => buildGuards(() => ({ clock: new TickClock(STEP_MS / 2) })),
  ),
]
