// The window of the last so many calls, whatever time they took to come. For rules that should not forget in a quiet hour. Hot.

/** What a window of calls holds, as plain JSON: runs of equal calls, oldest first. */
export type SavedRuns = readonly (readonly [kind: number, times: number])[]

/**
 * The last `size` calls in a ring of one byte each, with running counts: recording and deciding cost the same for 10 calls or 100,000.
 *
 * ```
 * kind of a call   0 good   1 bad   2 slow   3 bad and slow      (bit 0: bad, bit 1: slow)
 * cells            [ 0 0 1 3 0 ... ]   a full ring overwrites its oldest call
 * ```
 *
 * All counts change in one place and by the one byte that is overwritten, so none can drift from the others or fall below 0. A time is
 * taken where `CountingWindow` takes one, and not looked at.
 */
export class CountWindow {
  /** Calls it looks back over. */
  readonly size: number
  /** Calls in the window: up to `size`. */
  total = 0
  /** Bad ones among them. */
  bad = 0
  /** Slow ones among them. */
  slow = 0
  /** Those that are both. */
  badAndSlow = 0
  /** Made at the first call. */
  private cells: Uint8Array | null = null
  private next = 0

  /** @throws RangeError unless `size` is an integer >= 1. */
  constructor(size: number) {
    if (!Number.isSafeInteger(size) || size < 1) throw new RangeError(`size must be an integer >= 1, got ${size}`)
    this.size = size
  }

  /** Records one call by its kind, which may be the plain 0 or 1 of good or bad. */
  add(_now: number, kind: number): void {
    this.cells ??= new Uint8Array(this.size)
    if (this.total === this.size) this.count(this.cells[this.next] as number, -1)
    this.cells[this.next] = kind
    this.next = this.next + 1 === this.size ? 0 : this.next + 1
    this.count(kind, 1)
  }

  /** Records several calls at once: the good ones, then the bad ones. */
  addMany(now: number, total: number, bad: number): void {
    const bads = Math.min(bad, this.size)
    const goods = Math.min(total - bad, this.size - bads)
    for (let i = 0; i < goods; i++) this.add(now, 0)
    for (let i = 0; i < bads; i++) this.add(now, 1)
  }

  totalAt(_now: number): number {
    return this.total
  }

  badAt(_now: number): number {
    return this.bad
  }

  clear(_now: number): void {
    this.next = 0
    this.total = 0
    this.bad = 0
    this.slow = 0
    this.badAndSlow = 0
  }

  /** Changes nothing. O(size). */
  saved(): SavedRuns {
    const runs: [number, number][] = []
    const { size, total } = this
    for (let i = 0; i < total; i++) {
      const kind = (this.cells as Uint8Array)[(this.next + size - total + i) % size] as number
      const last = runs.at(-1)
      if (last?.[0] === kind) last[1]++
      else runs.push([kind, 1])
    }
    return runs
  }

  /** Adds saved calls. */
  restore(saved: SavedRuns, now: number): void {
    for (const [kind, times] of saved) for (let i = 0; i < times; i++) this.add(now, kind)
  }

  private count(kind: number, by: 1 | -1): void {
    this.total += by
    this.bad += (kind & 1) * by
    this.slow += (kind >> 1) * by
    if (kind === 3) this.badAndSlow += by
  }
}
