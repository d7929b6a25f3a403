// The window a breaker decides on: how many calls, how many of them bad. Hot.
import { bucketLength, bucketNumber, slotOf } from './bucket-time.js'

/** What a window holds, as plain JSON: its non-empty buckets, oldest first. `start` is in epoch ms. */
export type SavedBuckets = readonly (readonly [start: number, total: number, bad: number])[]

/**
 * A sliding window of two counts over a ring of buckets aligned to the epoch, with running totals: recording and deciding cost the
 * same whether the ring has 10 buckets or 600.
 *
 * ```
 * cells   [ total x bucketCount | bad x bucketCount ]   one typed array, made at the first record
 * total, bad                                            sums over all live buckets as of the newest one
 * ```
 *
 * A bucket covers [start, start + bucketMs) and is live while `now - start < intervalMs`, strictly. Rolling to a later bucket subtracts the
 * buckets it passes, at most `bucketCount` of them; a longer gap zeroes everything. No timer.
 * Cells are doubles, so counts are exact to 2^53 and no window wraps, however long and busy.
 */
export class CountingWindow {
  readonly intervalMs: number
  readonly bucketCount: number
  /** Length of one bucket, ms. */
  readonly bucketMs: number
  /** Calls in the window as of its newest bucket. Exact at `now` after `roll(now)` or `add(now, ...)`. */
  total = 0
  /** Bad ones among them. */
  bad = 0
  private cells: Float64Array | null = null
  /** Newest bucket: its slot, and the half-open span it covers. An empty span forces the first access through `#seek`. */
  private slot = 0
  private start = 0
  private end = 0

  /** @throws RangeError unless both are integers >= 1 and `bucketCount` divides `intervalMs`. */
  constructor(intervalMs: number, bucketCount: number) {
    this.bucketMs = bucketLength(intervalMs, bucketCount)
    this.intervalMs = intervalMs
    this.bucketCount = bucketCount
  }

  /** Records one call in the bucket of `now`. */
  add(now: number, bad: 0 | 1): void {
    const slot = now >= this.start && now < this.end ? this.slot : this.seek(now)
    if (slot < 0) return
    const cells = this.cells as Float64Array
    cells[slot] = (cells[slot] as number) + 1
    this.total++
    if (bad !== 0) {
      cells[slot + this.bucketCount] = (cells[slot + this.bucketCount] as number) + 1
      this.bad++
    }
  }

  /** Records several calls at once in the bucket of `now`. */
  addMany(now: number, total: number, bad: number): void {
    const slot = now >= this.start && now < this.end ? this.slot : this.seek(now)
    if (slot < 0) return
    const cells = this.cells as Float64Array
    cells[slot] = (cells[slot] as number) + total
    cells[slot + this.bucketCount] = (cells[slot + this.bucketCount] as number) + bad
    this.total += total
    this.bad += bad
  }

  /** Makes `total` and `bad` those of `now`. */
  roll(now: number): void {
    if (now < this.start || now >= this.end) this.seek(now)
  }

  /** `total` at `now`, without rolling. O(bucketCount). */
  totalAt(now: number): number {
    return this.sumAt(now, 0)
  }

  /** `bad` at `now`, without rolling. O(bucketCount). */
  badAt(now: number): number {
    return this.sumAt(now, this.bucketCount)
  }

  /**
   * Empties the window at `now`. If `now` lies so far behind the newest bucket that the ring no longer holds its time (only when
   * the clock stepped back), there is nothing of that time to empty and the later counts stay.
   */
  clear(now: number): void {
    if (this.cells === null || this.seek(now) < 0) return
    this.cells.fill(0)
    this.total = 0
    this.bad = 0
  }

  /** The buckets live at `now`. Changes nothing. O(bucketCount). */
  saved(now: number): SavedBuckets {
    const buckets: [number, number, number][] = []
    if (this.cells === null) return buckets
    for (let i = this.bucketCount - 1; i >= 0; i--) {
      const start = this.start - i * this.bucketMs
      const slot = slotOf(this.slot - i, this.bucketCount)
      const total = this.cells[slot] as number
      if (total > 0 && now - start < this.intervalMs) {
        buckets.push([start, total, this.cells[slot + this.bucketCount] as number])
      }
    }
    return buckets
  }

  /** Adds saved buckets of a window of the same shape, but for those no longer live at `now`. What lies in the future happened now. */
  restore(saved: SavedBuckets, now: number): void {
    for (const [start, total, bad] of saved) {
      if (now - start < this.intervalMs) this.addMany(Math.min(start, now), total, bad)
    }
  }

  /** Slot for `t`, after rolling forward to it if it is later than the newest bucket; -1 if the ring no longer holds it. */
  private seek(t: number): number {
    const { bucketMs, bucketCount } = this
    const number = bucketNumber(t, bucketMs)
    if (this.cells === null) {
      this.cells = new Float64Array(2 * bucketCount)
      this.moveTo(number, slotOf(number, bucketCount))
      return this.slot
    }
    const steps = number - this.start / bucketMs
    if (steps < 0) return steps > -bucketCount ? slotOf(number, bucketCount) : -1
    if (steps >= bucketCount) {
      this.cells.fill(0)
      this.total = 0
      this.bad = 0
      this.moveTo(number, slotOf(number, bucketCount))
      return this.slot
    }
    let slot = this.slot
    for (let i = 0; i < steps; i++) {
      slot = slot + 1 === bucketCount ? 0 : slot + 1
      this.total -= this.cells[slot] as number
      this.bad -= this.cells[slot + bucketCount] as number
      this.cells[slot] = 0
      this.cells[slot + bucketCount] = 0
    }
    this.moveTo(number, slot)
    return slot
  }

  private moveTo(number: number, slot: number): void {
    this.slot = slot
    this.start = number * this.bucketMs
    this.end = this.start + this.bucketMs
  }

  private sumAt(now: number, column: number): number {
    if (this.cells === null) return 0
    let sum = 0
    // Age of the newest bucket is counted back slot by slot; a bucket that begins after `now` is live.
    for (let i = 0; i < this.bucketCount; i++) {
      if (now - (this.start - i * this.bucketMs) >= this.intervalMs) break
      sum += this.cells[slotOf(this.slot - i, this.bucketCount) + column] as number
    }
    return sum
  }
}
