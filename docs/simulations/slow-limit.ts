// How often does a slow-call rule trip on a healthy service, by where in its response times the limit lies?
import { atLeast } from './chances.js'
import { seeded } from './random.js'
import { Service } from './service.js'
import { number, percent, type Table } from './table.js'

/** 10 calls a second for an hour. Response times are exponential with a mean of 100 ms: half of them below 69 ms, 1 % over 460. */
export const TRAFFIC = { gapMs: 100, forMs: 3_600_000, meanMs: 100 }
/** A busy day, on which everything takes that much longer and is still well. */
const BUSIER = 1.5
export const QUANTILES = [0.5, 0.75, 0.9, 0.95, 0.99]
const THRESHOLD = 0.5
const MINIMUM = 20

export function limitAt(quantile: number): number {
  return Math.round(-TRAFFIC.meanMs * Math.log(1 - quantile))
}

export function shareSlow(limitMs: number): number {
  return Math.exp(-limitMs / TRAFFIC.meanMs)
}

/** Chance that the first 20 calls after a close trip it. */
export function chanceFresh(limitMs: number): number {
  return atLeast(THRESHOLD * MINIMUM, MINIMUM, shareSlow(limitMs))
}

export function simulate(maxAllowedRtMs: number, meanMs: number): Service {
  const random = seeded(19)
  const service = new Service({ strategy: 'slow-call-ratio', threshold: THRESHOLD, maxAllowedRtMs })
  for (let at = 0; at < TRAFFIC.forMs; at += TRAFFIC.gapMs) {
    service.clock.set(at)
    service.callTaking(-meanMs * Math.log(1 - random()))
  }
  return service
}

export function slowLimit(): Table {
  return {
    name: 'slow-limit',
    columns: [
      'limit at',
      '`maxAllowedRtMs`',
      'trips an hour',
      'chance that 20 calls trip it',
      'trips an hour, all 1.5 times as slow',
      'and calls refused',
    ],
    rows: QUANTILES.map((quantile) => {
      const limitMs = limitAt(quantile)
      const busier = simulate(limitMs, TRAFFIC.meanMs * BUSIER)
      return [
        `p${number(quantile * 100)}`,
        number(limitMs),
        number(simulate(limitMs, TRAFFIC.meanMs).trips),
        percent(chanceFresh(limitMs)),
        number(busier.trips),
        percent(busier.refusedShare),
      ]
    }),
  }
}
