// What a soak does to its process: memory, timers and handles, rejections that nobody handles, warnings.
import { setImmediate } from 'node:timers/promises'
import { isFlat, type Sample, type Trend, trendOf } from './memory.js'

export interface Check {
  readonly name: string
  readonly ok: boolean
  readonly text: string
}

export class Watch {
  readonly #samples: Sample[] = []
  readonly #complaints: string[] = []
  readonly #before = process.getActiveResourcesInfo()
  readonly #collect = (globalThis as { gc?: () => void }).gc
  #sampledAt = 0

  /** @param everyMs time between two looks at memory. */
  constructor(private readonly everyMs: number) {
    process.on('unhandledRejection', this.#onRejection)
    process.on('warning', this.#onWarning)
  }

  /** After a round: lets the process tell of unhandled rejections, and looks at memory now and then. */
  async look(calls: number): Promise<void> {
    await setImmediate()
    const now = performance.now() // real time
    if (now - this.#sampledAt < this.everyMs) return
    this.#sample(calls)
    this.#sampledAt = performance.now()
  }

  /** Everything must have ended. */
  async end(calls: number): Promise<Check[]> {
    await setImmediate()
    await setImmediate()
    process.off('unhandledRejection', this.#onRejection)
    process.off('warning', this.#onWarning)
    this.#sample(calls)
    return [this.#quiet(), this.#left(), this.#flat()]
  }

  readonly #onRejection = (reason: unknown): void => {
    this.#complaints.push(`unhandled rejection: ${String(reason)}`)
  }

  readonly #onWarning = (warning: Error): void => {
    this.#complaints.push(`warning: ${String(warning)}`)
  }

  #sample(calls: number): void {
    this.#collect?.()
    this.#collect?.()
    this.#samples.push({ calls, heapBytes: process.memoryUsage().heapUsed })
  }

  #quiet(): Check {
    const count = this.#complaints.length
    const text = count === 0 ? 'none' : `${count}, the first: ${this.#complaints[0]}`
    return { name: 'unhandled rejections and warnings', ok: count === 0, text }
  }

  #left(): Check {
    const before = [...this.#before]
    const left = process.getActiveResourcesInfo().filter((kind) => {
      const at = before.indexOf(kind)
      if (at >= 0) before.splice(at, 1)
      return at < 0
    })
    return {
      name: 'timers and handles left',
      ok: left.length === 0,
      text: left.length === 0 ? 'none' : left.join(', '),
    }
  }

  #flat(): Check {
    const name = 'memory'
    if (this.#collect === undefined) return { name, ok: true, text: 'not looked at: node --expose-gc was not given' }
    const trend = trendOf(this.#samples)
    if (trend === undefined) return { name, ok: true, text: `${this.#samples.length} samples are too few to tell` }
    return { name, ok: isFlat(trend), text: textOf(trend, this.#samples.at(-1) as Sample) }
  }
}

const textOf = ({ samples, bytesPerCall, growthBytes }: Trend, last: Sample): string =>
  `${samples} samples after collection, ${bytesPerCall.toFixed(2)} bytes per call, ${kB(growthBytes)} in all, ${kB(last.heapBytes)} at the end`

const kB = (bytes: number): string => `${Math.round(bytes / 1024).toLocaleString('en')} kB`
