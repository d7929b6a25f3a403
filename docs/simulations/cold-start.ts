// A service that comes back cold: it warms up by the calls it serves, and full traffic at once knocks it over again.
import { Service } from './service.js'
import { duration, number, type Table } from './table.js'

/** 100 calls a second. Back from an outage, the service serves 10 of them, and one more for every ten that it has served; the rest fails. */
const TRAFFIC = { gapMs: 10, perSecond: 100, givenUpAfterMs: 3_600_000 }
const COLD = { serves: 10, perServed: 0.1 }
const RECOVERIES = [0, 10_000, 30_000, 60_000]

/** From the end of the outage until every call of a second is served: how long, and what it took. */
function recover(recoveryMs: number) {
  const service = new Service({ strategy: 'error-ratio', threshold: 0.5, recoveryMs })
  for (let i = 0; i < 20; i++) service.call(true)
  const tripsBefore = service.trips
  let room = COLD.serves
  let failed = 0
  for (let at = 0; at < TRAFFIC.givenUpAfterMs; at += 1000) {
    let served = 0
    for (let i = 0; i < TRAFFIC.perSecond; i++) {
      service.clock.set(at + i * TRAFFIC.gapMs)
      const fails = served >= Math.floor(room)
      if (!service.call(fails)) continue
      if (fails) failed++
      else served++
    }
    if (served === TRAFFIC.perSecond) return { afterMs: at, trips: service.trips - tripsBefore, failed }
    room += served * COLD.perServed
  }
  return { afterMs: undefined, trips: service.trips - tripsBefore, failed }
}

export function coldStart(): Table {
  return {
    name: 'cold-start',
    columns: ['`recoveryMs`', 'trips again', 'calls that failed', 'until all calls are served'],
    rows: RECOVERIES.map((recoveryMs) => {
      const { afterMs, trips, failed } = recover(recoveryMs)
      return [
        number(recoveryMs),
        number(trips),
        number(failed),
        afterMs === undefined ? 'more than an hour' : duration(afterMs),
      ]
    }),
  }
}
