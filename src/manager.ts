// Rules in force: validate everything, then compile, then swap. A list with one fault changes nothing.
import {
  type Compiled,
  compileDegrade,
  type DegradeRule,
  type Dropped,
  type Fate,
  type Fault,
  fatesOf,
  type NormalizedRule,
  type RuleFate,
  RuleLevels,
  STATE_NAMES,
  State,
} from '../rules/index.js'
import { RuleError } from './errors.js'
import type { Registry } from './registry.js'
import type { Resource } from './resource.js'
import { checkRuleSet } from './rule-set.js'
import type { Runtime } from './runtime.js'
import type { LoadedRules, ReloadReport, RuleRef, StateName } from './types.js'

type LostState = Dropped & { readonly name: string }

export class RuleManager {
  readonly #runtime: Runtime
  readonly #registry: Registry
  #degrade = new RuleLevels()

  constructor(runtime: Runtime, registry: Registry) {
    this.#runtime = runtime
    this.#registry = registry
  }

  /** Replaces the families named in `set`, for every resource. */
  load(set: unknown): ReloadReport {
    const degrade = this.#check(set, undefined)
    if (degrade === undefined) return this.#report([], [])
    const before = this.#degrade
    const now = this.#runtime.time.read()
    this.#degrade = before.replacedBy(degrade)
    const hitsAfter = this.#degrade.hitsAfter(before)
    const lost: LostState[] = []
    for (const resource of this.#registry.each()) {
      resource.hits = hitsAfter(resource.name, resource.hits)
      this.#compile(resource, now, lost)
    }
    if (this.#registry.overflow !== undefined) this.#compile(this.#registry.overflow, now, lost)
    for (const name of this.#degrade.names()) this.#registry.reserve(name)
    return this.#announce(this.#fatesSince(before), lost)
  }

  /** Replaces the families named in `set`, for one resource. */
  loadFor(name: string, set: unknown): ReloadReport {
    const degrade = this.#check(set, name)
    if (degrade === undefined) return this.#report([], [])
    const before = this.#degrade.exactOf(name)
    this.#degrade.setExact(name, degrade)
    const lost: LostState[] = []
    const resource = this.#registry.reserve(name)
    if (resource !== undefined) this.#compile(resource, this.#runtime.time.read(), lost)
    return this.#announce(this.#fates(this.#degrade.exactOf(name), before), lost)
  }

  /** Gives a new resource the rules in force for its name. The registry asks for it. */
  equip(resource: Resource): void {
    if (!resource.isOverflow) resource.hits = this.#degrade.hitsOf(resource.name)
    this.#compile(resource, this.#runtime.time.read(), [])
  }

  clear(): void {
    this.#degrade = new RuleLevels()
  }

  rules(): LoadedRules {
    return { degrade: this.#degrade.all().map(({ rule }) => rule) }
  }

  #check(set: unknown, resource: string | undefined): NormalizedRule[] | undefined {
    const faults: Fault[] = []
    const { degrade } = checkRuleSet(set, resource, faults)
    if (faults.length > 0) throw new RuleError(faults)
    return degrade
  }

  /** Carries out the rules in force for a name. Breakers that go are added to `lost`. */
  #compile(resource: Resource, now: number, lost: LostState[]): void {
    const levels = this.#degrade
    const rules = resource.isOverflow ? levels.rulesForOverflow() : levels.rulesFor(resource.name, resource.hits)
    if (areSame(rules, resource.degrade)) return
    const result = compileDegrade(rules, resource.degrade, resource, now, this.#runtime.restartOnChange)
    resource.adopt(result.compiled)
    for (const dropped of result.dropped) lost.push({ ...dropped, name: resource.name })
  }

  /** What became of each rule, whether or not a name that it is for is known. */
  #fatesSince(before: RuleLevels): RuleFate[] {
    const now = this.#degrade
    const names = [...new Set([...before.names(), ...now.names()])]
    return [
      ...names.flatMap((name) => this.#fates(now.exactOf(name), before.exactOf(name))),
      ...this.#fates(now.forMany(), before.forMany()),
    ]
  }

  #fates(rules: readonly NormalizedRule[], before: readonly NormalizedRule[]): RuleFate[] {
    if (areSame(rules, before)) return rules.map(({ rule }) => ({ rule, fate: 'kept' }))
    return fatesOf(rules, before, this.#runtime.restartOnChange)
  }

  #announce(fates: readonly RuleFate[], lost: readonly LostState[]): ReloadReport {
    const { events } = this.#runtime
    const report = this.#report(fates, lost)
    events.reloaded(report)
    if (events.waiting) events.deliver()
    return report
  }

  #report(fates: readonly RuleFate[], lost: readonly LostState[]): ReloadReport {
    const of = (wanted: Fate): RuleRef[] => fates.filter(({ fate }) => fate === wanted).map(({ rule }) => refOf(rule))
    return {
      at: this.#runtime.time.read(),
      added: of('added'),
      removed: of('removed'),
      kept: of('kept'),
      updated: of('updated'),
      restarted: of('restarted'),
      dropped: lost
        .filter(({ state }) => state !== State.CLOSED)
        .map(({ name, rule: { match, id }, state }) => {
          return { resource: name, match, rule: id, state: STATE_NAMES[state] as StateName }
        }),
    }
  }
}

/** Are these the very rules that are there already, in the same order? */
function areSame(rules: readonly NormalizedRule[], there: readonly Pick<Compiled, 'rule'>[]): boolean {
  return rules.length === there.length && rules.every(({ rule }, i) => there[i]?.rule === rule)
}

function refOf({ resource, match, id }: DegradeRule): RuleRef {
  return resource === undefined ? { match, rule: id } : { resource, match, rule: id }
}
