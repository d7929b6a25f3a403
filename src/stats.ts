// Snapshots for reading: plain JSON, off the hot path, changing nothing.
import { STATE_NAMES } from '../rules/index.js'
import type { Registry } from './registry.js'
import type { Resource } from './resource.js'
import type { GuardSnapshot, ResourceStats, RuleStats, StateName } from './types.js'

export function statsOf(resource: Resource, now: number): ResourceStats {
  const { passed, blocked, succeeded, failed, ignored, slow, wouldBlock, running } = resource
  return {
    resource: resource.name,
    totals: { passed, blocked, succeeded, failed, ignored, slow, wouldBlock, running },
    rules: resource.degrade.map(({ rule, breaker }): RuleStats => {
      const { state, ...seen } = breaker.snapshot(now)
      const { id, strategy, dryRun } = rule
      return { id, strategy, dryRun, state: STATE_NAMES[state] as StateName, ...seen }
    }),
    ...(resource.statistics === null ? {} : { window: resource.statistics.read(now) }),
  }
}

/** What a name that nobody has used reads like. */
export function statsOfUnknown(name: string): ResourceStats {
  return {
    resource: name,
    totals: { passed: 0, blocked: 0, succeeded: 0, failed: 0, ignored: 0, slow: 0, wouldBlock: 0, running: 0 },
    rules: [],
  }
}

/** Everything at once. By way of its own JSON, so that nothing can be in it that JSON would change. */
export function snapshotOf(guard: string, registry: Registry, at: number): GuardSnapshot {
  const resources = Array.from(registry.each(), (resource) => statsOf(resource, at))
  if (registry.overflow !== undefined) resources.push(statsOf(registry.overflow, at))
  const snapshot: GuardSnapshot = { version: 1, guard, at, resources, registry: registry.stats() }
  return JSON.parse(JSON.stringify(snapshot))
}
