// Three attempts inside one guarded call, or three guarded calls.
import { seeded } from './random.js'
import { Service } from './service.js'
import { number, percent, type Table } from './table.js'

/** 20 requests a second for 10 minutes, each tried up to three times; attempts fail by chance. */
export const REQUESTS = { count: 12_000, gapMs: 50, attempts: 3 }
export const ERROR_RATES = [0.3, 0.5, 0.7, 0.9, 1]

export interface Result {
  /** Share of the guarded calls that failed. */
  readonly seen: number
  readonly trips: number
  /** Attempts that reached the dependency. */
  readonly attempts: number
}

export function simulate(errorRate: number, inside: boolean): Result {
  const random = seeded(17)
  const service = new Service({ strategy: 'error-ratio', threshold: 0.5 })
  const fails = () => random() < errorRate
  let attempts = 0
  for (let i = 0; i < REQUESTS.count; i++) {
    if (inside) {
      let tries = 1
      while (tries < REQUESTS.attempts && fails()) tries++
      const failed = tries === REQUESTS.attempts && fails()
      if (service.call(failed)) attempts += tries
    } else {
      for (let tries = 0; tries < REQUESTS.attempts; tries++) {
        const failed = fails()
        if (!service.call(failed)) break // a refusal is not tried again
        attempts++
        if (!failed) break
      }
    }
    service.clock.advance(REQUESTS.gapMs)
  }
  const { failed, succeeded } = service.guard.stats('service').totals
  return { seen: failed / (failed + succeeded), trips: service.trips, attempts }
}

export function retries(): Table {
  return {
    name: 'retries',
    columns: [
      'attempts that fail',
      'inside: failures seen',
      'by formula',
      'inside: trips',
      'inside: attempts',
      'outside: trips',
      'outside: attempts',
    ],
    rows: ERROR_RATES.map((errorRate) => {
      const inside = simulate(errorRate, true)
      const outside = simulate(errorRate, false)
      return [
        percent(errorRate),
        percent(inside.seen),
        percent(errorRate ** REQUESTS.attempts),
        number(inside.trips),
        number(inside.attempts),
        number(outside.trips),
        number(outside.attempts),
      ]
    }),
  }
}
