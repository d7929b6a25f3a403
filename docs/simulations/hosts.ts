// Ten hosts, of which one is down, behind one breaker or behind one breaker each.
import { seeded } from './random.js'
import { type Rule, Service } from './service.js'
import { number, percent, type Table } from './table.js'

/** 100 calls a second for 10 minutes, each to a host by chance; host 0 fails every call. */
const TRAFFIC = { hosts: 10, gapMs: 10, forMs: 600_000 }

interface Result {
  intoOutage: number
  refusedHealthy: number
  healthy: number
}

function simulate(threshold: number, oneEach: boolean): Result {
  const random = seeded(11)
  const rule: Rule = { strategy: 'error-ratio', threshold }
  const services = Array.from({ length: oneEach ? TRAFFIC.hosts : 1 }, () => new Service(rule))
  const result = { intoOutage: 0, refusedHealthy: 0, healthy: 0 }
  for (let at = 0; at < TRAFFIC.forMs; at += TRAFFIC.gapMs) {
    const host = Math.floor(random() * TRAFFIC.hosts)
    const service = services[oneEach ? host : 0] as Service
    service.clock.set(at)
    const reached = service.call(host === 0)
    if (host === 0) result.intoOutage += reached ? 1 : 0
    else {
      result.healthy++
      result.refusedHealthy += reached ? 0 : 1
    }
  }
  return result
}

export function hosts(): Table {
  const rows: readonly (readonly [string, Result])[] = [
    ['one name, 0.5', simulate(0.5, false)],
    ['one name, 0.1', simulate(0.1, false)],
    ['one name per host, 0.5', simulate(0.5, true)],
  ]
  return {
    name: 'hosts',
    columns: ['breaker and `threshold`', 'calls into the dead host', 'calls to healthy hosts that were refused'],
    rows: rows.map(([name, { intoOutage, refusedHealthy, healthy }]) => [
      name,
      number(intoOutage),
      percent(refusedHealthy / healthy),
    ]),
  }
}
