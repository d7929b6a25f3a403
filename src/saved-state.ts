// What a guard leaves for the process after it, and what a new guard takes from it: plain JSON, checked as a whole before any of it is
// believed. Which breaker takes up what is decided when the rules come, which is later.
import {
  Checker,
  type Compiled,
  checkSavedBreaker,
  type Fault,
  isPlainObject,
  type SavedBreaker,
  sameShape,
  show,
} from '../rules/index.js'
import { StateError } from './errors.js'
import type { Registry } from './registry.js'
import type { Resource } from './resource.js'
import type { SavedResource, SavedState } from './types.js'

const VERSION = 1
const FIELDS: ReadonlySet<string> = new Set<keyof SavedState>(['version', 'savedAt', 'resources'])
const RESOURCE_FIELDS: ReadonlySet<string> = new Set<keyof SavedResource>(['resource', 'forced', 'rules'])
const MOST = Number.MAX_SAFE_INTEGER

/** The state of every name that has something to keep. */
export function saveState(registry: Registry, waiting: Waiting | undefined, now: number): SavedState {
  const resources: SavedResource[] = []
  const add = (name: string, forced: SavedResource['forced'], rules: readonly SavedBreaker[]) => {
    if (forced !== undefined) resources.push({ resource: name, forced, rules })
    else if (rules.length > 0) resources.push({ resource: name, rules })
  }
  for (const resource of registry.each()) {
    const { name, forcedOpen, forcedClosed, degrade } = resource
    const rules = degrade.length === 0 ? waiting?.stillLive(name, now) : savedRules(resource, now)
    add(name, forcedOpen ? 'open' : forcedClosed ? 'closed' : undefined, rules ?? [])
  }
  for (const name of waiting?.names() ?? []) {
    if (registry.get(name) === undefined) add(name, undefined, waiting?.stillLive(name, now) ?? [])
  }
  return { version: VERSION, savedAt: now, resources }
}

function savedRules({ degrade }: Resource, now: number): SavedBreaker[] {
  return degrade.flatMap(({ breaker, named }) => {
    const saved = breaker.saved(now)
    return saved === undefined ? [] : [named ? { ...saved, named } : saved]
  })
}

/** A copy of `value` if it is what `saveState` gives. @throws StateError with everything that keeps it from being that. */
export function checkState(value: unknown, maxResources: number): SavedState {
  const faults: Fault[] = []
  if (!isPlainObject(value)) {
    const bound = 'what save() returned, or null'
    faults.push({ path: 'restore', value, bound, message: `restore: must be ${bound}, got ${show(value)}` })
  } else checkFields(value, maxResources, faults)
  if (faults.length > 0) throw new StateError(faults)
  return JSON.parse(JSON.stringify(value)) as SavedState
}

function checkFields(state: Record<string, unknown>, maxResources: number, faults: Fault[]): void {
  const checker = new Checker(state, 'restore', faults, '')
  if (state.version !== VERSION) {
    checker.fault('version', `${VERSION}, the version this release knows`)
    return // Whatever the rest means is not ours to judge.
  }
  checker.knownFields(FIELDS)
  checker.number('savedAt', { min: -MOST, max: MOST }, undefined)
  const { resources } = state
  if (!Array.isArray(resources)) {
    checker.fault('resources', 'an array')
    return
  }
  const names = new Set<unknown>()
  resources.forEach((resource, i) => {
    checkResource(resource, `restore.resources[${i}]`, names, faults)
  })
  if (resources.filter((resource) => resource?.forced !== undefined).length > maxResources) {
    checker.fault('resources', `an array of at most ${maxResources} forced resources (maxResources)`)
  }
}

function checkResource(value: unknown, path: string, names: Set<unknown>, faults: Fault[]): void {
  if (!isPlainObject(value)) {
    faults.push({ path, value, bound: 'an object', message: `${path}: must be an object, got ${show(value)}` })
    return
  }
  const checker = new Checker(value, path, faults, '')
  checker.knownFields(RESOURCE_FIELDS)
  const name = checker.name('resource', true)
  if (names.has(name)) checker.fault('resource', 'a name that is listed once')
  if (name !== undefined) names.add(name)
  if (checker.has('forced')) checker.oneOf('forced', ['open', 'closed'], undefined)
  if (!Array.isArray(value.rules)) {
    checker.fault('rules', 'an array')
    return
  }
  const ids = new Set<unknown>()
  value.rules.forEach((rule: unknown, i) => {
    const at = `${path}.rules[${i}]`
    if (!isPlainObject(rule)) {
      faults.push({ path: at, value: rule, bound: 'an object', message: `${at}: must be an object, got ${show(rule)}` })
      return
    }
    checkSavedBreaker(rule, at, faults)
    if (typeof rule.id === 'string' && ids.has(rule.id)) {
      new Checker(rule, at, faults, '').fault('id', 'an id that is listed once')
    }
    ids.add(rule.id)
  })
}

/** Saved states of rules that no breaker has taken up yet. They wait for the rules to be loaded, and for the name to be used. */
export class Waiting {
  private readonly rules = new Map<string, readonly SavedBreaker[]>()

  constructor({ resources }: SavedState) {
    for (const { resource, rules } of resources) if (rules.length > 0) this.rules.set(resource, rules)
  }

  names(): IterableIterator<string> {
    return this.rules.keys()
  }

  has(name: string): boolean {
    return this.rules.has(name)
  }

  /** What waits for the rules of `name`, without counts that have left their window meanwhile. */
  stillLive(name: string, now: number): SavedBreaker[] {
    return (this.rules.get(name) ?? []).flatMap((saved) => {
      if (saved.state !== 'closed' || saved.window === undefined) return [saved]
      const window = saved.window.filter(([start]) => now - start < (saved.statIntervalMs as number))
      return window.length === 0 && saved.closedAt === undefined ? [] : [{ ...saved, window }]
    })
  }

  /**
   * New breakers of `name` take up what was saved for them: first by id, then, among rules that nobody named, in order by strategy and
   * window. What fits none goes on waiting.
   */
  handOver(name: string, fresh: readonly Compiled[], now: number): void {
    let left = this.rules.get(name) ?? []
    let free = fresh
    const pass = (fits: (compiled: Compiled, saved: SavedBreaker) => boolean) => {
      free = free.filter((compiled) => {
        const found = left.find((saved) => sameShape(saved, compiled.rule) && fits(compiled, saved))
        if (found === undefined) return true
        left = left.filter((saved) => saved !== found)
        compiled.breaker.restore(found, now)
        return false
      })
    }
    pass(({ rule }, saved) => rule.id === saved.id)
    pass(({ named }, saved) => !named && saved.named !== true)
    if (left.length === 0) this.rules.delete(name)
    else this.rules.set(name, left)
  }

  /** Returns whether anything waited for it. */
  forget(name: string): boolean {
    return this.rules.delete(name)
  }
}
