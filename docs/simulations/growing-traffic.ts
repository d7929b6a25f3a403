// A number of errors that is many for little traffic is few for much.
import { atLeast } from './chances.js'
import { seeded } from './random.js'
import { type Rule, Service } from './service.js'
import { number, percent, type Table } from './table.js'

/** An hour in which 2 % of the calls fail, as always. */
const HOUR = { forMs: 3_600_000, errorRate: 0.02 }
const RATES = [5, 10, 20, 40, 80]
const COUNT: Rule = { strategy: 'error-count', threshold: 10 }
const RATIO: Rule = { strategy: 'error-ratio', threshold: 0.2 }

function tripsIn(rule: Rule, perSecond: number): number {
  const random = seeded(23)
  const service = new Service(rule)
  for (let at = 0; at < HOUR.forMs; at += 1000 / perSecond) {
    service.clock.set(at)
    service.call(random() < HOUR.errorRate)
  }
  return service.trips
}

export function growingTraffic(): Table {
  return {
    name: 'growing-traffic',
    columns: [
      'calls a second',
      'chance of 10 errors in 10 s',
      'trips an hour of `error-count` 10',
      'of `error-ratio` 0.2',
    ],
    rows: RATES.map((perSecond) => [
      number(perSecond),
      percent(atLeast(10, 10 * perSecond, HOUR.errorRate)),
      number(tripsIn(COUNT, perSecond)),
      number(tripsIn(RATIO, perSecond)),
    ]),
  }
}
