// Is memory flat? Judged by the heap after a full collection, at many moments of a run.

export interface Sample {
  /** Calls made by then. */
  readonly calls: number
  readonly heapBytes: number
}

export interface Trend {
  readonly samples: number
  readonly bytesPerCall: number
  /** What the slope makes of all calls between the first sample and the last. */
  readonly growthBytes: number
}

/** Compiled code and caches fill up in the beginning. */
const WARM_UP = 0.25

/** A call that left this much behind on average, about a pointer and a half, would be found. */
export const MOST_BYTES_PER_CALL = 12
/** Growth that says nothing: V8 compiles and recompiles for minutes. */
export const SLACK_BYTES = 2 * 1024 * 1024

/** The straight line nearest to the samples after the warm-up; `undefined` if they are too few to tell. */
export const trendOf = (all: readonly Sample[]): Trend | undefined => {
  const samples = all.slice(Math.floor(all.length * WARM_UP))
  const first = samples[0]
  const last = samples.at(-1)
  if (samples.length < 6 || first === undefined || last === undefined) return undefined
  const meanCalls = samples.reduce((sum, { calls }) => sum + calls, 0) / samples.length
  const meanHeap = samples.reduce((sum, { heapBytes }) => sum + heapBytes, 0) / samples.length
  let above = 0
  let below = 0
  for (const { calls, heapBytes } of samples) {
    above += (calls - meanCalls) * (heapBytes - meanHeap)
    below += (calls - meanCalls) ** 2
  }
  const bytesPerCall = below === 0 ? 0 : above / below
  return { samples: samples.length, bytesPerCall, growthBytes: bytesPerCall * (last.calls - first.calls) }
}

export const isFlat = ({ bytesPerCall, growthBytes }: Trend): boolean =>
  bytesPerCall <= MOST_BYTES_PER_CALL || growthBytes <= SLACK_BYTES
