// The names a guard knows, at most `maxResources`, each with its resource. What is made here is equipped with the rules in force before
// anybody else sees it. When all places are taken a new name gets the place of an idle one, found by looking at a few.
import { invalidArgument } from './errors.js'
import { Resource } from './resource.js'
import type { Runtime } from './runtime.js'
import type { RegistryStats } from './types.js'

/** Names that a call looks at to find the one used longest ago. Looking at all would make every made-up name cost as much as the bound. */
const EXAMINED = 16
const OVERFLOW = '(overflow)'

export class Registry {
  /** Stands for all names without room, once there was such a name and `onRegistryFull` is `'shared'`. */
  overflow: Resource | undefined
  private readonly runtime: Runtime
  private readonly equip: (resource: Resource) => void
  private readonly resources = new Map<string, Resource>()
  /** The same resources in places that a hand can point at. */
  private readonly ring: Resource[] = []
  private hand = 0
  private evicted = 0
  private overflowed = 0
  private closed = false

  /** @param equip gives a new resource the rules in force for its name. */
  constructor(runtime: Runtime, equip: (resource: Resource) => void) {
    this.runtime = runtime
    this.equip = equip
  }

  get(name: string): Resource | undefined {
    return this.resources.get(name)
  }

  /** For reading: as `get`, and the overflow resource by its name unless a name of the user's own hides it. */
  find(name: string): Resource | undefined {
    return this.resources.get(name) ?? (name === OVERFLOW ? this.overflow : undefined)
  }

  /** For a call: the resource of that name. A new name gets a place, or else what `onRegistryFull` says. */
  admit(name: string): Resource {
    const found = this.resources.get(name)
    if (found !== undefined) return found
    checkName(name)
    if (this.closed) {
      this.runtime.faults.report('LEAPGUARD_DISPOSED', 'entry', undefined, new Error('disposed'))
      return new Resource(name, this.runtime)
    }
    return this.hasRoom(EXAMINED) ? this.make(name) : this.withoutRoom(name)
  }

  /** For the operator: the resource of that name, made if it is new. @throws Error `ERR_REGISTRY_FULL` if no name can make room for it. */
  claim(name: string): Resource {
    const found = this.resources.get(name)
    if (found !== undefined) return found
    checkName(name)
    if (this.hasRoom(this.ring.length)) return this.make(name)
    const why = `all ${this.runtime.maxResources} names are in use, open, forced or configured`
    throw Object.assign(new Error(`no room for ${JSON.stringify(name)}: ${why}; remove some or raise maxResources`), {
      code: 'ERR_REGISTRY_FULL',
    })
  }

  /** For a rule that names it: the resource, made if it is new and there is room without asking another to go. */
  reserve(name: string): Resource | undefined {
    return this.resources.get(name) ?? (this.ring.length < this.runtime.maxResources ? this.make(name) : undefined)
  }

  /** Forgets a name, whatever state it is in. Returns whether it was known. */
  remove(name: string): boolean {
    const found = this.find(name)
    if (found === undefined) return false
    const now = this.runtime.time.read()
    if (found === this.overflow) {
      this.overflow = undefined
      found.drop(now)
    } else this.forget(found, now)
    return true
  }

  /** In the order they were made. */
  names(): IterableIterator<string> {
    return this.resources.keys()
  }

  each(): IterableIterator<Resource> {
    return this.resources.values()
  }

  stats(): RegistryStats {
    const { evicted, overflowed } = this
    return { size: this.ring.length, maxResources: this.runtime.maxResources, evicted, overflowed }
  }

  /** Forgets all names. From now on calls get resources that nobody keeps. */
  close(): void {
    this.closed = true
    this.resources.clear()
    this.ring.length = 0
    this.overflow = undefined
  }

  private make(name: string): Resource {
    const resource = new Resource(name, this.runtime)
    resource.place = this.ring.push(resource) - 1
    this.resources.set(name, resource)
    this.equip(resource)
    return resource
  }

  private hasRoom(examined: number): boolean {
    if (this.ring.length < this.runtime.maxResources) return true
    const idle = this.oldestIdle(Math.min(examined, this.ring.length))
    if (idle === undefined) return false
    this.forget(idle, this.runtime.time.now)
    this.evicted++
    return true
  }

  /**
   * The idle one that was used longest ago among `examined`, spread evenly over the ring: names that were made together, as those of rules
   * are, lie side by side, and a hand that took neighbours would find nothing but busy ones there and evict one of them.
   */
  private oldestIdle(examined: number): Resource | undefined {
    const { ring } = this
    const stride = Math.floor(ring.length / examined)
    let oldest: Resource | undefined
    let at = this.hand
    for (let i = 0; i < examined; i++) {
      const resource = ring[at] as Resource
      if ((oldest === undefined || resource.lastUsed < oldest.lastUsed) && resource.isIdle) oldest = resource
      at = (at + stride) % ring.length
    }
    this.hand = (this.hand + 1) % ring.length
    return oldest
  }

  private forget(resource: Resource, now: number): void {
    this.resources.delete(resource.name)
    const last = this.ring.pop() as Resource
    if (last !== resource) {
      this.ring[resource.place] = last
      last.place = resource.place
    }
    resource.drop(now)
  }

  private withoutRoom(name: string): Resource {
    const { faults, maxResources, shareOverflow } = this.runtime
    if (this.overflowed++ === 0) {
      const examined = Math.min(EXAMINED, maxResources)
      const why = `of ${maxResources} names ${examined} were looked at, and all are in use, open, forced or configured`
      faults.report('LEAPGUARD_REGISTRY_FULL', 'entry', undefined, new Error(why))
    }
    if (!shareOverflow) return new Resource(name, this.runtime)
    if (this.overflow === undefined) {
      this.overflow = new Resource(OVERFLOW, this.runtime, true)
      this.equip(this.overflow)
    }
    return this.overflow
  }
}

export function checkName(name: unknown): asserts name is string {
  if (typeof name !== 'string' || name === '') {
    throw invalidArgument(`a resource name must be a non-empty string, got ${name === '' ? "''" : typeof name}`)
  }
}
