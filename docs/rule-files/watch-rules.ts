// Rules that follow their file. A file with faults changes nothing: the rules in force stay until it is put right.
import { watch } from 'node:fs'
import { dirname } from 'node:path'
import { type Guard, readRules } from 'leapguard'

/** Loads the rules of a file, now and whenever something in its folder changes. Returns a function that ends this. */
export async function watchRules(guard: Guard, path: string, onFault: (error: unknown) => void): Promise<() => void> {
  guard.loadRules(await readRules(path)) // at the start there are no good rules to keep, so this may throw

  const reload = async () => {
    try {
      guard.loadRules(await readRules(path))
    } catch (error) {
      onFault(error)
    }
  }
  let reading = Promise.resolve()
  const watcher = watch(dirname(path), () => {
    reading = reading.then(reload) // one after the other, so that the newest is loaded last
  })
  watcher.on('error', onFault)
  return () => watcher.close()
}
