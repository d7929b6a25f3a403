// How often does a rule trip on a service that is as it always is, if the threshold is near its normal error rate?
import { atLeast } from './chances.js'
import { seeded } from './random.js'
import { type Rule, Service } from './service.js'
import { number, percent, type Table } from './table.js'

/** 5 calls a second for 8 hours, of which 5 % fail. */
export const TRAFFIC = { gapMs: 200, forMs: 8 * 3_600_000, errorRate: 0.05 }
export const THRESHOLDS = [0.05, 0.1, 0.15, 0.2, 0.3]
const MINIMUM = 20

function ruleOf(threshold: number): Rule {
  return { strategy: 'error-ratio', threshold, minRequestAmount: MINIMUM }
}

/** Chance that the first 20 calls after a close trip it. */
export function chanceFresh(threshold: number): number {
  return atLeast(Math.ceil(threshold * MINIMUM), MINIMUM, TRAFFIC.errorRate)
}

/** The same, counted: fresh windows of 20 calls, far apart. */
export function countFresh(threshold: number, windows: number): number {
  const random = seeded(7)
  let tripped = 0
  for (let i = 0; i < windows; i++) {
    const service = new Service(ruleOf(threshold))
    for (let j = 0; j < MINIMUM; j++) service.call(random() < TRAFFIC.errorRate)
    tripped += service.trips
  }
  return tripped / windows
}

export function normalErrors(): Table {
  return {
    name: 'normal-errors',
    columns: ['`threshold`', 'trips in 8 hours', 'calls refused for nothing', 'chance that 20 calls trip it'],
    rows: THRESHOLDS.map((threshold) => {
      const random = seeded(1)
      const service = new Service(ruleOf(threshold))
      for (let at = 0; at < TRAFFIC.forMs; at += TRAFFIC.gapMs) {
        service.clock.set(at)
        service.call(random() < TRAFFIC.errorRate)
      }
      return [number(threshold), number(service.trips), percent(service.refusedShare), percent(chanceFresh(threshold))]
    }),
  }
}
