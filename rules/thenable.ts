// Is something a promise, of whatever make? Asked of results, and of callbacks that should be synchronous and are not.

export function isThenable(value: unknown): value is PromiseLike<unknown> {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false
  try {
    return typeof (value as { then?: unknown }).then === 'function'
  } catch {
    return true // a `then` that throws when read: Promise.resolve turns it into a rejection, as await does
  }
}

/** For a promise nobody wants: its rejection must not end the process. */
export function swallow(promise: PromiseLike<unknown>): void {
  Promise.resolve(promise).catch(() => {})
}
