// How many bytes does a call allocate?
import { INNER } from './support/bmark.js'
import type { Loop, Pair } from './support/case.js'
import { sink } from './support/sink.js'
import { median } from './support/stats.js'

const TURNS = 7
const LOOPS_PER_TURN = 20

/**
 * Bytes per call as growth of the heap, medians of seven turns. The process must run with `--expose-gc` and with a young generation so large
 * that no collection falls into a turn (support/spawn.ts): a collection takes away what was to be counted. Both sides must be warm,
 * since what unoptimised code allocates says nothing of the code in use.
 */
export async function bytesPerCall(pair: Pair): Promise<Record<string, number>> {
  const raw: number[] = []
  const guarded: number[] = []
  for (let turn = 0; turn < TURNS; turn++) {
    raw.push(await growth(pair.raw))
    guarded.push(await growth(pair.guarded))
  }
  return {
    rawBytes: median(raw),
    guardedBytes: median(guarded),
    extraBytes: median(guarded) - median(raw),
  }
}

async function growth(loop: Loop): Promise<number> {
  if (globalThis.gc === undefined) throw new Error('bytes are measured with --expose-gc')
  globalThis.gc()
  sink.sum += await loop(INNER)
  const before = process.memoryUsage().heapUsed
  for (let i = 0; i < LOOPS_PER_TURN; i++) sink.sum += await loop(INNER)
  return (process.memoryUsage().heapUsed - before) / (LOOPS_PER_TURN * INNER)
}
