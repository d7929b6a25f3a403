// Graded fallbacks: each level once, the next when one throws; the last error is thrown untouched.
import { CallContext } from './context.js'
import type { Fallback, FallbackContext } from './types.js'

export type FallbackCause = FallbackContext['cause']
/** How a guarded call ended, as far as fallbacks care. */
export type Ending = 'success' | 'aborted' | FallbackCause

/** Do fallbacks answer for a call that ended like this? */
export function answersFor(ending: Ending, onIgnored: boolean): ending is FallbackCause {
  return ending === 'blocked' || ending === 'failure' || ending === 'result' || (ending === 'ignored' && onIgnored)
}

class FallbackCall extends CallContext implements FallbackContext {
  readonly level: number
  readonly cause: FallbackCause

  constructor(resource: string, signal: AbortSignal | undefined, level: number, cause: FallbackCause) {
    super(resource, signal)
    this.level = level
    this.cause = cause
  }
}

/** Runs the levels until one answers. The caller's abort ends it at once: no further level runs, a running one is no longer waited for. */
export function fallBack(
  fallbacks: readonly Fallback[],
  reason: unknown,
  resource: string,
  cause: FallbackCause,
  signal: AbortSignal | undefined,
): Promise<unknown> {
  if (signal === undefined) return runLevels(fallbacks, reason, resource, cause, signal)
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
    const done = () => signal.removeEventListener('abort', onAbort)
    runLevels(fallbacks, reason, resource, cause, signal).finally(done).then(resolve, reject)
  })
}

async function runLevels(
  fallbacks: readonly Fallback[],
  reason: unknown,
  resource: string,
  cause: FallbackCause,
  signal: AbortSignal | undefined,
): Promise<unknown> {
  let last: unknown = reason
  for (let level = 0; level < fallbacks.length; level++) {
    signal?.throwIfAborted()
    try {
      return await (fallbacks[level] as Fallback)(reason, new FallbackCall(resource, signal, level, cause))
    } catch (error) {
      last = error
    }
  }
  throw last
}

/** The same for synchronous calls. */
export function fallBackSync(
  fallbacks: readonly Fallback[],
  reason: unknown,
  resource: string,
  cause: FallbackCause,
  signal: AbortSignal | undefined,
): unknown {
  let last: unknown = reason
  for (let level = 0; level < fallbacks.length; level++) {
    signal?.throwIfAborted()
    try {
      return (fallbacks[level] as Fallback)(reason, new FallbackCall(resource, signal, level, cause))
    } catch (error) {
      last = error
    }
  }
  throw last
}
