// Percentiles of response times from logarithmic cells: a fixed size, and a bounded relative error wherever the times lie. Hot.
import { bucketNumber } from './bucket-time.js'

/**
 * Cells per octave are 2^5. A cell is a 32nd of its octave's lower edge wide, so its middle is off by at most 1/64 of any time in it.
 *
 * ```
 * cell     0          1  ...  32          33 ... 64            1057
 * holds    [0, 2^-7)  32 cells up to 2^-6  32 up to 2^-5  ...  [2^26, inf)
 * ```
 *
 * The number of a cell is read off the bits of the double: its exponent and the first five bits of its fraction, side by side.
 */
const STEP_BITS = 5
const STEPS = 2 ** STEP_BITS
/** Times below 2^-7 ms, 7.8 microseconds, are as good as none. */
const LOWEST_EXPONENT = -7
const OCTAVES = 33
const LAST = OCTAVES * STEPS + 1
const EXPONENT_BIAS = 1023
/** What the bits of the first cell after the lowest one read, less one. */
const OFFSET = ((EXPONENT_BIAS + LOWEST_EXPONENT) << STEP_BITS) - 1

const asDouble = new Float64Array(1)
const asWords = new Uint32Array(asDouble.buffer)
asDouble[0] = 1
/** The word of a double that holds its exponent: the second one on every common machine. */
const HIGH = asWords[1] === 0 ? 0 : 1

function cellOf(ms: number): number {
  asDouble[0] = ms
  const cell = ((asWords[HIGH] as number) >>> (20 - STEP_BITS)) - OFFSET
  return Math.min(Math.max(cell, 0), LAST)
}

/** The time that stands for a cell. The ends have no middle; min and max bound them. */
function middleOf(cell: number): number {
  if (cell === 0) return 0
  if (cell === LAST) return Number.POSITIVE_INFINITY
  const octave = Math.floor((cell - 1) / STEPS)
  return 2 ** (octave + LOWEST_EXPONENT) * (1 + (((cell - 1) % STEPS) + 0.5) / STEPS)
}

type Cells = Uint16Array | Uint32Array | Float64Array

/**
 * Counts response times in 1,058 logarithmic cells. A percentile is off by at most 1/64 (1.6 %) of the time itself; for times below
 * 7.8 microseconds by less than that; for times of more than 2^26 ms (18 hours) it is the longest one. `min` and `max` are exact.
 *
 * A negative time, of a clock that stepped back, counts as 0. NaN and Infinity are no times and are left out.
 *
 * Cost: a record 2 to 4 ns and no allocation; 2.1 kB, made at the first record, twice that once more than 65,535 times fell into one cell.
 */
export class LatencyHistogram {
  /** Times recorded. */
  count = 0
  private least = Number.POSITIVE_INFINITY
  private greatest = Number.NEGATIVE_INFINITY
  private cells: Cells | null = null
  /** Most that a cell can hold before all are made wider. */
  private most = 0xffff

  /** Shortest time, ms; `undefined` if there is none. */
  get min(): number | undefined {
    return this.count === 0 ? undefined : this.least
  }

  /** Longest time, ms; `undefined` if there is none. */
  get max(): number | undefined {
    return this.count === 0 ? undefined : this.greatest
  }

  /** Memory of the cells. */
  get byteLength(): number {
    return this.cells === null ? 0 : this.cells.byteLength
  }

  /** Records a time in ms, `times` times (an integer >= 1). */
  record(ms: number, times = 1): void {
    if (!(ms < Number.POSITIVE_INFINITY)) return
    const time = Math.max(ms, 0)
    const cells = this.cells ?? this.make()
    const cell = cellOf(time)
    const held = (cells[cell] as number) + times
    if (held > this.most) this.widen(held)[cell] = held
    else cells[cell] = held
    this.count += times
    if (time < this.least) this.least = time
    if (time > this.greatest) this.greatest = time
  }

  /**
   * The time that a share `ratio` of all recorded ones does not exceed: the first, in ascending order, with `rank / count >= ratio`. The first
   * and the last one are exact: 0 gives the minimum, 1 the maximum. `undefined` if nothing was recorded.
   *
   * @throws RangeError unless `ratio` is a number from 0 to 1.
   */
  percentile(ratio: number): number | undefined {
    return this.percentiles([ratio])?.[0]
  }

  /**
   * As {@link percentile}, of several ratios at once, ascending, in one walk over the cells; if another histogram is given, of both together.
   *
   * @throws RangeError for a ratio out of bounds or out of order.
   */
  percentiles(ratios: readonly number[], and: LatencyHistogram = NONE): number[] | undefined {
    checkRatios(ratios)
    const count = this.count + and.count
    if (count === 0) return undefined
    const min = Math.min(this.least, and.least)
    const max = Math.max(this.greatest, and.greatest)
    let cell = cellOf(min) - 1
    let seen = 0
    return ratios.map((ratio) => {
      const rank = rankOf(ratio, count)
      if (rank === 1) return min
      if (rank === count) return max
      for (; seen < rank; seen += this.at(cell) + and.at(cell)) cell++
      return Math.min(Math.max(middleOf(cell), min), max)
    })
  }

  /** Forgets everything. The cells stay as wide as they are. */
  clear(): void {
    if (this.count === 0) return
    this.cells?.fill(0)
    this.count = 0
    this.least = Number.POSITIVE_INFINITY
    this.greatest = Number.NEGATIVE_INFINITY
  }

  private at(cell: number): number {
    return this.cells === null ? 0 : (this.cells[cell] as number)
  }

  private make(): Cells {
    this.cells = new Uint16Array(LAST + 1)
    return this.cells
  }

  private widen(least: number): Cells {
    const wide = least > 0xffff_ffff
    this.most = wide ? Number.MAX_SAFE_INTEGER : 0xffff_ffff
    this.cells = wide ? Float64Array.from(this.cells as Cells) : Uint32Array.from(this.cells as Cells)
    return this.cells
  }
}

const NONE = new LatencyHistogram()

/**
 * Percentiles over the recent past, of two histograms that take turns: one for the present interval of the epoch-aligned clock, one for the
 * interval before. A reading covers both, so it looks back between one and two `intervalMs`.
 *
 * Cost: as {@link LatencyHistogram}, twice the memory; once per interval a clearing of 2 kB, by the record that begins it. No timer.
 */
export class RollingLatencyHistogram {
  readonly intervalMs: number
  private current = new LatencyHistogram()
  private previous = new LatencyHistogram()
  /** The present interval, half open. An empty span forces the first record through `seek`. */
  private start = 0
  private end = 0

  /** @throws RangeError unless `intervalMs` is an integer >= 1. */
  constructor(intervalMs: number) {
    if (!Number.isSafeInteger(intervalMs) || intervalMs < 1) {
      throw new RangeError(`intervalMs must be an integer >= 1, got ${String(intervalMs)}`)
    }
    this.intervalMs = intervalMs
  }

  get byteLength(): number {
    return this.current.byteLength + this.previous.byteLength
  }

  /** Records a time of `ms` that was measured at `now`, epoch ms. One measured before the previous interval (the clock stepped back) is left out. */
  record(now: number, ms: number): void {
    if (now >= this.start && now < this.end) this.current.record(ms)
    else this.seek(now)?.record(ms)
  }

  /** As {@link LatencyHistogram.percentiles}, over the interval of `now` and the one before. Changes nothing. */
  percentiles(ratios: readonly number[], now: number): number[] | undefined {
    const steps = this.stepsTo(now)
    if (steps > 1) return NONE.percentiles(ratios)
    return this.current.percentiles(ratios, steps > 0 ? NONE : this.previous)
  }

  clear(): void {
    this.current.clear()
    this.previous.clear()
  }

  /** Intervals from the present one to that of `now`. */
  private stepsTo(now: number): number {
    return bucketNumber(now, this.intervalMs) - this.start / this.intervalMs
  }

  private seek(now: number): LatencyHistogram | undefined {
    const steps = this.end > this.start ? this.stepsTo(now) : Number.POSITIVE_INFINITY
    if (steps < 0) return steps === -1 ? this.previous : undefined
    if (steps === 1) {
      const oldest = this.previous
      this.previous = this.current
      this.current = oldest
    } else this.previous.clear()
    this.current.clear()
    this.start = bucketNumber(now, this.intervalMs) * this.intervalMs
    this.end = this.start + this.intervalMs
    return this.current
  }
}

/** The first rank with `rank / count >= ratio`. The product alone may round up to the next one. */
function rankOf(ratio: number, count: number): number {
  const rank = Math.max(1, Math.ceil(ratio * count))
  return rank > 1 && (rank - 1) / count >= ratio ? rank - 1 : rank
}

function checkRatios(ratios: readonly number[]): void {
  let least = 0
  for (const ratio of ratios) {
    if (!(ratio >= least && ratio <= 1)) {
      throw new RangeError(`percentiles are asked for by ratios from 0 to 1 in ascending order, got ${String(ratio)}`)
    }
    least = ratio
  }
}
