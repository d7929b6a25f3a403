// Permits: one per call in flight, pooled. A permit that went back to the pool is told from its next life by a count.
import type { Permit } from '../rules/index.js'
import { failed, returned } from './pipeline.js'
import type { Resource } from './resource.js'

/**
 * Lives of a slot that a permit number tells apart: 2^20, so that numbers are small integers up to 2,048 calls in flight (and doubles beyond)
 * and a number that was ended is taken for a later call only after exactly a multiple of a million reuses of its slot.
 */
const GENERATIONS = 2 ** 20
/** Handles compare whole lives, which wrap later than any process. */
const LIVES = 2 ** 30
/** Permits kept for reuse; after a burst the rest is left to the garbage collector. */
const KEEP = 4096

export class PooledPermit implements Permit {
  owner: Resource
  seq = 0
  start = Number.NaN
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
  /** `tryEnter` gave its number out. */
  numbered = false
  life = 0
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

  /** The permit as the number that `tryEnter` returns: slot and life. */
  get number(): number {
    return this.slot * GENERATIONS + (this.life & (GENERATIONS - 1))
  }

  /** Is this still the call it was in that life? */
  isLive(life: number): boolean {
    return this.inUse && this.life === life
  }
}

export class PermitPool {
  /** Permits by slot; a slot whose permit was dropped is null and the count of its lives goes on below. */
  private readonly permits: (PooledPermit | null)[] = []
  private readonly lives: number[] = []
  private readonly free: number[] = []
  private kept = 0

  acquire(owner: Resource, count: number, parents: readonly number[] | null): PooledPermit {
    const slot = this.free.pop()
    let permit = slot === undefined ? null : (this.permits[slot] as PooledPermit | null)
    if (permit === null) permit = this.make(owner, slot)
    else this.kept--
    permit.owner = owner
    permit.start = owner.runtime.time.now
    permit.count = count
    permit.parents = parents
    permit.flags = 0
    permit.inUse = true
    permit.numbered = false
    owner.seq = (owner.seq + 1) | 0
    permit.seq = owner.seq
    return permit
  }

  release(permit: PooledPermit): void {
    permit.inUse = false
    permit.life = (permit.life + 1) & (LIVES - 1)
    if (permit.special) permit.strip()
    this.free.push(permit.slot)
    if (++this.kept > KEEP) this.drop(permit)
  }

  /** The call in flight that `tryEnter` gave this number, or undefined: it has ended, or it never was. */
  find(number: number): PooledPermit | undefined {
    if (typeof number !== 'number' || !(number >= 0)) return undefined
    const permit = this.permits[Math.floor(number / GENERATIONS)]
    if (permit === undefined || permit === null || !permit.inUse || !permit.numbered) return undefined
    return permit.number === number ? permit : undefined
  }

  private make(owner: Resource, freed: number | undefined): PooledPermit {
    const slot = freed ?? this.permits.length
    const permit = new PooledPermit(owner, slot)
    permit.life = this.lives[slot] ?? 0
    this.permits[slot] = permit
    return permit
  }

  private drop(permit: PooledPermit): void {
    this.lives[permit.slot] = permit.life
    this.permits[permit.slot] = null
    this.kept--
  }
}
