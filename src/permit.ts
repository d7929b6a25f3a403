// Permits: one per call in flight, pooled. A permit that went back to the pool is told from its next life by a generation.
import type { Permit } from '../rules/index.js'
import { failed, returned } from './pipeline.js'
import type { Resource } from './resource.js'

const GENERATION_BITS = 11
const GENERATIONS = 2 ** GENERATION_BITS
/** Permits kept for reuse; after a burst the rest is left to the garbage collector. */
const KEEP = 4096

export class PooledPermit implements Permit {
  owner: Resource
  seq = 0
  start = 0
  count = 1
  parents: readonly number[] | null = null
  args: readonly unknown[] | undefined = undefined
  origin: string | undefined = undefined
  /** Where the caller's abort ends a call by hand: takes the listener off again. */
  unhook: (() => void) | undefined = undefined
  flags = 0
  /** The call is counted but asks and tells no controller, since one of them failed while it took. */
  unguarded = false
  /** Some of the fields above are set and must not outlive the call. */
  special = false
  inUse = false
  generation = 0
  readonly slot: number
  /** What an asynchronous call hangs on its promise. Made once, so that such a call makes no closure. */
  readonly onReturn: (value: unknown) => unknown
  readonly onThrow: (error: unknown) => never

  constructor(owner: Resource, slot: number) {
    this.owner = owner
    this.slot = slot
    this.onReturn = (value) => {
      returned(this, value)
      return value
    }
    this.onThrow = (error) => {
      failed(this, error)
      throw error
    }
  }

  strip(): void {
    this.unhook?.()
    this.unhook = undefined
    this.args = undefined
    this.origin = undefined
    this.unguarded = false
    this.special = false
  }

  get resource(): string {
    return this.owner.name
  }

  /** The permit as the number that `tryEnter` returns: slot and generation. A small integer up to a million calls in flight. */
  get number(): number {
    return this.slot * GENERATIONS + this.generation
  }
}

export class PermitPool {
  /** Permits by slot; a slot whose permit was dropped is null and its generation lives on below. */
  readonly #permits: (PooledPermit | null)[] = []
  readonly #generations: number[] = []
  readonly #free: number[] = []
  #kept = 0

  acquire(owner: Resource, start: number, count: number, parents: readonly number[] | null): PooledPermit {
    const slot = this.#free.pop()
    let permit = slot === undefined ? null : (this.#permits[slot] as PooledPermit | null)
    if (permit === null) permit = this.#make(owner, slot)
    else this.#kept--
    permit.owner = owner
    permit.start = start
    permit.count = count
    permit.parents = parents
    permit.flags = 0
    permit.inUse = true
    owner.seq = (owner.seq + 1) | 0
    permit.seq = owner.seq
    return permit
  }

  release(permit: PooledPermit): void {
    permit.inUse = false
    permit.generation = (permit.generation + 1) & (GENERATIONS - 1)
    if (permit.special) permit.strip()
    this.#free.push(permit.slot)
    if (++this.#kept > KEEP) this.#drop(permit)
  }

  /** The call in flight with this number, or undefined: it has ended, or it never was. */
  find(number: number): PooledPermit | undefined {
    if (!(number >= 0)) return undefined
    const permit = this.#permits[Math.floor(number / GENERATIONS)]
    return permit?.inUse === true && permit.generation === (number & (GENERATIONS - 1)) ? permit : undefined
  }

  #make(owner: Resource, freed: number | undefined): PooledPermit {
    const slot = freed ?? this.#permits.length
    const permit = new PooledPermit(owner, slot)
    permit.generation = this.#generations[slot] ?? 0
    this.#permits[slot] = permit
    return permit
  }

  #drop(permit: PooledPermit): void {
    this.#generations[permit.slot] = permit.generation
    this.#permits[permit.slot] = null
    this.#kept--
  }
}
