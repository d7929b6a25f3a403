// What does one call cost, by benchmark.js, in processor time?
import Benchmark from 'benchmark'
import type { Loop } from './case.js'
import { cpuNanos } from './cpu.js'
import { sink } from './sink.js'

/** Calls in the inner loop: what benchmark.js adds per run of its function is spread over so many. */
export const INNER = 1000

// benchmark.js times with `process.hrtime` of the context it is given: this one tells processor time instead of wall time.
const CpuBenchmark = Benchmark.runInContext({
  process: {
    hrtime(since?: [number, number]): [number, number] {
      const nanos = cpuNanos() - (since === undefined ? 0 : since[0] * 1e9 + since[1])
      const seconds = Math.floor(nanos / 1e9)
      return [seconds, nanos - seconds * 1e9]
    },
  },
}) as typeof Benchmark

/** Nanoseconds per call: the median of the samples of one short run. `start.count` carries the calibration to the next run. */
export async function nanosPerCall(loop: Loop, start: { count: number }): Promise<number> {
  const bench = new CpuBenchmark({
    defer: true,
    minTime: 0.012,
    maxTime: 0.024,
    minSamples: 2,
    delay: 0,
    initCount: start.count,
    async fn(deferred: { resolve(): void }) {
      sink.sum += await loop(INNER)
      deferred.resolve()
    },
  })
  await new Promise<void>((resolve, reject) => {
    bench.on('complete', () => (bench.error === undefined ? resolve() : reject(bench.error)))
    bench.run({ async: true })
  })
  start.count = Math.max(1, Math.floor(bench.count))
  const samples = [...bench.stats.sample].sort((a, b) => a - b)
  return ((samples[samples.length >> 1] as number) * 1e9) / INNER
}
