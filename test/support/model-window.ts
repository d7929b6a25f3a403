// Naive windows: they keep every event and count by looking at all of them. Slow, and too plain to be wrong.

interface Booking {
  readonly at: number
  readonly total: number
  readonly bad: number
}

/** What a counting window must show: a bucket is live while `now - start < intervalMs`. */
export class NaiveWindow {
  #bookings: Booking[] = []
  readonly #bucketMs: number

  constructor(
    readonly intervalMs: number,
    bucketCount: number,
  ) {
    this.#bucketMs = intervalMs / bucketCount
  }

  book(at: number, total: number, bad: number): void {
    this.#bookings.push({ at, total, bad })
  }

  clear(): void {
    this.#bookings = []
  }

  count(now: number): { total: number; bad: number } {
    let total = 0
    let bad = 0
    for (const booking of this.#bookings) {
      if (now - Math.floor(booking.at / this.#bucketMs) * this.#bucketMs >= this.intervalMs) continue
      total += booking.total
      bad += booking.bad
    }
    return { total, bad }
  }
}

/** What a window of the last so many calls must show. */
export class NaiveLast {
  #bad: boolean[] = []

  constructor(readonly size: number) {}

  book(_at: number, total: number, bad: number): void {
    for (let i = 0; i < total; i++) this.#bad.push(i >= total - bad)
  }

  clear(): void {
    this.#bad = []
  }

  count(_now: number): { total: number; bad: number } {
    const last = this.#bad.slice(-this.size)
    return { total: last.length, bad: last.filter((bad) => bad).length }
  }
}

/** What a ring of buckets must hold, told from the bare list of stamps in the order in which they came. */
export class NaiveRing {
  readonly #stamps: { readonly index: number; readonly late: boolean }[] = []
  readonly bucketMs: number

  constructor(
    readonly intervalMs: number,
    readonly bucketCount: number,
    readonly edge: 'exclusive' | 'inclusive' = 'exclusive',
  ) {
    this.bucketMs = intervalMs / bucketCount
  }

  indexOf(at: number): number {
    return Math.floor(at / this.bucketMs)
  }

  startOf(at: number): number {
    return this.indexOf(at) * this.bucketMs
  }

  /** A stamp is late if a newer bucket already had its slot. */
  isLate(at: number): boolean {
    const index = this.indexOf(at)
    return this.#stamps.some((other) => other.index > index && (other.index - index) % this.bucketCount === 0)
  }

  stamp(at: number): void {
    this.#stamps.push({ index: this.indexOf(at), late: this.isLate(at) })
  }

  /** Stamps in the bucket that covers `at`; `undefined` if the ring does not hold that bucket. */
  covering(at: number): number | undefined {
    const index = this.indexOf(at)
    const count = this.#stamps.filter((stamp) => stamp.index === index && !stamp.late).length
    return count === 0 || this.isLate(at) ? undefined : count
  }

  /** Start of the bucket that sits in the slot of `at`, whatever time it covers. */
  occupantOf(at: number): number | undefined {
    const slot = this.indexOf(at)
    const indices = this.#stamps.map(({ index }) => index).filter((index) => (index - slot) % this.bucketCount === 0)
    return indices.length === 0 ? undefined : Math.max(...indices) * this.bucketMs
  }

  isLive(start: number, now: number): boolean {
    return this.edge === 'inclusive' ? now - start <= this.intervalMs : now - start < this.intervalMs
  }

  /** Live buckets, oldest first, those that begin after `now` included. */
  live(now: number): { start: number; count: number }[] {
    const indices = [...new Set(this.#stamps.map((stamp) => stamp.index))].sort((a, b) => a - b)
    const found: { start: number; count: number }[] = []
    for (const index of indices) {
      const start = index * this.bucketMs
      const count = this.covering(start)
      if (count !== undefined && this.isLive(start, now)) found.push({ start, count })
    }
    return found
  }
}
