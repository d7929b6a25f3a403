// Does a call cost more among 100,000 resources than with one? Compared with `await fn()` and a `Map.get` among as many keys.
import { createGuard, type DegradeRuleInput } from 'leapguard'
import { type Case, pair } from './support/case.js'
import { fetchUser } from './support/service.js'

export const MANY = 100_000

export function names(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `service-${i}`)
}

export function rulesFor(resources: readonly string[]): DegradeRuleInput[] {
  return resources.map((resource) => ({ resource, strategy: 'error-ratio', threshold: 0.5 }))
}

/** A fixed, well mixed order of calls over `used` of the resources: the same in every run. */
function order(resources: readonly string[], used: number): string[] {
  const stride = Math.floor(resources.length / used)
  let state = 0x9e3779b9
  return Array.from({ length: 1 << 17 }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return resources[Math.floor((state / 2 ** 32) * used) * stride] as string
  })
}

function build(count: number, used: number) {
  const resources = names(count)
  const calls = order(resources, used)
  const mask = calls.length - 1
  const map = new Map(resources.map((name, i) => [name, { i }]))
  const guard = createGuard()
  guard.loadRules({ degrade: rulesFor(resources) })
  let rawAt = 0
  let at = 0
  return {
    async raw(times: number) {
      let sum = 0
      for (let i = 0; i < times; i++) {
        const found = map.get(calls[rawAt++ & mask] as string)
        if (found !== undefined) sum += found.i + (await fetchUser())
      }
      return sum
    },
    async guarded(times: number) {
      let sum = 0
      for (let i = 0; i < times; i++) sum += await guard.entry(calls[at++ & mask] as string, fetchUser)
      return sum
    },
  }
}

const AGAINST = 'Map.get and await fn()'
export const resourceCases: readonly Case[] = [
  pair('resources/1', 'entry, the only resource', AGAINST, () => build(1, 1), false),
  pair('resources/100k-hot', 'entry, 100,000 resources, 100 of them used', AGAINST, () => build(MANY, 100), false),
  pair('resources/100k-uniform', 'entry, 100,000 resources, all used', AGAINST, () => build(MANY, MANY), false),
]
