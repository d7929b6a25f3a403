// How often does a rule of 50 % trip on a healthy service, if few calls are enough to judge?
import { fromFresh } from './chances.js'
import { seeded } from './random.js'
import { Service } from './service.js'
import { number, percent, type Table } from './table.js'

/** A job runs once a minute and makes 20 calls; between two runs the window is empty. 2 % of the calls fail. */
export const JOB = { calls: 20, everyMs: 60_000, errorRate: 0.02 }
export const MINIMA = [1, 2, 5, 10, 20]
export const DAYS = 10
const RUNS_PER_DAY = 86_400_000 / JOB.everyMs
const THRESHOLD = 0.5

export function simulate(minimum: number): Service {
  const random = seeded(minimum)
  const service = new Service({ strategy: 'error-ratio', threshold: THRESHOLD, minRequestAmount: minimum })
  for (let run = 0; run < DAYS * RUNS_PER_DAY; run++) {
    for (let i = 0; i < JOB.calls; i++) service.call(random() < JOB.errorRate)
    service.clock.advance(JOB.everyMs)
  }
  return service
}

/** Trips a day. A run that finds the breaker open begins with a probe, and goes on with a fresh window if that is good. */
export function expected(minimum: number): number {
  const { calls, errorRate } = JOB
  const rule = { threshold: THRESHOLD, minimum }
  const closed = fromFresh(rule, calls, errorRate).opens
  const afterProbe = (1 - errorRate) * fromFresh(rule, calls - 1, errorRate).opens
  const shareOpen = closed / (1 + closed - errorRate - afterProbe)
  return RUNS_PER_DAY * ((1 - shareOpen) * closed + shareOpen * afterProbe)
}

export function minimumVolume(): Table {
  return {
    name: 'minimum-volume',
    columns: ['`minRequestAmount`', 'trips a day', 'by formula', 'calls refused for nothing'],
    rows: MINIMA.map((minimum) => {
      const service = simulate(minimum)
      return [number(minimum), number(service.trips / DAYS), number(expected(minimum)), percent(service.refusedShare)]
    }),
  }
}
