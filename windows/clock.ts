// Time sources. One clock serves a whole guard: windows, durations, waits. Windows and rules never read it, they are told `now`.

/**
 * Epoch-anchored monotonic milliseconds (fractions welcome) and the timers that go with them.
 * The core itself never sets a timer.
 */
export interface Clock {
  now(): number
  setTimer(fn: () => void, delayMs: number): unknown
  clearTimer(timer: unknown): void
}

const { hrtime } = process

/**
 * The monotonic clock of the process, anchored to the epoch once, when it is made. It never steps, whatever happens to the wall clock.
 *
 * Cost: about 45 ns a reading and no allocation: V8 removes the pair that `process.hrtime()` returns once this is compiled,
 * while `performance.now()` costs the same time and 16 bytes (measured on Node 20.20).
 */
export class PreciseClock implements Clock {
  private readonly baseSeconds: number
  private readonly anchor: number

  constructor() {
    const [seconds, nanos] = hrtime()
    this.baseSeconds = seconds
    this.anchor = Date.now() - nanos / 1e6
  }

  now(): number {
    const time = hrtime()
    return (time[0] - this.baseSeconds) * 1e3 + time[1] / 1e6 + this.anchor
  }

  /**
   * Sets `moment.now` to the present reading. Where V8 does not inline `now`, its result is boxed, 16 bytes; this gives nothing back.
   */
  tick(moment: { now: number }): void {
    const time = hrtime()
    moment.now = (time[0] - this.baseSeconds) * 1e3 + time[1] / 1e6 + this.anchor
  }

  setTimer(fn: () => void, delayMs: number): unknown {
    return setTimeout(fn, delayMs)
  }

  clearTimer(timer: unknown): void {
    clearTimeout(timer as NodeJS.Timeout)
  }
}

interface ManualTimer {
  due: number
  fn: () => void
}

/**
 * A clock that stands still until told. `advance(ms)` runs the timers that fall due, in order of due time (equal times in order
 * of setting), each at its own instant; timers set meanwhile take part. `set(ms)` jumps forward likewise, and backward without running any.
 */
export class ManualClock implements Clock {
  #now: number
  #timers: ManualTimer[] = []

  /** @param startMs first reading, any finite number; default 0. */
  constructor(startMs = 0) {
    this.#now = finite(startMs, 'startMs')
  }

  now(): number {
    return this.#now
  }

  /** Moves to an instant, epoch ms. */
  set(ms: number): void {
    finite(ms, 'ms')
    for (let timer = this.#nextDue(ms); timer !== undefined; timer = this.#nextDue(ms)) {
      this.clearTimer(timer)
      this.#now = Math.max(this.#now, timer.due)
      timer.fn()
    }
    this.#now = ms
  }

  /** Moves forward by `ms` >= 0. */
  advance(ms: number): void {
    if (!(finite(ms, 'ms') >= 0))
      throw new RangeError(`ManualClock.advance: ms must be >= 0, got ${ms}; use set() to go back`)
    this.set(this.#now + ms)
  }

  setTimer(fn: () => void, delayMs: number): unknown {
    const timer: ManualTimer = { due: this.#now + Math.max(0, delayMs), fn }
    this.#timers.push(timer)
    return timer
  }

  clearTimer(timer: unknown): void {
    const index = this.#timers.indexOf(timer as ManualTimer)
    if (index >= 0) this.#timers.splice(index, 1)
  }

  /** Timers set and neither run nor cleared. */
  get pendingTimers(): number {
    return this.#timers.length
  }

  #nextDue(until: number): ManualTimer | undefined {
    let next: ManualTimer | undefined
    for (const timer of this.#timers)
      if (timer.due <= until && (next === undefined || timer.due < next.due)) next = timer
    return next
  }
}

function finite(ms: number, name: string): number {
  if (typeof ms !== 'number' || !Number.isFinite(ms)) {
    throw new RangeError(`ManualClock: ${name} must be a finite number, got ${String(ms)}`)
  }
  return ms
}
