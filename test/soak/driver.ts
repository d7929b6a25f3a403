// A function under guard that waits to be told what to do, in whatever costume of a promise.
import { deferred } from '../support/deferred.js'
import type { Ending } from './endings.js'

export const COSTUMES = ['async', 'promise', 'thenable', 'late thenable', 'rude thenable'] as const
export type Costume = (typeof COSTUMES)[number]

type Order = { readonly run: () => Promise<void> } | { readonly ending: Ending }

/** One running function. */
export class Driver {
  #order = deferred<Order>()
  #done = deferred<void>()
  readonly #result = deferred<unknown>()

  constructor(readonly costume: Costume) {}

  /** Can work be done inside it, in its own async chain? */
  get nests(): boolean {
    return this.costume === 'async'
  }

  /** What the guarded function returns. */
  start(): unknown {
    if (this.costume === 'async') return this.#live()
    const { promise } = this.#result
    if (this.costume === 'promise') return promise
    const { costume } = this
    return {
      // biome-ignore lint/suspicious/noThenProperty: that is what a thenable is
      then(resolve: (value: unknown) => void, reject: (reason: unknown) => void): void {
        const late = costume === 'late thenable' ? () => Promise.resolve() : undefined
        const tell = (call: () => void) => (late === undefined ? call() : void late().then(call))
        promise.then(
          (value) =>
            tell(() => {
              resolve(value)
              if (costume === 'rude thenable') reject(new Error('twice'))
            }),
          (reason) =>
            tell(() => {
              reject(reason)
              if (costume === 'rude thenable') resolve('once more')
            }),
        )
      },
    }
  }

  /** Runs something in the async chain of the function. */
  async within(run: () => Promise<void>): Promise<void> {
    this.#order.resolve({ run })
    await this.#done.promise
  }

  end(ending: Ending): void {
    if (this.costume === 'async') this.#order.resolve({ ending })
    else if (ending.threw) this.#result.reject(ending.value)
    else this.#result.resolve(ending.value)
  }

  async #live(): Promise<unknown> {
    for (;;) {
      const order = await this.#order.promise
      this.#order = deferred()
      if ('ending' in order) {
        if (order.ending.threw) throw order.ending.value
        return order.ending.value
      }
      const done = this.#done
      try {
        await order.run()
        done.resolve()
      } catch (error) {
        done.reject(error)
      }
      this.#done = deferred()
    }
  }
}
