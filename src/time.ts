// The guard's reading of its clock: never nonsense, and backward steps as configured. Hot.
import type { Clock } from '../windows/index.js'
import type { Faults } from './faults.js'

export class GuardTime {
  /** Set by a reading that went back under `onClockBack: 'refuse'`; the gatehouse looks at it and puts it back. */
  wentBack = false
  #last = Number.NEGATIVE_INFINITY
  readonly #clock: Clock
  readonly #onBack: 'clamp' | 'refuse' | 'raw'
  readonly #faults: Faults

  constructor(clock: Clock, onBack: 'clamp' | 'refuse' | 'raw', faults: Faults) {
    this.#clock = clock
    this.#onBack = onBack
    this.#faults = faults
  }

  /** Now, before a call. Cost: the clock's own, and two comparisons. */
  read(): number {
    let time: number
    try {
      time = this.#clock.now()
    } catch (error) {
      return this.#broken(error)
    }
    if (time >= this.#last && time <= Number.MAX_SAFE_INTEGER) {
      this.#last = time
      return time
    }
    return this.#odd(time)
  }

  /** Now, where a call cannot be refused any more: a backward step is clamped unless it is to be believed. */
  readSettled(): number {
    const time = this.read()
    this.wentBack = false
    return time
  }

  #odd(time: unknown): number {
    if (typeof time !== 'number' || !Number.isFinite(time) || Math.abs(time) > Number.MAX_SAFE_INTEGER) {
      return this.#broken(new TypeError(`clock.now() must return a finite number of milliseconds, got ${String(time)}`))
    }
    if (this.#onBack === 'raw') {
      this.#last = time
      return time
    }
    if (this.#onBack === 'refuse') this.wentBack = true
    return this.#last
  }

  #broken(error: unknown): number {
    this.#faults.report('LEAPGUARD_CLOCK', 'clock', undefined, error)
    return this.#last === Number.NEGATIVE_INFINITY ? 0 : this.#last
  }
}
