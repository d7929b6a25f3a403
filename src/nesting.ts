// Which call is made inside a probe of the same resource. An async context exists only around a probe's function: entering one costs every
// await of the process while it lasts, so it is disabled as soon as no probe is out.
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Resource } from './resource.js'

interface Frame {
  readonly resource: Resource
  readonly seq: number
  readonly outer: Frame | undefined
}

// One for all guards: Node.js keeps every storage that is entered in a list for ever, and walks the list at every await.
const storage = new AsyncLocalStorage<Frame>()
let armed = 0
/** A guard that was dropped with a probe out will not disarm. */
const dropped = new FinalizationRegistry(release)

function release(): void {
  if (--armed === 0) storage.disable()
}

export class Nesting {
  private isArmed = false

  /** Runs `fn` so that calls made in its async chain can be told to be inside call `seq` of `resource`. */
  run<T>(resource: Resource, seq: number, fn: () => T): T {
    if (!this.isArmed) {
      this.isArmed = true
      armed++
      dropped.register(this, undefined, this)
    }
    return storage.run({ resource, seq, outer: storage.getStore() }, fn)
  }

  /** Sequence numbers of the calls of `resource` around the present one, nearest first, or null. */
  parents(resource: Resource): readonly number[] | null {
    if (!this.isArmed) return null
    let seqs: number[] | null = null
    for (let frame = storage.getStore(); frame !== undefined; frame = frame.outer) {
      if (frame.resource !== resource) continue
      seqs ??= []
      seqs.push(frame.seq)
    }
    return seqs
  }

  /** No probe is out any more. */
  disarm(): void {
    if (!this.isArmed) return
    this.isArmed = false
    dropped.unregister(this)
    release()
  }
}
