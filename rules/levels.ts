// All rules of one family in force, by level: exact names, patterns, default. Which of them a name gets.
import { type NormalizedRule, sameOptions } from './degrade/rule.js'
import type { Program } from './pattern/index.js'

const NONE: readonly NormalizedRule[] = []
const NO_HITS: readonly Program[] = []

/**
 * A name gets its exact rules; if it has none, those of all patterns that match it, in the order of loading; if none does, the default
 * rules.
 *
 * Which patterns match a name is the name's to remember (`hits`), so that a name meets each pattern once.
 */
export class RuleLevels {
  private readonly loaded: readonly NormalizedRule[]
  private readonly exact: Map<string, readonly NormalizedRule[]>
  private readonly patterns: readonly NormalizedRule[]
  private readonly defaults: readonly NormalizedRule[]
  private readonly programs: ReadonlySet<Program>
  /** Names whose exact rules were set since the load. */
  private readonly set = new Set<string>()

  constructor(rules: readonly NormalizedRule[] = NONE) {
    const exact = new Map<string, NormalizedRule[]>()
    for (const rule of rules) {
      const { match, resource } = rule.rule
      if (match !== 'exact') continue
      const list = exact.get(resource)
      if (list === undefined) exact.set(resource, [rule])
      else list.push(rule)
    }
    this.loaded = rules
    this.exact = exact
    this.patterns = rules.filter(({ pattern }) => pattern !== undefined)
    this.defaults = rules.filter(({ rule }) => rule.match === 'default')
    this.programs = new Set(this.patterns.map(({ pattern }) => pattern as Program))
  }

  /** These rules in place of all of `this`. What is equal stays the same object: rules that did not change, patterns that are known. */
  replacedBy(rules: readonly NormalizedRule[]): RuleLevels {
    return new RuleLevels(recognised(rules, this.all()))
  }

  exactOf(name: string): readonly NormalizedRule[] {
    return this.exact.get(name) ?? NONE
  }

  /** Replaces the exact rules of one name, in place. */
  setExact(name: string, rules: readonly NormalizedRule[]): void {
    if (rules.length === 0) this.exact.delete(name)
    else this.exact.set(name, recognised(rules, this.exactOf(name)))
    this.set.add(name)
  }

  /** In the order of loading. What was set for one name since then stands where its first rule stood, or at the end. */
  all(): NormalizedRule[] {
    if (this.set.size === 0) return [...this.loaded]
    const rules: NormalizedRule[] = []
    const shown = new Set<string>()
    for (const rule of this.loaded) {
      const { match, resource } = rule.rule
      if (match !== 'exact' || !this.set.has(resource)) rules.push(rule)
      else if (!shown.has(resource)) {
        rules.push(...this.exactOf(resource))
        shown.add(resource)
      }
    }
    for (const name of this.set) if (!shown.has(name)) rules.push(...this.exactOf(name))
    return rules
  }

  /** Names that rules name. */
  names(): IterableIterator<string> {
    return this.exact.keys()
  }

  /** Pattern and default rules: those for names that they do not name. */
  forMany(): NormalizedRule[] {
    return this.loaded.filter(({ rule }) => rule.match !== 'exact')
  }

  /** The rules of a name that these patterns match. */
  rulesFor(name: string, hits: readonly Program[]): readonly NormalizedRule[] {
    const exact = this.exact.get(name)
    if (exact !== undefined) return exact
    if (hits.length === 0) return this.defaults
    return this.patterns.filter(({ pattern }) => hits.includes(pattern as Program))
  }

  /** The rules of one resource that stands for many names. */
  rulesForOverflow(): readonly NormalizedRule[] {
    return this.defaults
  }

  /** The patterns that match a name. O(patterns x their size x length of the name). */
  hitsOf(name: string): readonly Program[] {
    return hitsAmong(this.programs, name, NO_HITS)
  }

  /** For names whose hits under `before` are known: only what is new is matched. */
  hitsAfter(before: RuleLevels): (name: string, hits: readonly Program[]) => readonly Program[] {
    const { programs } = this
    const fresh = [...programs].filter((program) => !before.programs.has(program))
    const someWent = [...before.programs].some((program) => !programs.has(program))
    return (name, hits) => {
      const kept = someWent && hits.length > 0 ? hits.filter((program) => programs.has(program)) : hits
      return hitsAmong(fresh, name, kept)
    }
  }
}

function hitsAmong(programs: Iterable<Program>, name: string, known: readonly Program[]): readonly Program[] {
  let hits = known
  for (const program of programs) if (program.test(name)) hits = [...hits, program]
  return hits
}

/** The rules, each of those that are equal to one in force being that very object, and so their patterns. */
function recognised(rules: readonly NormalizedRule[], inForce: readonly NormalizedRule[]): NormalizedRule[] {
  const known = new Map<string, NormalizedRule>()
  const programs = new Map<string, Program>()
  for (const old of inForce) {
    known.set(JSON.stringify([targetOf(old), old.rule.id]), old)
    if (old.pattern !== undefined) programs.set(targetOf(old), old.pattern)
  }
  return rules.map((rule) => {
    const target = targetOf(rule)
    const old = known.get(JSON.stringify([target, rule.rule.id]))
    if (old !== undefined && sameOptions(old.rule, rule.rule)) return old
    if (rule.pattern === undefined) return rule
    const pattern = programs.get(target) ?? rule.pattern
    programs.set(target, pattern)
    return { ...rule, pattern }
  })
}

function targetOf({ rule: { match, resource = '' } }: NormalizedRule): string {
  return `${match} ${resource}`
}
