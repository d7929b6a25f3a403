// How many calls are due now: by elapsed time, so that late timers are caught up with, but never in a flood.

export class Pacer {
  readonly #perMs: number
  readonly #maxBurst: number
  #since: number
  #given = 0

  /** After a stall of more than `maxBurst` calls the rest is forgotten: a client that was stopped made no calls. */
  constructor(callsPerSecond: number, now: number, maxBurst = Math.max(1, Math.ceil(callsPerSecond / 10))) {
    this.#perMs = callsPerSecond / 1000
    this.#maxBurst = maxBurst
    this.#since = now
  }

  due(now: number): number {
    const due = Math.floor((now - this.#since) * this.#perMs) - this.#given
    if (due > this.#maxBurst) {
      this.#since = now
      this.#given = 0
      return this.#maxBurst
    }
    if (due <= 0) return 0
    this.#given += due
    return due
  }
}
