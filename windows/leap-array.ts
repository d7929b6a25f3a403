// The generic ring of time buckets. It knows when a bucket is stale; what is in a bucket is the user's.
import { bucketLength, bucketNumber, slotOf } from './bucket-time.js'

export interface LeapArrayOptions<T> {
  /** Length of the whole window, integer ms >= 1. */
  intervalMs: number
  /** Number of buckets, integer >= 1 that divides `intervalMs`. */
  bucketCount: number
  /** Makes a bucket that begins at `start` (epoch ms). */
  create: (start: number) => T
  /** Empties a bucket for reuse from `start` on. Every counter of a bucket must be cleared together. */
  reset: (bucket: T, start: number) => void
  /**
   * `'exclusive'` (default): a bucket is live while `now - start < intervalMs`. `'inclusive'`: also when it is exactly one
   * window old, as in Sentinel.
   */
  edge?: 'exclusive' | 'inclusive'
}

/**
 * A ring of `bucketCount` buckets over `intervalMs`, aligned to multiples of the bucket length since the epoch.
 *
 * ```
 * intervalMs 1000, bucketCount 5, bucketMs 200          t = 1_700_000_000_710
 * slot      0        1        2        3        4
 * start  ...000   ...200   ...400   ...600   (-800)     current(t) is slot 3; slot 4 began 910 ms ago and is reset
 *                                                       when its turn comes
 * ```
 *
 * There is no timer and nothing is cleared in the background: a bucket carries the stamp of its start, and a stamp that is too old
 * makes it stale. An idle gap of any length therefore costs nothing.
 *
 * Cost: `current` O(1); `live` O(bucketCount).
 */
export class LeapArray<T> {
  readonly intervalMs: number
  readonly bucketCount: number
  /** Length of one bucket, ms. */
  readonly bucketMs: number
  readonly #create: (start: number) => T
  readonly #reset: (bucket: T, start: number) => void
  readonly #inclusive: boolean
  readonly #buckets: (T | undefined)[]
  readonly #starts: Float64Array

  /** @throws RangeError if the shape is not as described in {@link LeapArrayOptions}. */
  constructor(options: LeapArrayOptions<T>) {
    const { intervalMs, bucketCount, create, reset, edge = 'exclusive' } = options
    this.bucketMs = bucketLength(intervalMs, bucketCount)
    if (edge !== 'exclusive' && edge !== 'inclusive') {
      throw new RangeError(`edge must be 'exclusive' or 'inclusive', got ${String(edge)}`)
    }
    this.intervalMs = intervalMs
    this.bucketCount = bucketCount
    this.#create = create
    this.#reset = reset
    this.#inclusive = edge === 'inclusive'
    this.#buckets = new Array<T | undefined>(bucketCount).fill(undefined)
    this.#starts = new Float64Array(bucketCount).fill(Number.NaN)
  }

  /**
   * The bucket that covers `t`, made or reset if its turn has come. If the slot already belongs to a later time (the clock stepped
   * back by a window or more), a fresh bucket is returned that the ring does not keep: what is written to it is lost.
   */
  current(t: number): T {
    const number = bucketNumber(t, this.bucketMs)
    const start = number * this.bucketMs
    const slot = slotOf(number, this.bucketCount)
    const stamp = this.#starts[slot] as number
    let bucket = this.#buckets[slot] as T
    if (stamp === start) return bucket
    if (stamp > start) return this.#create(start)
    if (stamp < start) this.#reset(bucket, start)
    else {
      bucket = this.#create(start)
      this.#buckets[slot] = bucket
    }
    this.#starts[slot] = start
    return bucket
  }

  /** All live buckets at `now`, oldest first, those that begin after `now` included. Changes nothing. */
  live(now: number): T[] {
    const slots: number[] = []
    for (let slot = 0; slot < this.bucketCount; slot++) if (this.#isLive(slot, now)) slots.push(slot)
    slots.sort((a, b) => (this.#starts[a] as number) - (this.#starts[b] as number))
    return slots.map((slot) => this.#buckets[slot] as T)
  }

  /** Whatever bucket sits in the slot of `t`, if it is live at `now`; it need not cover `t`. Changes nothing. */
  at(t: number, now: number): T | undefined {
    const slot = slotOf(bucketNumber(t, this.bucketMs), this.bucketCount)
    return this.#isLive(slot, now) ? this.#buckets[slot] : undefined
  }

  /** The bucket that covers `t`, if the ring holds it. Changes nothing. */
  covering(t: number): T | undefined {
    const number = bucketNumber(t, this.bucketMs)
    const slot = slotOf(number, this.bucketCount)
    return this.#starts[slot] === number * this.bucketMs ? this.#buckets[slot] : undefined
  }

  #isLive(slot: number, now: number): boolean {
    const age = now - (this.#starts[slot] as number)
    return age < this.intervalMs || (this.#inclusive && age === this.intervalMs)
  }
}
