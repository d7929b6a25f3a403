// Which call is made inside a probe of the same resource. An async context exists only around a probe's function: entering one costs every
// await of the process while it lasts, so it is disabled as soon as no probe is out.
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Resource } from './resource.js'

interface Frame {
  readonly resource: Resource
  readonly seq: number
  readonly outer: Frame | undefined
}

export class Nesting {
  #storage: AsyncLocalStorage<Frame> | undefined

  /** Runs `fn` so that calls made in its async chain can be told to be inside call `seq` of `resource`. */
  run<T>(resource: Resource, seq: number, fn: () => T): T {
    this.#storage ??= new AsyncLocalStorage<Frame>()
    return this.#storage.run({ resource, seq, outer: this.#storage.getStore() }, fn)
  }

  /** Sequence numbers of the calls of `resource` around the present one, nearest first, or null. */
  parents(resource: Resource): readonly number[] | null {
    let seqs: number[] | null = null
    for (let frame = this.#storage?.getStore(); frame !== undefined; frame = frame.outer) {
      if (frame.resource !== resource) continue
      seqs ??= []
      seqs.push(frame.seq)
    }
    return seqs
  }

  /** No probe is out any more. */
  disarm(): void {
    this.#storage?.disable()
  }
}
