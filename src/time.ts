// The guard's reading of its clock: never nonsense, and backward steps as configured. Hot.
import { isThenable, type Moment, swallow } from '../rules/index.js'
import { type Clock, PreciseClock } from '../windows/index.js'
import type { Faults } from './faults.js'

type OnBack = 'clamp' | 'refuse' | 'raw'

export class GuardTime implements Moment {
  /** The last reading. A field and not a return value, so that the double is not boxed. */
  now = Number.NEGATIVE_INFINITY
  /** Set by a reading that went back under `onClockBack: 'refuse'`; the gatehouse looks at it and puts it back. */
  wentBack = false
  private readonly source: PreciseClock | CheckedClock

  constructor(clock: Clock, onBack: OnBack, faults: Faults) {
    this.source = clock.constructor === PreciseClock ? (clock as PreciseClock) : new CheckedClock(clock, onBack, faults)
  }

  /** Sets `now`, before a call. */
  tick(): void {
    this.source.tick(this)
  }

  /** Sets `now` where a call cannot be refused any more: a backward step is clamped unless it is to be believed. */
  tickSettled(): void {
    this.source.tick(this)
    this.wentBack = false
  }

  stopRefusing(): void {
    if (this.source instanceof CheckedClock) this.source.stopRefusing()
  }

  /** For reading, off the hot path. */
  read(): number {
    this.tickSettled()
    return this.now
  }
}

/** A clock of the user's own, which may step back, throw or talk nonsense. The precise clock does none of it and is read bare. */
class CheckedClock {
  private readonly clock: Clock
  private onBack: OnBack
  private readonly faults: Faults

  constructor(clock: Clock, onBack: OnBack, faults: Faults) {
    this.clock = clock
    this.onBack = onBack
    this.faults = faults
  }

  /** After the guard has ended nothing is refused any more. */
  stopRefusing(): void {
    if (this.onBack === 'refuse') this.onBack = 'clamp'
  }

  tick(time: GuardTime): void {
    try {
      const reading = this.clock.now()
      if (reading >= time.now && isTime(reading)) time.now = reading
      else this.odd(time, reading)
    } catch (error) {
      this.broken(time, error)
    }
  }

  private odd(time: GuardTime, reading: unknown): void {
    if (!isTime(reading)) {
      if (isThenable(reading)) swallow(reading)
      const fault = `clock.now() must return a finite number of milliseconds, got ${String(reading)}`
      this.broken(time, new TypeError(fault))
    } else if (this.onBack === 'raw') time.now = reading
    else if (this.onBack === 'refuse') time.wentBack = true
  }

  private broken(time: GuardTime, error: unknown): void {
    this.faults.report('LEAPGUARD_CLOCK', 'clock', undefined, error)
    if (time.now === Number.NEGATIVE_INFINITY) time.now = 0
  }
}

function isTime(reading: unknown): reading is number {
  return typeof reading === 'number' && Math.abs(reading) <= Number.MAX_SAFE_INTEGER
}
