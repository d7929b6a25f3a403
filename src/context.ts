// What a guarded function is called with. A signal is made only when somebody asks for it.
import { setMaxListeners } from 'node:events'
import type { CallContext as CallContextShape } from './types.js'

let neverAborts: AbortSignal | undefined

export class CallContext implements CallContextShape {
  readonly resource: string
  readonly attempt: number
  private own: AbortSignal | undefined

  constructor(resource: string, signal: AbortSignal | undefined, attempt = 1) {
    this.resource = resource
    this.attempt = attempt
    this.own = signal
  }

  /** The caller's signal, or one of this call alone: a shared one would collect the listeners of all calls. */
  get signal(): AbortSignal {
    this.own ??= new AbortController().signal
    return this.own
  }

  /** A frozen context for functions that declare no parameter. Its signal serves all of them. */
  static shared(resource: string): CallContext {
    if (neverAborts === undefined) {
      neverAborts = new AbortController().signal
      setMaxListeners(0, neverAborts)
    }
    const context = new CallContext(resource, neverAborts)
    Object.freeze(context)
    return context
  }
}
