// The entrance: from the caller to the gatehouse, to the function, and back. The short ways serve a call without options; the long
// ways do the same with more to look after.
import { Flag, isThenable, Outcome, swallow } from '../rules/index.js'
import { CallContext } from './context.js'
import { carriesRefusal, invalidArgument } from './errors.js'
import { answersFor, type Ending, fallBack, fallBackSync } from './fallback.js'
import { Handle } from './handle.js'
import { checkFallbacks, outcomeOf } from './outcome.js'
import type { PooledPermit } from './permit.js'
import { admit, failed, returned, settle, take } from './pipeline.js'
import { countRefusal, refuse, refusedPromise } from './refuse.js'
import type { Resource } from './resource.js'
import type { EnterOptions, EntryOptions, Fallback } from './types.js'

/** A function to guard, whatever it returns. */
export type Guarded = (context: CallContext) => unknown

const NO_OPTIONS: EntryOptions = Object.freeze({})

// ---- entry ----

export function entry(resource: Resource, fn: Guarded, options: EntryOptions | undefined): Promise<unknown> {
  if (options !== undefined || resource.hasFallbacks || resource.probesOut > 0 || typeof fn !== 'function') {
    return entryWith(resource, fn, options ?? NO_OPTIONS)
  }
  resource.runtime.time.tick()
  const code = admit(resource, 1, null)
  if (code !== 0) return refusedPromise(refuse(resource, code))
  const permit = resource.runtime.permits.acquire(resource, 1, null)
  take(resource, permit)
  let result: unknown
  try {
    result = call(permit, fn, undefined)
    if (isNativePromise(result)) return result.then(permit.onReturn, permit.onThrow)
    if (isThenable(result)) return Promise.resolve(result).then(permit.onReturn, permit.onThrow)
  } catch (error) {
    failed(permit, error)
    return Promise.reject(error)
  }
  returned(permit, result)
  return Promise.resolve(result)
}

function entryWith(resource: Resource, fn: Guarded, options: EntryOptions): Promise<unknown> {
  let fallbacks: readonly Fallback[]
  try {
    fallbacks = checkCall(resource, fn, options)
  } catch (error) {
    return Promise.reject(error)
  }
  const { signal } = options
  if (hasAborted(signal)) return Promise.reject(signal?.reason)
  const permit = seek(resource, options)
  if (typeof permit === 'number') {
    const error = refuse(resource, permit)
    if (fallbacks.length === 0) return refusedPromise(error)
    return fallBack(fallbacks, error, resource.name, 'blocked', signal)
  }
  // A listener or a custom rule may have aborted it while it was being admitted.
  if (hasAborted(signal)) {
    settle(permit, Outcome.IGNORED)
    return Promise.reject(signal?.reason)
  }
  const running = new Running(permit, signal)
  const ended = running.start(fn)
  if (fallbacks.length === 0) return ended
  const onIgnored = resource.judge?.fallbackOnIgnored ?? false
  return ended.then(
    (result) => {
      const { ending } = running
      return ending === 'result' ? fallBack(fallbacks, result, resource.name, ending, signal) : result
    },
    (error) => {
      const { ending } = running
      if (answersFor(ending, onIgnored)) return fallBack(fallbacks, error, resource.name, ending, signal)
      throw error
    },
  )
}

/** One call on the long way, from its admission to its end, which comes once: by its result, its error, or the caller's abort. */
class Running {
  ending: Ending = 'success'
  private ended = false
  private readonly permit: PooledPermit
  private readonly signal: AbortSignal | undefined

  constructor(permit: PooledPermit, signal: AbortSignal | undefined) {
    this.permit = permit
    this.signal = signal
  }

  start(fn: Guarded): Promise<unknown> {
    const signal = this.signal
    if (signal === undefined) return this.follow(fn)
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        if (this.ended) return
        this.ended = true
        this.ending = 'aborted'
        settle(this.permit, Outcome.IGNORED)
        reject(signal.reason)
      }
      signal.addEventListener('abort', onAbort, { once: true })
      const unhook = () => signal.removeEventListener('abort', onAbort)
      // After an abort both of these come too late and change nothing; the rejection counts as handled.
      this.follow(fn).then(
        (result) => {
          unhook()
          resolve(result)
        },
        (error) => {
          unhook()
          reject(error)
        },
      )
    })
  }

  private follow(fn: Guarded): Promise<unknown> {
    let result: unknown
    let adopted: Promise<unknown> | undefined
    try {
      result = call(this.permit, fn, this.signal)
      if (isNativePromise(result) || isThenable(result)) adopted = Promise.resolve(result)
    } catch (error) {
      this.threw(error)
      return Promise.reject(error)
    }
    if (adopted === undefined) {
      this.returned(result)
      return Promise.resolve(result)
    }
    return adopted.then(
      (value) => {
        this.returned(value)
        return value
      },
      (error) => {
        this.threw(error)
        throw error
      },
    )
  }

  private returned(result: unknown): void {
    if (this.ended) return
    this.ended = true
    this.ending = endingOfResult(returned(this.permit, result))
  }

  private threw(error: unknown): void {
    if (this.ended) return
    this.ended = true
    this.ending = endingOfError(failed(this.permit, error), error)
  }
}

// ---- entrySync ----

export function entrySync(resource: Resource, fn: Guarded, options: EntryOptions | undefined): unknown {
  if (options !== undefined || resource.hasFallbacks || resource.probesOut > 0 || typeof fn !== 'function') {
    return entrySyncWith(resource, fn, options ?? NO_OPTIONS)
  }
  resource.runtime.time.tick()
  const code = admit(resource, 1, null)
  if (code !== 0) throw refuse(resource, code)
  const permit = resource.runtime.permits.acquire(resource, 1, null)
  take(resource, permit)
  let result: unknown
  try {
    result = call(permit, fn, undefined)
  } catch (error) {
    failed(permit, error)
    throw error
  }
  if (isThenable(result)) throw promiseInSync(permit, result)
  returned(permit, result)
  return result
}

function entrySyncWith(resource: Resource, fn: Guarded, options: EntryOptions): unknown {
  const fallbacks = checkCall(resource, fn, options)
  const { signal } = options
  signal?.throwIfAborted()
  const permit = seek(resource, options)
  if (typeof permit === 'number') {
    const error = refuse(resource, permit)
    if (fallbacks.length === 0) throw error
    return fallBackSync(fallbacks, error, resource.name, 'blocked', signal)
  }
  if (hasAborted(signal)) return giveUp(permit, signal as AbortSignal)
  let result: unknown
  let ending: Ending
  try {
    result = call(permit, fn, signal)
  } catch (error) {
    if (hasAborted(signal)) return giveUp(permit, signal as AbortSignal)
    ending = endingOfError(failed(permit, error), error)
    if (!answersFor(ending, resource.judge?.fallbackOnIgnored ?? false) || fallbacks.length === 0) throw error
    return fallBackSync(fallbacks, error, resource.name, ending, signal)
  }
  if (isThenable(result)) throw promiseInSync(permit, result)
  if (hasAborted(signal)) return giveUp(permit, signal as AbortSignal)
  ending = endingOfResult(returned(permit, result))
  if (ending !== 'result' || fallbacks.length === 0) return result
  return fallBackSync(fallbacks, result, resource.name, ending, signal)
}

/** The caller's signal has aborted. */
function giveUp(permit: PooledPermit, signal: AbortSignal): never {
  settle(permit, Outcome.IGNORED)
  throw signal.reason
}

/** The function was meant for `entry`: its outcome is not known yet, so nothing can be counted. */
function promiseInSync(permit: PooledPermit, result: PromiseLike<unknown>): TypeError {
  settle(permit, Outcome.IGNORED)
  swallow(result)
  return invalidArgument(
    `the function given to entrySync for ${JSON.stringify(permit.owner.name)} returned a promise; use entry`,
    'ERR_SYNC_PROMISE',
  )
}

// ---- enter, tryEnter, leave ----

export function enter(resource: Resource, options: EnterOptions | undefined): Handle {
  if (options !== undefined) checkOptions(options)
  options?.signal?.throwIfAborted()
  const permit = seek(resource, options ?? NO_OPTIONS)
  if (typeof permit === 'number') throw refuse(resource, permit)
  endOnAbort(permit, options?.signal)
  return new Handle(permit)
}

export function tryEnter(resource: Resource, options: EnterOptions | undefined): number {
  if (options !== undefined || resource.probesOut > 0) return tryEnterWith(resource, options ?? NO_OPTIONS)
  resource.runtime.time.tick()
  const code = admit(resource, 1, null)
  if (code !== 0) {
    countRefusal(resource, code)
    return -code
  }
  const permit = resource.runtime.permits.acquire(resource, 1, null)
  take(resource, permit)
  permit.numbered = true
  return permit.number
}

function tryEnterWith(resource: Resource, options: EnterOptions): number {
  checkOptions(options)
  options.signal?.throwIfAborted()
  const permit = seek(resource, options)
  if (typeof permit === 'number') {
    countRefusal(resource, permit)
    return -permit
  }
  endOnAbort(permit, options.signal)
  permit.numbered = true
  return permit.number
}

/** A call in the caller's hands ends as ignored when the caller's signal aborts. */
function endOnAbort(permit: PooledPermit, signal: AbortSignal | undefined): void {
  if (signal === undefined) return
  if (hasAborted(signal)) giveUp(permit, signal)
  const onAbort = () => settle(permit, Outcome.IGNORED)
  signal.addEventListener('abort', onAbort, { once: true })
  permit.unhook = () => signal.removeEventListener('abort', onAbort)
}

/** Ends a call by its permit. Unknown, ended and negative permits do nothing. */
export function leave(permit: PooledPermit | undefined, outcomeName: unknown): void {
  const outcome = outcomeOf(outcomeName)
  if (outcome === undefined) {
    throw invalidArgument(`outcome must be 'success', 'failure' or 'ignored', got ${String(outcomeName)}`)
  }
  if (permit !== undefined) settle(permit, outcome)
}

// ---- shared steps ----

/** Asks for entry with options: a permit, or the block code of the refusal. */
function seek(resource: Resource, options: EnterOptions): PooledPermit | number {
  const { time, permits } = resource.runtime
  time.tick()
  const count = options.count ?? 1
  const parents = parentsOf(resource, options)
  const code = admit(resource, count, parents)
  if (code !== 0) return code
  const permit = permits.acquire(resource, count, parents)
  permit.args = options.args
  permit.origin = options.origin
  permit.special = true
  take(resource, permit)
  return permit
}

/** Only inside a probe does it matter which calls are around this one. */
function parentsOf(resource: Resource, { parent }: EnterOptions): readonly number[] | null {
  if (resource.probesOut === 0) return null
  const given = parent instanceof Handle ? parent.lineage(resource) : null
  return given ?? resource.runtime.nesting.parents(resource)
}

function call(permit: PooledPermit, fn: Guarded, signal: AbortSignal | undefined): unknown {
  const { owner } = permit
  const context = fn.length > 0 || signal !== undefined ? new CallContext(owner.name, signal) : owner.sharedContext
  return (permit.flags & Flag.PROBE) === 0 ? fn(context) : callProbe(permit, fn, context)
}

/** Apart from `call`, whose every run would pay for the closure. */
function callProbe({ owner, seq }: PooledPermit, fn: Guarded, context: CallContext): unknown {
  // A custom rule has voided it while it took (reset, remove): nobody would end the async context.
  if (owner.probesOut === 0) return fn(context)
  return owner.runtime.nesting.run(owner, seq, () => fn(context))
}

function checkCall(resource: Resource, fn: unknown, options: EntryOptions): readonly Fallback[] {
  if (typeof fn !== 'function') {
    throw invalidArgument(
      `entry needs a function to call, got ${isThenable(fn) ? 'a promise: its work has already begun, pass () => work() instead' : typeof fn}`,
    )
  }
  checkOptions(options)
  return options.fallbacks === undefined ? (resource.judge?.fallbacks ?? []) : checkFallbacks(options.fallbacks)
}

function checkOptions(options: EntryOptions): void {
  if (typeof options !== 'object' || options === null) throw invalidArgument('entry options must be an object')
  const { signal, count, parent } = options
  if (count !== undefined && (!Number.isSafeInteger(count) || count < 1)) {
    throw invalidArgument(`count must be an integer >= 1, got ${String(count)}`)
  }
  if (
    signal !== undefined &&
    (typeof signal !== 'object' || signal === null || typeof signal.addEventListener !== 'function')
  ) {
    throw invalidArgument('signal must be an AbortSignal')
  }
  if (parent !== undefined && !(parent instanceof Handle))
    throw invalidArgument('parent must be a handle that enter returned')
}

function endingOfResult(outcome: Outcome): Ending {
  return outcome === Outcome.FAILURE ? 'result' : 'success'
}

/** A refusal that a nested call passed on counts as ignored, and is a refusal all the same: fallbacks answer for it. */
function endingOfError(outcome: Outcome, error: unknown): Ending {
  if (outcome === Outcome.IGNORED) return carriesRefusal(error) ? 'blocked' : 'ignored'
  return outcome === Outcome.FAILURE ? 'failure' : 'success'
}

/** A promise of this realm with its own `then`: it calls back exactly once. */
function isNativePromise(value: unknown): value is Promise<unknown> {
  return value instanceof Promise && value.constructor === Promise && value.then === nativeThen
}

const nativeThen = Promise.prototype.then

/** A function, since a signal changes between two looks and a type checker would remember the first. */
function hasAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true
}
