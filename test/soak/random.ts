// Chance by a seed: what a round does can be done again.

export class Random {
  #state: number

  constructor(seed: number) {
    // Of neighbouring seeds the first numbers would be alike. Zero alone would stay zero.
    this.#state = Math.imul(seed ^ 0x5bd1e995, 0x01000193) | 1
    for (let i = 0; i < 8; i++) this.next()
  }

  /** Uniform in [0, 1): 32 bits of a xorshift generator. */
  next(): number {
    let x = this.#state
    x ^= x << 13
    x ^= x >>> 17
    x ^= x << 5
    this.#state = x
    return (x >>> 0) / 2 ** 32
  }

  /** Integer from 0 to `below` - 1. */
  int(below: number): number {
    return Math.floor(this.next() * below)
  }

  chance(share: number): boolean {
    return this.next() < share
  }

  pick<T>(list: readonly T[]): T {
    return list[this.int(list.length)] as T
  }

  /** One of them, taken out; `undefined` if there is none. */
  takeOut<T>(list: T[]): T | undefined {
    return list.splice(this.int(list.length), 1)[0]
  }

  /** A name, each as often as its weight says. */
  weighted<K extends string>(weights: Readonly<Record<K, number>>): K {
    const entries = Object.entries(weights) as [K, number][]
    let left = this.next() * entries.reduce((sum, [, weight]) => sum + weight, 0)
    for (const [name, weight] of entries) {
      left -= weight
      if (left < 0) return name
    }
    return (entries.at(-1) as [K, number])[0]
  }
}
