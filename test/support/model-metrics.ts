// The statistics windows told from a bare list of what was recorded. Slow, and too plain to be wrong.

export const COLUMNS = ['passed', 'blocked', 'succeeded', 'failed', 'ignored', 'slow'] as const
export type Column = (typeof COLUMNS)[number]

interface Entry {
  readonly bucket: number
  readonly column: Column
  readonly rt: number | undefined
}

/** The first time, in ascending order, with `rank / count >= ratio`. */
export function nearestRank(times: readonly number[], ratio: number): number | undefined {
  const sorted = [...times].sort((a, b) => a - b)
  return sorted.find((_, i) => (i + 1) / sorted.length >= ratio)
}

/** A ring of buckets as a list: a record older than one that took its slot is lost, and so is what the slot held before. */
export class NaiveMetrics {
  #entries: Entry[] = []
  /** Times by interval; the two latest are kept. */
  #times: { interval: number; rt: number }[] = []
  #latest = Number.NEGATIVE_INFINITY
  readonly #bucketMs: number

  constructor(
    readonly intervalMs: number,
    readonly bucketCount: number,
  ) {
    this.#bucketMs = intervalMs / bucketCount
  }

  add(column: Column, now: number, rtMs: number): void {
    const bucket = Math.floor(now / this.#bucketMs)
    const rivals = this.#entries.filter((entry) => (entry.bucket - bucket) % this.bucketCount === 0)
    if (rivals.some((entry) => entry.bucket > bucket)) return
    this.#entries = this.#entries.filter((entry) => entry.bucket === bucket || !rivals.includes(entry))
    const timed = (column === 'succeeded' || column === 'failed') && Number.isFinite(rtMs)
    const rt = timed ? Math.max(0, rtMs) : undefined
    this.#entries.push({ bucket, column, rt })
    if (rt !== undefined) this.#keep(Math.floor(now / this.intervalMs), rt)
  }

  clear(): void {
    this.#entries = []
    this.#times = []
  }

  count(column: Column, now: number): number {
    return this.#live(now).filter((entry) => entry.column === column).length
  }

  times(now: number): number[] {
    return this.#live(now).flatMap(({ rt }) => (rt === undefined ? [] : [rt]))
  }

  /** What percentiles are taken of. */
  recentTimes(now: number): number[] {
    const interval = Math.floor(now / this.intervalMs)
    return this.#times.filter((time) => time.interval >= interval - 1).map(({ rt }) => rt)
  }

  #keep(interval: number, rt: number): void {
    this.#latest = Math.max(this.#latest, interval)
    this.#times.push({ interval, rt })
    this.#times = this.#times.filter((time) => time.interval >= this.#latest - 1)
  }

  #live(now: number): Entry[] {
    return this.#entries.filter(({ bucket }) => now - bucket * this.#bucketMs < this.intervalMs)
  }
}
