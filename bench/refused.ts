// What does a refusal cost, compared with the call it spares?
import type { Guard } from 'leapguard'
import { type Case, pair } from './support/case.js'
import { failUser, fetchUser, guardWith, NAME, readUser } from './support/service.js'

/** A breaker that was opened by a failure and stays open for twelve days. */
async function openGuard(): Promise<Guard> {
  const guard = guardWith([{ resource: NAME, strategy: 'error-count', threshold: 1, cooldownMs: 2 ** 30 }])
  await guard.entry(NAME, failUser).catch(() => {})
  return guard
}

export async function buildRefused() {
  const guard = await openGuard()
  return {
    async raw(calls: number) {
      let sum = 0
      for (let i = 0; i < calls; i++) sum += await fetchUser()
      return sum
    },
    async guarded(calls: number) {
      let refused = 0
      for (let i = 0; i < calls; i++) {
        try {
          await guard.entry(NAME, fetchUser)
        } catch {
          refused++
        }
      }
      if (refused !== calls) throw new Error('a call passed')
      return refused
    },
  }
}

async function buildTryEnter() {
  const guard = await openGuard()
  const known = new Map([[NAME, { call: readUser }]])
  return {
    raw(calls: number) {
      let sum = 0
      for (let i = 0; i < calls; i++) sum += known.get(NAME)?.call() ?? 0
      return sum
    },
    guarded(calls: number) {
      let sum = 0
      for (let i = 0; i < calls; i++) sum += guard.tryEnter(NAME)
      if (sum >= 0) throw new Error('a call passed')
      return sum
    },
  }
}

async function buildEntrySync() {
  const guard = await openGuard()
  return {
    raw(calls: number) {
      let sum = 0
      for (let i = 0; i < calls; i++) sum += readUser()
      return sum
    },
    guarded(calls: number) {
      let refused = 0
      for (let i = 0; i < calls; i++) {
        try {
          guard.entrySync(NAME, readUser)
        } catch {
          refused++
        }
      }
      if (refused !== calls) throw new Error('a call passed')
      return refused
    },
  }
}

export const refusedCases: readonly Case[] = [
  pair('refused/entry', 'refused entry, awaited and caught', 'await fn()', buildRefused),
  pair('refused/try-enter', 'refused tryEnter', 'Map.get and fn()', buildTryEnter),
  pair('refused/entry-sync', 'refused entrySync, caught', 'fn()', buildEntrySync),
]
