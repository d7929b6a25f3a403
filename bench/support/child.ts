// What does one case cost, measured alone in this process? Reads a job from the command line and sends one answer to its parent.
import { bytesPerCall } from '../bytes.js'
import { caseById } from '../cases.js'
import { INNER, nanosPerCall } from './bmark.js'
import type { Loop, Pair } from './case.js'
import { cpuNanos } from './cpu.js'
import { sink } from './sink.js'
import { median, pairedRatio, spread } from './stats.js'

export type Job = { readonly id: string; readonly mode: 'bench' | 'quick' | 'bytes' | 'read' }
export type Answer = { readonly values: Record<string, number>; readonly consumed: number }

const WARM_UP_NS = 150e6

/** Both sides take turns from the start, so that the engine meets them mixed, as it does when measuring. */
async function warmUp(pair: Pair, nanos: number): Promise<void> {
  const end = cpuNanos() + nanos
  do await mixed(pair)
  while (cpuNanos() < end)
}

/** The same by count: bytes are to be equal in every run, and so is what the engine has seen before. */
async function warmUpByCount(pair: Pair): Promise<void> {
  for (let i = 0; i < 60; i++) await mixed(pair)
}

async function mixed(pair: Pair): Promise<void> {
  for (let i = 0; i < 5; i++) sink.sum += await pair.raw(INNER)
  for (let i = 0; i < 5; i++) sink.sum += await pair.guarded(INNER)
}

/** Nine turns of benchmark.js on each side. */
async function bench(pair: Pair): Promise<Record<string, number>> {
  await warmUp(pair, WARM_UP_NS)
  const raw: number[] = []
  const guarded: number[] = []
  const counts = { raw: { count: 1 }, guarded: { count: 1 } }
  for (let turn = 0; turn < 9; turn++) {
    raw.push(await nanosPerCall(pair.raw, counts.raw))
    guarded.push(await nanosPerCall(pair.guarded, counts.guarded))
  }
  return summary(raw, guarded)
}

/** Many short turns: the shorter a turn, the more alike are the moments at which both sides ran. */
async function quick(pair: Pair): Promise<Record<string, number>> {
  await warmUp(pair, 2 * WARM_UP_NS)
  const loops = { raw: await loopsFor(pair.raw), guarded: await loopsFor(pair.guarded) }
  const raw: number[] = []
  const guarded: number[] = []
  for (let turn = 0; turn < 40; turn++) {
    raw.push(await timed(pair.raw, loops.raw))
    guarded.push(await timed(pair.guarded, loops.guarded))
  }
  return summary(raw, guarded)
}

function summary(raw: readonly number[], guarded: readonly number[]): Record<string, number> {
  return {
    rawNs: median(raw),
    guardedNs: median(guarded),
    overNs: median(guarded.map((nanos, i) => nanos - (raw[i] as number))),
    ratio: pairedRatio(raw, guarded),
    spread: spread(guarded.map((g, i) => g / (raw[i] as number))),
  }
}

const TURN_NS = 4e6
/** Inner loops that fill one turn. */
async function loopsFor(loop: Loop): Promise<number> {
  const nanos = await timed(loop, 20)
  return Math.max(1, Math.round(TURN_NS / (nanos * INNER)))
}

async function timed(loop: Loop, loops: number): Promise<number> {
  const before = cpuNanos()
  for (let i = 0; i < loops; i++) sink.sum += await loop(INNER)
  return (cpuNanos() - before) / (loops * INNER)
}

async function run(job: Job): Promise<Record<string, number>> {
  const found = caseById(job.id)
  if (found.kind === 'reading') return await found.read()
  const built = await found.build()
  if (job.mode === 'bytes') {
    await warmUpByCount(built)
    return await bytesPerCall(built)
  }
  return job.mode === 'bench' ? await bench(built) : await quick(built)
}

const job = JSON.parse(process.argv[2] ?? '{}') as Job
const values = await run(job)
const answer: Answer = { values, consumed: sink.sum }
process.send?.(answer, () => process.exit(0))
