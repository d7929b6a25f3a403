// The names a guard knows, each with its resource. What is made here is equipped with the rules in force before anybody else sees it.
import { invalidArgument } from './errors.js'
import { Resource } from './resource.js'
import type { Runtime } from './runtime.js'

export class Registry {
  private readonly runtime: Runtime
  private readonly equip: (resource: Resource) => void
  private readonly resources = new Map<string, Resource>()
  private closed = false

  /** @param equip gives a new resource the rules in force for its name. */
  constructor(runtime: Runtime, equip: (resource: Resource) => void) {
    this.runtime = runtime
    this.equip = equip
  }

  get size(): number {
    return this.resources.size
  }

  get(name: string): Resource | undefined {
    return this.resources.get(name)
  }

  /** For a call: the resource of that name, made if it is new. */
  admit(name: string): Resource {
    const found = this.resources.get(name)
    if (found !== undefined) return found
    checkName(name)
    if (!this.closed) return this.make(name)
    this.runtime.faults.report('LEAPGUARD_DISPOSED', 'entry', undefined, new Error('disposed'))
    return new Resource(name, this.runtime)
  }

  /** For the operator: the resource of that name, made if it is new. */
  claim(name: string): Resource {
    return this.admit(name)
  }

  /** For a rule that names it: the resource, made if it is new and there is room; else undefined. */
  reserve(name: string): Resource | undefined {
    return this.admit(name)
  }

  delete(name: string): boolean {
    return this.resources.delete(name)
  }

  names(): IterableIterator<string> {
    return this.resources.keys()
  }

  each(): IterableIterator<Resource> {
    return this.resources.values()
  }

  /** Forgets all names. From now on calls get resources that nobody keeps. */
  close(): void {
    this.closed = true
    this.resources.clear()
  }

  private make(name: string): Resource {
    const resource = new Resource(name, this.runtime)
    this.resources.set(name, resource)
    this.equip(resource)
    return resource
  }
}

export function checkName(name: unknown): asserts name is string {
  if (typeof name !== 'string' || name === '') {
    throw invalidArgument(`a resource name must be a non-empty string, got ${name === '' ? "''" : typeof name}`)
  }
}
