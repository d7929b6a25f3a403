// A dependency that fails most calls but not all: a single good probe proves little.
import { fromFresh } from './chances.js'
import { seeded } from './random.js'
import { Service } from './service.js'
import { number, percent, type Table } from './table.js'

/** 50 calls a second for four hours; 70 % fail. */
export const ILLNESS = { gapMs: 20, forMs: 4 * 3_600_000, errorRate: 0.7 }
export const SETTINGS = [
  { cooldownMs: 100, successThreshold: 1 },
  { cooldownMs: 1000, successThreshold: 1 },
  { cooldownMs: 10_000, successThreshold: 1 },
  { cooldownMs: 1000, successThreshold: 3 },
  { cooldownMs: 10_000, successThreshold: 3 },
]

export interface Setting {
  readonly cooldownMs: number
  readonly successThreshold: number
}

export function simulate({ cooldownMs, successThreshold }: Setting): Service {
  const random = seeded(5)
  const service = new Service({ strategy: 'error-ratio', threshold: 0.5, cooldownMs, successThreshold })
  while (service.clock.now() < ILLNESS.forMs) service.callEvery(ILLNESS.gapMs, () => random() < ILLNESS.errorRate)
  return service
}

/** Share of the time closed: the calls that it takes to trip again, against the tries until enough probes in a row are good. */
export function expectedClosedShare({ cooldownMs, successThreshold }: Setting): number {
  const { gapMs, errorRate } = ILLNESS
  const good = 1 - errorRate
  // The chance to last longer than 400 calls is below any that matters.
  const closedMs = fromFresh({ threshold: 0.5, minimum: 20 }, 400, errorRate).calls * gapMs
  const tries = 1 / good ** successThreshold
  const probesPerTry = (1 - good ** successThreshold) / errorRate
  const openMs = tries * (cooldownMs + (probesPerTry - 1) * gapMs)
  return closedMs / (closedMs + openMs)
}

export function halfDead(): Table {
  return {
    name: 'half-dead',
    columns: ['`cooldownMs`', '`successThreshold`', 'share of the time closed', 'by formula', 'failures a minute'],
    rows: SETTINGS.map((setting) => {
      const service = simulate(setting)
      return [
        number(setting.cooldownMs),
        number(setting.successThreshold),
        percent(service.closedShare),
        percent(expectedClosedShare(setting)),
        number(Math.round((service.guard.stats('service').totals.failed * 60_000) / ILLNESS.forMs)),
      ]
    }),
  }
}
