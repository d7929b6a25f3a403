// Rules in force: validate everything, then compile, then swap. A list with one fault changes nothing.
import {
  type Change,
  compileDegrade,
  type Fate,
  type Fault,
  type NormalizedRule,
  STATE_NAMES,
  State,
} from '../rules/index.js'
import { RuleError } from './errors.js'
import type { Registry } from './registry.js'
import type { Resource } from './resource.js'
import { checkRuleSet } from './rule-set.js'
import type { Runtime } from './runtime.js'
import type { LoadedRules, ReloadReport, RuleRef, StateName } from './types.js'

export class RuleManager {
  readonly #runtime: Runtime
  readonly #registry: Registry
  /** Rules by resource, in the order of loading. */
  readonly #degrade = new Map<string, readonly NormalizedRule[]>()

  constructor(runtime: Runtime, registry: Registry) {
    this.#runtime = runtime
    this.#registry = registry
  }

  /** Replaces the families named in `set`, for every resource. */
  load(set: unknown): ReloadReport {
    const degrade = this.#check(set, undefined)
    if (degrade === undefined) return this.#report([])
    const next = new Map<string, NormalizedRule[]>()
    for (const rule of degrade) {
      const list = next.get(rule.rule.resource)
      if (list === undefined) next.set(rule.rule.resource, [rule])
      else list.push(rule)
    }
    const names = [...new Set([...this.#degrade.keys(), ...next.keys()])]
    this.#reserve(names)
    this.#degrade.clear()
    for (const [name, list] of next) this.#degrade.set(name, list)
    return this.#apply(names, next)
  }

  /** Replaces the families named in `set`, for one resource. */
  loadFor(resource: string, set: unknown): ReloadReport {
    const degrade = this.#check(set, resource)
    if (degrade === undefined) return this.#report([])
    this.#reserve([resource])
    if (degrade.length === 0) this.#degrade.delete(resource)
    else this.#degrade.set(resource, degrade)
    return this.#apply([resource], new Map([[resource, degrade]]))
  }

  /** Gives a new resource the rules in force for its name. The registry asks for it. */
  equip(resource: Resource): void {
    // The overflow resource is for default rules only, and there are none yet.
    const rules = resource.isOverflow ? undefined : this.#degrade.get(resource.name)
    if (rules === undefined) return
    const { time, restartOnChange } = this.#runtime
    resource.adopt(compileDegrade(rules, [], resource, time.read(), restartOnChange).compiled)
  }

  clear(): void {
    this.#degrade.clear()
  }

  rules(): LoadedRules {
    return { degrade: [...this.#degrade.values()].flat().map(({ rule }) => rule) }
  }

  #check(set: unknown, resource: string | undefined): NormalizedRule[] | undefined {
    const faults: Fault[] = []
    const { degrade } = checkRuleSet(set, resource, faults)
    if (faults.length > 0) throw new RuleError(faults)
    return degrade
  }

  /** While the old rules are in force, so that what is made now shows in the report as changed by this load. */
  #reserve(names: readonly string[]): void {
    for (const name of names) this.#registry.reserve(name)
  }

  #apply(names: readonly string[], next: ReadonlyMap<string, readonly NormalizedRule[]>): ReloadReport {
    const { time, restartOnChange, events } = this.#runtime
    const now = time.read()
    const changes: [string, Change][] = []
    for (const name of names) {
      const resource = this.#registry.get(name)
      if (resource === undefined) continue // no room: its rules wait until it is made
      const result = compileDegrade(next.get(name) ?? [], resource.degrade, resource, now, restartOnChange)
      resource.adopt(result.compiled)
      for (const change of result.changes) changes.push([name, change])
    }
    const report = this.#report(changes)
    events.reloaded(report)
    if (events.waiting) events.deliver()
    return report
  }

  #report(changes: readonly [string, Change][]): ReloadReport {
    const of = (fate: Fate): RuleRef[] =>
      changes.filter(([, change]) => change.fate === fate).map(([resource, { rule }]) => ({ resource, rule: rule.id }))
    return {
      at: this.#runtime.time.read(),
      added: of('added'),
      removed: of('removed'),
      kept: of('kept'),
      updated: of('updated'),
      restarted: of('restarted'),
      dropped: changes.flatMap(([resource, { rule, dropped }]) =>
        dropped === undefined || dropped === State.CLOSED
          ? []
          : [{ resource, rule: rule.id, state: STATE_NAMES[dropped] as StateName }],
      ),
    }
  }
}
