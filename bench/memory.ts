// What does a resource with one rule weigh, unused and active, how long does it take to make, and what does it cost while idle?

import { setTimeout as sleep } from 'node:timers/promises'
import { createGuard } from 'leapguard'
import { MANY, names, rulesFor } from './resources.js'
import type { Case } from './support/case.js'
import { cpuNanos } from './support/cpu.js'
import { median } from './support/stats.js'

/** All that is reachable, small typed arrays on the heap and larger ones beside it. */
function weight(): number {
  if (globalThis.gc === undefined) throw new Error('memory is measured with --expose-gc')
  globalThis.gc()
  globalThis.gc()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

/** Names belong to the caller and are not counted, nor are the rules as the caller wrote them. */
async function read(): Promise<Record<string, number>> {
  const resources = names(MANY)
  for (const name of resources) warm.add(name)
  warmUp()
  const empty = weight()
  const guard = createGuard()
  const created = load(guard, resources)
  const unused = weight()
  for (let round = 0; round < 3; round++) {
    for (const name of resources) guard.leave(guard.tryEnter(name))
  }
  const active = weight()
  const idleCpuShare = await idleShare()
  const timers = process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length
  if (guard.resources().length !== MANY) throw new Error('resources are missing')
  return {
    unusedBytes: (unused - empty) / MANY,
    activeBytes: (active - empty) / MANY,
    createMicros: created,
    createOneMicros: createOne(),
    timers,
    idleCpuShare,
  }
}

/** Share of one CPU that the process uses while nobody calls it: the quietest of a few moments, since the engine still tidies up in some. */
async function idleShare(): Promise<number> {
  const shares: number[] = []
  for (let moment = 0; moment < 5; moment++) {
    const start = cpuNanos()
    await sleep(IDLE_MS) // real time: what happens when nothing happens is the question
    shares.push((cpuNanos() - start) / (IDLE_MS * 1e6))
  }
  return Math.min(...shares)
}

const IDLE_MS = 200
const warm = new Set<string>()

function warmUp(): void {
  for (let i = 0; i < 5; i++) load(createGuard(), names(2000))
}

/** Microseconds per resource of one load. */
function load(guard: ReturnType<typeof createGuard>, resources: readonly string[]): number {
  const rules = rulesFor(resources)
  const start = cpuNanos()
  guard.loadRules({ degrade: rules })
  return (cpuNanos() - start) / 1e3 / resources.length
}

/** Microseconds of one resource made by itself, by `setRulesFor` and its first call. */
function createOne(): number {
  const readings: number[] = []
  for (let round = 0; round < 20; round++) {
    const guard = createGuard()
    const resources = names(1000)
    const start = cpuNanos()
    for (const name of resources) {
      guard.setRulesFor(name, { degrade: [{ strategy: 'error-ratio', threshold: 0.5 }] })
      guard.leave(guard.tryEnter(name))
    }
    readings.push((cpuNanos() - start) / 1e3 / resources.length)
  }
  return median(readings)
}

export const memoryCases: readonly Case[] = [
  { kind: 'reading', id: 'memory/100k', title: '100,000 resources with one error-ratio rule each', read },
]
