// What a cooldown costs a dependency that is down, and its callers once it is back.
import { ManualClock } from 'leapguard/testing'
import { seeded } from './random.js'
import { type Rule, Service } from './service.js'
import { duration, number, type Table } from './table.js'

/** 50 calls a second; the dependency fails each of them for 10 minutes and is well again afterwards. */
const OUTAGE = { gapMs: 20, forMs: 600_000 }
/** Outages whose end meets the cooldown at different moments. */
const OUTAGES = 20

export interface Cooldown {
  readonly cooldownMs: number
  readonly cooldownMultiplier?: number
  readonly maxCooldownMs?: number
}

export const COOLDOWNS: readonly Cooldown[] = [
  { cooldownMs: 100 },
  { cooldownMs: 1000 },
  { cooldownMs: 10_000 },
  { cooldownMs: 60_000 },
  { cooldownMs: 1000, cooldownMultiplier: 2, maxCooldownMs: 60_000 },
]

/** One outage: calls that reached the dependency while it was down, and how long it was refused after it was back. */
export function outage(cooldown: Cooldown, longerByMs = 0) {
  const service = new Service({ strategy: 'error-ratio', threshold: 0.5, ...cooldown })
  const end = OUTAGE.forMs + longerByMs
  const isDown = () => service.clock.now() < end
  while (isDown()) service.callEvery(OUTAGE.gapMs, isDown)
  const { reached } = service
  while (service.state === 'open') service.callEvery(OUTAGE.gapMs, isDown)
  return { reached, refusedForMs: Math.max(0, service.clock.now() - OUTAGE.gapMs - end) }
}

/** 20 calls open it, the last of them at 380 ms; then one call each time the cooldown is over. */
export function expectedCalls({ cooldownMs, cooldownMultiplier = 1, maxCooldownMs = cooldownMs }: Cooldown): number {
  let calls = 20
  let waitMs = cooldownMs
  for (let at = 380 + waitMs; at < OUTAGE.forMs; at += waitMs) {
    calls++
    waitMs = Math.min(maxCooldownMs, waitMs * cooldownMultiplier)
  }
  return calls
}

function refusedForMs(cooldown: Cooldown): number {
  const { maxCooldownMs = cooldown.cooldownMs } = cooldown
  let sum = 0
  for (let i = 0; i < OUTAGES; i++) sum += outage(cooldown, (i * maxCooldownMs) / OUTAGES).refusedForMs
  return sum / OUTAGES
}

export function cooldown(): Table {
  return {
    name: 'cooldown',
    columns: ['`cooldownMs`', 'calls into the outage', 'by formula', 'refused after it is back, on average'],
    rows: COOLDOWNS.map((setting) => [
      setting.maxCooldownMs === undefined
        ? number(setting.cooldownMs)
        : `${number(setting.cooldownMs)}, doubled up to ${number(setting.maxCooldownMs)}`,
      number(outage(setting).reached),
      number(expectedCalls(setting)),
      duration(refusedForMs(setting)),
    ]),
  }
}

/** Many processes lose the same dependency at the same time: 50 of them, each with 10 calls a second, for 5 minutes. */
const CROWD = { processes: 50, gapMs: 100, forMs: 300_000 }
const JITTERS = [0, 0.1, 0.5, 1]

/** Probes that reach the dependency within the same 100 ms, at most, after the first minute. */
function busiestMoment(cooldownJitter: number): { most: number; probes: number } {
  const perMoment = new Map<number, number>()
  let probes = 0
  const random = seeded(3)
  for (let i = 0; i < CROWD.processes; i++) {
    const rule: Rule = { strategy: 'error-ratio', threshold: 0.5, cooldownMs: 10_000, cooldownJitter }
    const service = new Service(rule, { clock: new ManualClock(i), random })
    for (let at = i; at < CROWD.forMs; at = service.clock.now()) {
      const before = service.reached
      service.callEvery(CROWD.gapMs, () => true)
      if (service.reached === before || at < 60_000) continue
      probes++
      const moment = Math.floor(at / 100)
      perMoment.set(moment, (perMoment.get(moment) ?? 0) + 1)
    }
  }
  return { most: Math.max(...perMoment.values()), probes }
}

export function jitter(): Table {
  return {
    name: 'jitter',
    columns: ['`cooldownJitter`', 'probes at the same moment, at most', 'probes in four minutes'],
    rows: JITTERS.map((cooldownJitter) => {
      const { most, probes } = busiestMoment(cooldownJitter)
      return [number(cooldownJitter), number(most), number(probes)]
    }),
  }
}
