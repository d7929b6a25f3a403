// Promises in the hands of a test. Knows no test runner, so that tools outside one can use it.

export interface Deferred<T> {
  readonly promise: Promise<T>
  resolve(value: T): void
  reject(reason: unknown): void
}

export function deferred<T = void>(): Deferred<T> {
  let resolve: (value: T) => void = () => {}
  let reject: (reason: unknown) => void = () => {}
  const promise = new Promise<T>((yes, no) => {
    resolve = yes
    reject = no
  })
  return { promise, resolve, reject }
}

/** Lets pending reactions run, within the same tick: no timer and no I/O gets a turn. */
export async function flush(): Promise<void> {
  for (let i = 0; i < 20; i++) await null
}
