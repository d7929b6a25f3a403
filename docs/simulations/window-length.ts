// How long until a rule notices that a dependency is down, by the traffic and the length of its window.
import { type Rule, Service } from './service.js'
import { duration, type Table } from './table.js'

/** After an hour in which all was well, every call fails. Given up after another hour. */
const HOUR_MS = 3_600_000
export const GAPS = [100, 1000, 5000, 30_000]
export const WINDOWS = [10_000, 60_000, 600_000]

/** Time from the first failure to the opening; `undefined` if it does not open within an hour. */
export function noticedAfter(rule: Rule, gapMs: number): number | undefined {
  const service = new Service(rule)
  for (let at = 0; at < 2 * HOUR_MS; at += gapMs) {
    service.clock.set(at)
    service.call(at >= HOUR_MS)
    if (service.trips > 0) return at - HOUR_MS
  }
  return undefined
}

export function ratioOver(statIntervalMs: number): Rule {
  return { strategy: 'error-ratio', threshold: 0.5, statIntervalMs }
}

export function windowLength(): Table {
  const rules: readonly (readonly [string, Rule])[] = [
    ...WINDOWS.map((ms) => [`window of ${duration(ms)}`, ratioOver(ms)] as const),
    ['last 20 calls', { strategy: 'error-ratio', threshold: 0.5, statCallCount: 20 }],
    ['5 errors in a row', { strategy: 'consecutive-errors', threshold: 5 }],
  ]
  return {
    name: 'window-length',
    columns: ['a call every', ...rules.map(([name]) => name)],
    rows: GAPS.map((gapMs) => [
      duration(gapMs),
      ...rules.map(([, rule]) => {
        const ms = noticedAfter(rule, gapMs)
        return ms === undefined ? 'never' : duration(ms)
      }),
    ]),
  }
}
