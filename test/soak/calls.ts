// Calls of a model round: through every entrance, in every costume, each on both sides, and what its caller must get in the end.
import { getEventListeners } from 'node:events'
import { isDeepStrictEqual } from 'node:util'
import { BlockedError, type EntryHandle, type EntryOptions } from 'leapguard'
import { deferred, flush } from '../support/deferred.js'
import { type Live, type Offer, RESOURCE, type Twin } from '../support/model-guard.js'
import { COSTUMES, type Costume, Driver } from './driver.js'
import {
  anyEnding,
  anyFallbacks,
  anyOutcome,
  type Ending,
  type Fallbacks,
  isAnsweredFor,
  type Settled,
} from './endings.js'
import type { Random } from './random.js'

/** A call in flight, in both worlds. */
export interface Held {
  readonly live: Live
  readonly controller: AbortController | undefined
  end(): Promise<void> | void
  /** The caller's signal has aborted: it must have ended. */
  aborted(): Promise<void> | void
  /** Makes one more call inside it; absent if that cannot be. */
  readonly nest?: (() => Promise<void>) | undefined
}

/** Where a call is made: in the async chain of other calls, or with a handle to show. The guard knows of no others around it. */
interface Place {
  readonly chain: readonly Live[]
  readonly by?: { readonly handle: EntryHandle; readonly lineage: readonly Live[] }
}

const OUTSIDE: Place = { chain: [] }
const aroundOf = ({ chain, by }: Place): readonly Live[] => by?.lineage ?? chain

const nothing = (): void => {}

/** Makes calls and keeps those that are in flight. */
export class Caller {
  readonly held: Held[] = []
  /** Functions still at work although their calls were aborted. */
  readonly abandoned: Driver[] = []
  readonly signals = new Set<AbortSignal>()
  calls = 0
  /** Fallbacks that are configured for the resource. */
  configured: Fallbacks | undefined
  #shared = new AbortController()
  /** A difference that was noticed within a guarded function, and that the guard takes for an error of the function. */
  #within: { readonly error: unknown } | undefined

  constructor(
    private readonly twin: Twin,
    private readonly random: Random,
  ) {}

  /** One call, perhaps inside others. */
  async start(place = OUTSIDE): Promise<void> {
    try {
      await this.#start(place)
    } catch (error) {
      throw (this.#within ?? { error }).error
    }
  }

  async #start(place: Place): Promise<void> {
    this.calls++
    const way = this.random.weighted({ permit: 3, handle: 3, sync: 2, value: 1, costume: 5, dead: 0.3 })
    if (way === 'permit') this.#permit(place)
    else if (way === 'handle') this.#handle(place)
    else if (way === 'sync') this.#sync(place)
    else if (way === 'dead') await this.#dead()
    else await this.#entry(way === 'value' ? 'value' : this.random.pick(COSTUMES), place)
  }

  async endAll(): Promise<void> {
    while (this.held.length > 0) {
      await this.random.takeOut(this.held)?.end()
      this.twin.agree('one of the last ends')
    }
    while (this.abandoned.length > 0) this.random.takeOut(this.abandoned)?.end(this.#ending())
    await flush()
  }

  async endAbandoned(): Promise<void> {
    this.random.takeOut(this.abandoned)?.end(this.#ending())
    await flush()
  }

  /** Aborts one caller's signal, and with it all of his calls. */
  async abort(): Promise<void> {
    const controller = this.random.pick(this.held.flatMap((held) => held.controller ?? []))
    if (controller === undefined) return
    const gone = this.held.filter((held) => held.controller === controller)
    for (const held of gone) this.held.splice(this.held.indexOf(held), 1)
    if (controller === this.#shared) this.#shared = new AbortController()
    controller.abort(new Error('the caller has gone'))
    for (const held of gone) this.twin.end(held.live, 'ignored')
    for (const held of gone) await held.aborted()
  }

  /** Signals of callers who are done and that somebody still listens to. */
  listeners(): number {
    const busy = new Set(this.held.map(({ controller }) => controller?.signal))
    let count = 0
    for (const signal of this.signals) if (!busy.has(signal)) count += getEventListeners(signal, 'abort').length
    return count
  }

  #ending(): Ending {
    return anyEnding(this.random, anyOutcome(this.random))
  }

  /** Nobody, a caller of this call alone, or one who makes many. */
  #controller(): AbortController | undefined {
    const who = this.random.weighted({ nobody: 4, own: 2, shared: 1 })
    if (who === 'nobody') return undefined
    const controller = who === 'own' ? new AbortController() : this.#shared
    this.signals.add(controller.signal)
    return controller
  }

  #options(controller: AbortController | undefined, { by }: Place): EntryOptions | undefined {
    const options = {
      ...(controller === undefined ? {} : { signal: controller.signal }),
      ...(by === undefined ? {} : { parent: by.handle }),
      ...(this.random.chance(0.1) ? { count: 1 + this.random.int(3), origin: 'soak', args: [1] } : {}),
    }
    return Object.keys(options).length === 0 && this.random.chance(0.9) ? undefined : options
  }

  #permit(place: Place): void {
    const { twin } = this
    const controller = this.#controller()
    const offer = twin.offer(aroundOf(place))
    const permit = twin.guard.tryEnter(RESOURCE, this.#options(controller, place))
    if (permit < 0) {
      twin.refused(offer)
      return
    }
    const live = twin.admitted(offer, nothing)
    const leave = (): void => {
      const outcome = anyOutcome(this.random)
      twin.guard.leave(permit, outcome)
      twin.end(live, outcome)
      if (this.random.chance(0.1)) twin.guard.leave(permit, anyOutcome(this.random))
    }
    this.held.push({
      live,
      controller,
      end: leave,
      aborted: () => twin.guard.leave(permit, 'failure'),
    })
  }

  #handle(place: Place): void {
    const { twin } = this
    const controller = this.#controller()
    const offer = twin.offer(aroundOf(place))
    let handle: EntryHandle
    try {
      handle = twin.guard.enter(RESOURCE, this.#options(controller, place))
    } catch (error) {
      twin.refused(offer, refusalOf(error))
      return
    }
    const live = twin.admitted(offer, nothing)
    const end = (): void => {
      const { outcome, threw, value } = this.#ending()
      if (threw && value !== undefined) {
        handle.exit({ error: value })
        twin.end(live, outcome)
      } else if (this.random.chance(0.5)) {
        handle.exit()
        twin.end(live, 'success')
      } else {
        handle.cancel()
        twin.end(live, 'ignored')
      }
      if (this.random.chance(0.1)) handle.exit({ error: new Error('a second end') })
    }
    this.held.push({
      live,
      controller,
      end,
      aborted: () => handle.exit(),
      nest: () => this.start({ chain: [], by: { handle, lineage: [live, ...aroundOf(place)] } }),
    })
  }

  /** A synchronous function that may take its time, make calls of its own, and be aborted by itself. */
  #sync(place: Place): void {
    const { twin, random } = this
    const controller = this.#controller()
    const own = this.#fallbacks(false)
    const fallbacks = own ?? this.configured
    const offer = twin.offer(aroundOf(place))
    const ending = this.#ending()
    let live: Live | undefined
    let aborts = false
    const got = settledBy(() =>
      twin.guard.entrySync(
        RESOURCE,
        () => {
          live = this.#admitted(offer)
          if (random.chance(0.3)) {
            twin.wait(random.int(40))
            twin.agree('a wait within')
          }
          if (place.chain.length < 3 && random.chance(0.2)) this.#callWithin({ chain: [live, ...place.chain] })
          aborts = controller !== undefined && controller !== this.#shared && random.chance(0.1)
          if (aborts) controller?.abort('from within')
          if (ending.threw) throw ending.value
          return ending.value as never
        },
        { ...this.#options(controller, place), ...(own && { fallbacks: own.list }) },
      ),
    )
    if (live === undefined) this.#refused(offer, got, fallbacks)
    else {
      twin.end(live, aborts ? 'ignored' : ending.outcome)
      if (aborts) mustBe(got, { error: 'from within' })
      else mustBe(got, wanted(ending, fallbacks))
    }
  }

  /** A call within a synchronous function, over before it or not. */
  #callWithin(place: Place): void {
    const way = this.random.weighted({ permit: 1, handle: 1, sync: 1 })
    if (way === 'permit') this.#permit(place)
    else if (way === 'handle') this.#handle(place)
    else this.#sync(place)
    this.twin.agree(`a call by ${way} within`)
  }

  /** Both let it in. What that changed has been told by the time the function runs. */
  #admitted(offer: Offer): Live {
    try {
      const live = this.twin.admitted(offer, nothing)
      this.twin.agree('the entry')
      return live
    } catch (error) {
      this.#within ??= { error }
      throw error
    }
  }

  async #entry(costume: Costume | 'value', place: Place): Promise<void> {
    const { twin, random } = this
    const controller = this.#controller()
    const own = this.#fallbacks(true)
    const fallbacks = own ?? this.configured
    const driver = new Driver(costume === 'value' ? 'promise' : costume)
    const offer = twin.offer(aroundOf(place))
    const ending = this.#ending()
    let live: Live | undefined
    const work = (): unknown => {
      live = this.#admitted(offer)
      if (costume !== 'value') return driver.start()
      if (ending.threw) throw ending.value
      return ending.value
    }
    const bare = this.#options(controller, place)
    const options = own === undefined ? bare : { ...bare, fallbacks: own.list }
    const promise = random.chance(0.2)
      ? twin.guard.wrap(RESOURCE, work, options)()
      : twin.guard.entry(RESOURCE, random.chance(0.5) ? work : (_context) => work(), options)
    const settled = deferred<Settled>()
    promise.then(
      (value) => settled.resolve({ value }),
      (error) => settled.resolve({ error }),
    )
    if (live === undefined) {
      this.#refused(offer, await settled.promise, fallbacks)
      return
    }
    const call: Live = live
    if (costume === 'value') {
      twin.end(call, ending.outcome)
      mustBe(await settled.promise, wanted(ending, fallbacks))
      return
    }
    const end = async (): Promise<void> => {
      driver.end(ending)
      const got = await settled.promise
      twin.end(call, ending.outcome)
      mustBe(got, wanted(ending, fallbacks))
    }
    this.held.push({
      live: call,
      controller,
      end,
      aborted: async () => {
        mustBe(await settled.promise, { error: controller?.signal.reason })
        if (random.chance(0.5)) this.abandoned.push(driver)
        else driver.end(ending)
        await flush()
      },
      nest: driver.nests ? () => driver.within(() => this.start({ chain: [call, ...place.chain] })) : undefined,
    })
  }

  /** The caller has aborted before he asks: nobody is asked, nothing is counted. */
  async #dead(): Promise<void> {
    const reason = new Error('gone before')
    const signal = AbortSignal.abort(reason)
    this.signals.add(signal)
    const ran = (): never => {
      throw new Error('it ran')
    }
    const { guard } = this.twin
    const got = this.random.chance(0.5)
      ? settledBy(() => guard.enter(RESOURCE, { signal }))
      : await guard.entry(RESOURCE, ran, { signal }).then(
          (value) => ({ value }),
          (error: unknown) => ({ error }),
        )
    mustBe(got, { error: reason })
  }

  /** Sometimes the call brings some of its own, which replace those of the resource. */
  #fallbacks(mayWait: boolean): Fallbacks | undefined {
    if (this.configured !== undefined) this.configured.asked = undefined
    return this.random.chance(0.15) ? anyFallbacks(this.random, mayWait) : undefined
  }

  #refused(offer: Offer, got: Settled, fallbacks: Fallbacks | undefined): void {
    const reason = fallbacks === undefined ? 'error' in got && got.error : fallbacks.asked?.reason
    this.twin.refused(offer, refusalOf(reason))
    if (fallbacks !== undefined) mustBe(got, fallbacks.answer)
  }
}

const wanted = (ending: Ending, fallbacks: Fallbacks | undefined): Settled => {
  if (fallbacks !== undefined && isAnsweredFor(ending)) return fallbacks.answer
  return ending.threw ? { error: ending.value } : { value: ending.value }
}

const refusalOf = (error: unknown): BlockedError => {
  if (error instanceof BlockedError) return error
  throw new Error(`not a refusal: ${String(error)}`)
}

const settledBy = (act: () => unknown): Settled => {
  try {
    return { value: act() }
  } catch (error) {
    return { error }
  }
}

/** The very same object, error or value; what a fallback makes at once may also be equal. */
const mustBe = (got: Settled, want: Settled): void => {
  const same =
    'error' in want ? 'error' in got && got.error === want.error : 'value' in got && sameValue(got.value, want.value)
  if (!same) throw new Error(`the caller got ${describe(got)}, and should have got ${describe(want)}`)
}

const sameValue = (a: unknown, b: unknown): boolean => a === b || isDeepStrictEqual(a, b)

const describe = (settled: Settled): string =>
  'error' in settled ? `the error ${String(settled.error)}` : `the value ${JSON.stringify(settled.value)}`
