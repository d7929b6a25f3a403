// Starts of calls that still run, so that those past a limit are noticed without a timer and without a list of calls.

/**
 * Counts running calls by the time they began, over a span of `limitMs`, in buckets of `max(1, floor(limitMs / 8))` ms.
 *
 * ```
 * limitMs 1000, bucketMs 125            now = 1300
 * bucket    [0,125) [125,250) [250,375) ...
 * due at     1125     1250      1375       all calls of a bucket have run for more than 1000 ms once its end + 1000 has come
 *                     ^ cursor after fold(1300): the first two were returned, once
 * ```
 *
 * A bucket is folded as a whole, so a call is noticed at most one bucket late and never early. Times are floored to whole ms, which keeps
 * every division exact. Call `fold(now)` before `begin(now)`.
 */
export class StartRing {
  readonly limitMs: number
  readonly bucketMs: number
  /** When the bucket at the cursor falls due, epoch ms: before it `fold` has nothing to do. */
  due = 0
  private readonly counts: Int32Array
  private cursorStart = 0
  private cursorSlot = 0
  private running = 0

  /** @throws RangeError unless `limitMs` is an integer >= 0. */
  constructor(limitMs: number, now: number) {
    if (!Number.isSafeInteger(limitMs) || limitMs < 0) {
      throw new RangeError(`limitMs must be an integer >= 0, got ${String(limitMs)}`)
    }
    this.limitMs = limitMs
    this.bucketMs = startBucketMs(limitMs)
    // Buckets between the cursor and now: those not yet due, the partly elapsed one at either end included.
    this.counts = new Int32Array(Math.floor(limitMs / this.bucketMs) + 2)
    this.restart(now)
  }

  /** Forgets all calls; those that began before are behind the cursor or unknown. */
  restart(now: number): void {
    this.counts.fill(0)
    this.running = 0
    this.cursorSlot = 0
    this.moveCursor(Math.floor(Math.floor(now) / this.bucketMs) * this.bucketMs)
  }

  /** A call begins at `now`. Returns false if the ring cannot hold it (`now` is before the cursor: the clock stepped back). */
  begin(now: number): boolean {
    const offset = this.offset(now)
    if (offset < 0 || offset >= this.counts.length) return false
    const slot = this.slotAt(offset)
    this.counts[slot] = (this.counts[slot] as number) + 1
    this.running++
    return true
  }

  /** A call that began at `start` has ended. Returns false if its bucket was folded before: it has been returned by `fold` already. */
  end(start: number): boolean {
    const offset = this.offset(start)
    if (offset < 0 || offset >= this.counts.length) return false
    const slot = this.slotAt(offset)
    this.counts[slot] = (this.counts[slot] as number) - 1
    this.running--
    return true
  }

  /** Number of running calls that are past the limit at `now` and were not returned before. */
  fold(now: number): number {
    if (now < this.due) return 0
    const size = this.counts.length
    let folded = 0
    if (this.running === 0 || now - this.due >= size * this.bucketMs) {
      folded = this.running
      this.restart(now - this.limitMs)
      return folded
    }
    while (now >= this.due) {
      const count = this.counts[this.cursorSlot] as number
      folded += count
      this.counts[this.cursorSlot] = 0
      this.cursorSlot = this.cursorSlot + 1 === size ? 0 : this.cursorSlot + 1
      this.moveCursor(this.cursorStart + this.bucketMs)
    }
    this.running -= folded
    return folded
  }

  private offset(t: number): number {
    return Math.floor((Math.floor(t) - this.cursorStart) / this.bucketMs)
  }

  private slotAt(offset: number): number {
    const slot = this.cursorSlot + offset
    return slot >= this.counts.length ? slot - this.counts.length : slot
  }

  private moveCursor(start: number): void {
    this.cursorStart = start
    this.due = start + this.bucketMs + this.limitMs
  }
}

/** Length of a bucket of starts for a slow limit: `max(1, floor(limitMs / 8))`. */
export function startBucketMs(limitMs: number): number {
  return Math.max(1, Math.floor(limitMs / 8))
}
