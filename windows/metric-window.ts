// What became of recent calls, for reading: counts and response times over a sliding window. No breaker decides on it. Hot.
import { bucketLength, bucketNumber, slotOf } from './bucket-time.js'
import { RollingLatencyHistogram } from './latency-histogram.js'

export interface MetricWindowOptions {
  /** Length of the whole window, integer ms >= 1. Default 10,000. */
  intervalMs?: number
  /** Buckets it is made of, an integer >= 1 that divides `intervalMs`. Default 10. */
  bucketCount?: number
  /** Keep percentiles of response times too, 4.3 kB more. Default true. */
  percentiles?: boolean
}

/** What a {@link MetricWindow} holds at one moment. */
export interface MetricSnapshot {
  readonly intervalMs: number
  readonly passed: number
  readonly blocked: number
  readonly succeeded: number
  readonly failed: number
  readonly ignored: number
  readonly slow: number
  /** Response times of calls that succeeded or failed, ms; `undefined` if there is none in the window. */
  readonly rt?: ResponseTimes | undefined
}

export interface ResponseTimes {
  readonly count: number
  readonly mean: number
  readonly min: number
  readonly max: number
  /**
   * Percentiles, each off by at most 1.6 % and within `min` and `max`; absent without percentiles. They look back over the present and the
   * previous interval of the epoch-aligned clock, between one and two `intervalMs`.
   */
  readonly p50?: number
  readonly p90?: number
  readonly p95?: number
  readonly p99?: number
  readonly p999?: number
}

const RATIOS: readonly number[] = [0.5, 0.9, 0.95, 0.99, 0.999]

// Columns of a bucket's row. Its start stands in the same row, so that a bucket is cleared, all of it, by one fill.
const START = 0
const PASSED = 1
const BLOCKED = 2
const SUCCEEDED = 3
const FAILED = 4
const IGNORED = 5
const SLOW = 6
const RT_COUNT = 7
const RT_SUM = 8
const RT_MIN = 9
const RT_MAX = 10
const COLUMNS = 11

/**
 * A sliding window of counts and response times over a ring of buckets aligned to the epoch.
 *
 * ```
 * cells   bucketCount rows of  start passed blocked succeeded failed ignored slow | rt count sum min max
 * ```
 *
 * A bucket covers [start, start + bucketMs) and is live while `now - start < intervalMs`, strictly. A row is claimed by the first record that
 * falls into a later bucket of the same slot; a record older than what the slot holds (the clock stepped back) is left out. Recording does not
 * depend on the number of buckets; reading adds them up. No timer.
 *
 * Times are epoch ms. A response time below 0 counts as 0; one that is NaN or infinite is left out, its call counted all the same.
 *
 * Cost: a record about 4 ns and no allocation; with 10 buckets 880 bytes, made at the first record, and 4.3 kB for percentiles.
 */
export class MetricWindow {
  readonly intervalMs: number
  readonly bucketCount: number
  /** Length of one bucket, ms. */
  readonly bucketMs: number
  private cells: Float64Array | null = null
  private readonly histogram: RollingLatencyHistogram | null
  /** The bucket of the last record: its row, and the half-open span it covers. An empty span forces the first record through `seek`. */
  private row = 0
  private start = 0
  private end = 0
  /** What is being recorded. Fields and not arguments: a double handed to a function that V8 does not inline is boxed. */
  private now = Number.NEGATIVE_INFINITY
  private rtMs = Number.NEGATIVE_INFINITY

  /** @throws RangeError unless both numbers are integers >= 1 and `bucketCount` divides `intervalMs`. */
  constructor({ intervalMs = 10_000, bucketCount = 10, percentiles = true }: MetricWindowOptions = {}) {
    this.bucketMs = bucketLength(intervalMs, bucketCount)
    this.intervalMs = intervalMs
    this.bucketCount = bucketCount
    this.histogram = percentiles ? new RollingLatencyHistogram(intervalMs) : null
  }

  get hasPercentiles(): boolean {
    return this.histogram !== null
  }

  /** Memory of the buckets and histograms. */
  get byteLength(): number {
    return (this.cells?.byteLength ?? 0) + (this.histogram?.byteLength ?? 0)
  }

  /** A call was admitted at `now`. */
  addPassed(now: number): void {
    this.now = now
    this.increment(PASSED)
  }

  /** A call was refused at `now`. */
  addBlocked(now: number): void {
    this.now = now
    this.increment(BLOCKED)
  }

  /** A call ended well at `now`, after `rtMs`. */
  addSucceeded(now: number, rtMs: number): void {
    this.now = now
    this.rtMs = rtMs
    this.time(this.increment(SUCCEEDED))
  }

  /** A call ended badly at `now`, after `rtMs`. */
  addFailed(now: number, rtMs: number): void {
    this.now = now
    this.rtMs = rtMs
    this.time(this.increment(FAILED))
  }

  /** A call ended at `now` and counts neither way. Its response time says nothing either. */
  addIgnored(now: number): void {
    this.now = now
    this.increment(IGNORED)
  }

  /** A call that ended at `now` was slow. */
  addSlow(now: number): void {
    this.now = now
    this.increment(SLOW)
  }

  /** What the window holds at `now`. Changes nothing. O(bucketCount), and a walk over about 1,000 cells for the percentiles. */
  read(now: number): MetricSnapshot {
    const sums = new Float64Array(COLUMNS)
    sums[RT_MIN] = Number.POSITIVE_INFINITY
    const { cells } = this
    for (let row = 0; cells !== null && row < cells.length; row += COLUMNS) {
      if (now - (cells[row + START] as number) < this.intervalMs) addRow(sums, cells, row)
    }
    const [, passed = 0, blocked = 0, succeeded = 0, failed = 0, ignored = 0, slow = 0] = sums
    return { intervalMs: this.intervalMs, passed, blocked, succeeded, failed, ignored, slow, rt: this.times(sums, now) }
  }

  /** Forgets everything. */
  clear(): void {
    this.end = this.start
    if (this.cells !== null) empty(this.cells)
    this.histogram?.clear()
  }

  private times(sums: Float64Array, now: number): ResponseTimes | undefined {
    const count = sums[RT_COUNT] as number
    if (count === 0) return undefined
    const min = sums[RT_MIN] as number
    const max = sums[RT_MAX] as number
    const times = { count, mean: (sums[RT_SUM] as number) / count, min, max }
    const found = this.histogram?.percentiles(RATIOS, now)
    if (found === undefined) return times
    const within = (i: number) => Math.min(Math.max(found[i] as number, min), max)
    return { ...times, p50: within(0), p90: within(1), p95: within(2), p99: within(3), p999: within(4) }
  }

  /** Returns the row, or -1. */
  private increment(column: number): number {
    const { now } = this
    const row = now >= this.start && now < this.end ? this.row : this.seek()
    if (row < 0) return row
    const cells = this.cells as Float64Array
    cells[row + column] = (cells[row + column] as number) + 1
    return row
  }

  private time(row: number): void {
    if (row < 0 || !(this.rtMs < Number.POSITIVE_INFINITY)) return
    const rt = Math.max(this.rtMs, 0)
    const cells = this.cells as Float64Array
    const count = cells[row + RT_COUNT] as number
    cells[row + RT_COUNT] = count + 1
    cells[row + RT_SUM] = (cells[row + RT_SUM] as number) + rt
    if (count === 0 || rt < (cells[row + RT_MIN] as number)) cells[row + RT_MIN] = rt
    if (rt > (cells[row + RT_MAX] as number)) cells[row + RT_MAX] = rt
    if (this.histogram !== null) this.histogram.record(this.now, rt)
  }

  /** The row of the bucket that covers `now`, claimed for it if need be; -1 if a later bucket has it. */
  private seek(): number {
    const cells = this.cells ?? this.make()
    const number = bucketNumber(this.now, this.bucketMs)
    const row = slotOf(number, this.bucketCount) * COLUMNS
    const start = number * this.bucketMs
    const held = cells[row + START] as number
    if (held > start) return -1
    if (held < start) {
      cells.fill(0, row, row + COLUMNS)
      cells[row + START] = start
    }
    this.row = row
    this.start = start
    this.end = start + this.bucketMs
    return row
  }

  private make(): Float64Array {
    this.cells = empty(new Float64Array(COLUMNS * this.bucketCount))
    return this.cells
  }
}

/** Rows that no bucket has claimed yet begin before all time. */
function empty(cells: Float64Array): Float64Array {
  cells.fill(0)
  for (let row = 0; row < cells.length; row += COLUMNS) cells[row + START] = Number.NEGATIVE_INFINITY
  return cells
}

function addRow(sums: Float64Array, cells: Float64Array, row: number): void {
  for (let column = PASSED; column <= RT_SUM; column++) {
    sums[column] = (sums[column] as number) + (cells[row + column] as number)
  }
  if (cells[row + RT_COUNT] === 0) return
  sums[RT_MIN] = Math.min(sums[RT_MIN] as number, cells[row + RT_MIN] as number)
  sums[RT_MAX] = Math.max(sums[RT_MAX] as number, cells[row + RT_MAX] as number)
}
