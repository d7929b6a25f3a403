// createGuard: the rules in force, configuration, the operator's switches. Each call goes on to entry.ts.
import { CustomController, type DegradeRuleInput, type DegradeRuleOptions, type RuleMatch } from '../rules/index.js'
import { enter, entry, entrySync, leave, tryEnter } from './entry.js'
import { invalidArgument } from './errors.js'
import { RuleManager } from './manager.js'
import { Judge } from './outcome.js'
import { checkName, Registry } from './registry.js'
import { Runtime } from './runtime.js'
import { checkState, saveState, Waiting } from './saved-state.js'
import { readStatistics } from './statistics.js'
import { snapshotOf, statsOf, statsOfUnknown } from './stats.js'
import type {
  CallContext,
  CustomRule,
  EnterOptions,
  EntryHandle,
  EntryOptions,
  GuardEvents,
  GuardOptions,
  GuardSnapshot,
  LoadedRules,
  OutcomeName,
  ReloadReport,
  ResourceConfig,
  ResourceStats,
  RuleSet,
  SavedState,
  SyncFallback,
} from './types.js'

const CONFIG_FIELDS: ReadonlySet<string> = new Set<keyof ResourceConfig>([
  'classify',
  'ignore',
  'fallbacks',
  'fallbackOnIgnored',
  'rules',
  'statistics',
])

/** Guards calls by rules, per resource. Make one with {@link createGuard}, or use the default one through the functions of the module. */
export class Guard {
  private readonly runtime: Runtime
  private readonly registry: Registry
  private readonly manager: RuleManager
  private disposed = false

  constructor(options: GuardOptions = {}) {
    this.runtime = new Runtime(options)
    this.registry = new Registry(this.runtime, (resource) => {
      resource.keepStatistics(this.runtime.statistics)
      this.manager.equip(resource)
    })
    this.manager = new RuleManager(this.runtime, this.registry)
    if (options.restore !== undefined && options.restore !== null) this.restore(options.restore)
  }

  /** As it was given, `'guard'` if it was not, `'default'` for the guard behind the functions of the module. */
  get name(): string {
    return this.runtime.name
  }

  /**
   * Calls `fn` if the rules of `resource` agree, and learns from how it ends. Always returns a promise, never throws synchronously.
   *
   * The promise settles like `fn`'s own, with the same value or error object. It rejects in the same tick with a {@link BlockedError} if a
   * rule refuses, with `signal.reason` once the caller's signal aborts, or is the answer of a fallback.
   *
   * Cost without options: one lookup, two clock readings, one `then`.
   */
  entry<T, F = T>(
    resource: string,
    fn: (context: CallContext) => T | PromiseLike<T>,
    options?: EntryOptions<F>,
  ): Promise<T | F> {
    let found = this.registry.get(resource)
    if (found === undefined) {
      try {
        found = this.registry.admit(resource)
      } catch (error) {
        return Promise.reject(error)
      }
    }
    return entry(found, fn, options as EntryOptions | undefined) as Promise<T | F>
  }

  /**
   * As {@link entry} for a synchronous function: returns its value or throws its error. Allocates nothing.
   *
   * @throws BlockedError if a rule refuses; TypeError `ERR_SYNC_PROMISE` if `fn` returns a promise.
   */
  entrySync<T, F = T>(
    resource: string,
    fn: (context: CallContext) => T extends PromiseLike<unknown> ? never : T,
    options?: Omit<EntryOptions, 'fallbacks'> & { fallbacks?: readonly SyncFallback<F>[] | undefined },
  ): T | F {
    return entrySync(
      this.registry.get(resource) ?? this.registry.admit(resource),
      fn,
      options as EntryOptions | undefined,
    ) as T | F
  }

  /**
   * Asks for entry and leaves the call to the caller, who must end the handle: `exit()`, `exit({ error })` or `cancel()`.
   * The abort of a `signal` ends it too, as ignored.
   *
   * @throws BlockedError if a rule refuses.
   */
  enter(resource: string, options?: EnterOptions): EntryHandle {
    return enter(this.registry.get(resource) ?? this.registry.admit(resource), options)
  }

  /**
   * As {@link enter}, without a handle or an error: a permit number >= 0 to be ended by {@link leave}, or a negated {@link BlockCode}.
   * Allocates nothing.
   */
  tryEnter(resource: string, options?: EnterOptions): number {
    return tryEnter(this.registry.get(resource) ?? this.registry.admit(resource), options)
  }

  /** Ends a call that {@link tryEnter} let in. Ending it twice, or ending a refusal, does nothing. */
  leave(permit: number, outcome: OutcomeName = 'success'): void {
    leave(this.runtime.permits.find(permit), outcome)
  }

  /** A function of the same arguments and `this` whose calls are guarded. Its result is a promise. */
  wrap<This, Args extends unknown[], T, F = T>(
    resource: string,
    fn: (this: This, ...args: Args) => T | PromiseLike<T>,
    options?: Omit<EntryOptions<F>, 'args'>,
  ): (this: This, ...args: Args) => Promise<T | F> {
    checkName(resource)
    if (typeof fn !== 'function') throw invalidArgument(`wrap needs a function, got ${typeof fn}`)
    const guard = this
    const wrapped = function (this: This, ...args: Args): Promise<T | F> {
      return guard.entry<T, F>(
        resource,
        () => fn.apply(this, args),
        // Only rules of the user's own look at arguments; without any the short way is open.
        options === undefined && !guard.registry.get(resource)?.customs.length ? undefined : { ...options, args },
      )
    }
    return Object.defineProperty(wrapped, 'name', { value: fn.name, configurable: true })
  }

  /**
   * Replaces the rule families named in `rules`, for all resources at once.
   *
   * @throws RuleError with every fault; then nothing of this load is applied and the old rules stay.
   */
  loadRules(rules: RuleSet): ReloadReport {
    this.assertUsable('loadRules')
    return this.manager.load(rules)
  }

  /** Replaces all degrade rules. @throws RuleError as {@link loadRules}. */
  loadDegradeRules(rules: readonly DegradeRuleInput[]): ReloadReport {
    this.assertUsable('loadDegradeRules')
    return this.manager.load({ degrade: rules ?? null })
  }

  /** Replaces the rule families named in `rules` for one resource; rules may leave `resource` out. @throws RuleError as {@link loadRules}. */
  setRulesFor(
    resource: string,
    rules: { degrade?: readonly (DegradeRuleOptions & { resource?: string | undefined; match?: RuleMatch })[] },
  ): ReloadReport {
    this.assertUsable('setRulesFor')
    checkName(resource)
    return this.manager.loadFor(resource, rules)
  }

  /** Rules in force, every option explicit. Loading them again changes nothing. */
  rules(): LoadedRules {
    return this.manager.rules()
  }

  /** Sets what is not JSON about a resource. Fields given replace earlier ones, `undefined` removes, absent fields stay. */
  configure(resource: string, config: ResourceConfig): void {
    this.assertUsable('configure')
    if (typeof config !== 'object' || config === null) throw invalidArgument('configure needs an object of options')
    for (const key of Object.keys(config)) {
      if (!CONFIG_FIELDS.has(key)) {
        throw invalidArgument(`unknown option '${key}' of configure; there are ${[...CONFIG_FIELDS].join(', ')}`)
      }
    }
    checkName(resource)
    const before = this.registry.get(resource)
    const merged = { ...before?.config, ...config }
    const judge = new Judge(resource, merged, this.runtime.faults)
    const { statistics } = merged
    const shape = statistics === undefined ? this.runtime.statistics : readStatistics(statistics)
    const customs = Object.hasOwn(config, 'rules') ? this.compileCustom(resource, config.rules ?? []) : before?.customs
    const target = this.registry.claim(resource)
    target.config = merged
    target.judge = judge
    target.hasFallbacks = judge.fallbacks.length > 0
    if (customs !== undefined) target.customs = customs
    target.keepStatistics(shape)
    target.arrange()
    if (this.runtime.events.waiting) this.runtime.events.deliver()
  }

  /**
   * Counts and breaker states of a resource, now, and its statistics window if it keeps one. Reading changes nothing. An unknown name reads
   * zeros.
   */
  stats(resource: string): ResourceStats {
    const found = this.registry.find(resource)
    return found === undefined ? statsOfUnknown(resource) : statsOf(found, this.runtime.time.read())
  }

  /**
   * The statistics of all resources, now, as plain JSON: what is not known is absent, so the snapshot is what `JSON.parse` makes of its JSON.
   * Reading changes nothing.
   *
   * Cost: a few microseconds for each resource, more with percentiles; it is made in one go.
   */
  snapshot(): GuardSnapshot {
    return snapshotOf(this.name, this.registry, this.runtime.time.read())
  }

  /**
   * Forgets a resource: its state, statistics, configuration and forced state. Loaded rules stay and start anew at its next call. Breakers
   * that were not closed say so by a `'state'` event with the reason `'removed'`; calls in flight end normally and count for nobody.
   * Returns whether the name was known.
   */
  remove(resource: string): boolean {
    checkName(resource)
    const waited = this.runtime.waiting?.forget(resource) === true
    const existed = this.registry.remove(resource) || waited
    if (this.runtime.events.waiting) this.runtime.events.deliver()
    return existed
  }

  /** Names in use: entered, configured or named by a rule. */
  resources(): string[] {
    return [...this.registry.names()]
  }

  /**
   * Listens to breakers changing state (`'state'`), refusals (`'blocked'`) or rule loads (`'reload'`). Listeners run synchronously, after
   * the operation that caused the event is complete; what one throws is reported through `onInternalError`. Returns a function that unsubscribes.
   */
  on<N extends keyof GuardEvents>(event: N, listener: (event: GuardEvents[N]) => void): () => void {
    return this.runtime.events.on(event, listener)
  }

  /** Refuses every call of a resource until {@link auto}. Beats {@link forceClosed}. */
  forceOpen(resource: string): void {
    this.force(resource, true, undefined)
  }

  /** Lets calls pass whatever the breakers of a resource say, until {@link auto}. They go on recording underneath. */
  forceClosed(resource: string): void {
    this.force(resource, undefined, true)
  }

  /** Gives a resource back to its breakers. */
  auto(resource: string): void {
    this.force(resource, false, false)
  }

  /** Closes the breakers of a resource (or of all) with fresh statistics, zeroes its totals and empties its statistics window. Rules, forced states and calls in flight stay. */
  reset(resource?: string): void {
    const now = this.runtime.time.read()
    if (resource === undefined) this.runtime.waiting = undefined
    else this.runtime.waiting?.forget(resource)
    const targets =
      resource === undefined ? [...this.registry.each(), this.registry.overflow] : [this.registry.find(resource)]
    for (const target of targets) target?.reset(now)
    if (this.runtime.events.waiting) this.runtime.events.deliver()
  }

  /**
   * The state of the guard as plain JSON, for `createGuard({ restore })` of a later process: breakers that are not closed, counts that are
   * still live, forced states. Rules, configuration and totals are not in it. Changes nothing. O(names and buckets in use).
   */
  save(): SavedState {
    return saveState(this.registry, this.runtime.waiting, this.runtime.time.read())
  }

  /** Ends the guard: drops rules, statistics and listeners. Later calls run unguarded, with one warning. Calls in flight end normally. */
  dispose(): void {
    this.disposed = true
    this.registry.close()
    this.manager.clear()
    this.runtime.waiting = undefined
    this.runtime.time.stopRefusing()
    this.runtime.events.close()
    this.runtime.nesting.disarm()
  }

  private restore(given: SavedState): void {
    const { maxResources } = this.runtime
    const state = checkState(given, maxResources)
    this.runtime.waiting = new Waiting(state)
    let room = maxResources - state.resources.filter(({ forced }) => forced !== undefined).length
    for (const { resource, forced } of state.resources) {
      if (forced !== undefined) this.registry.claim(resource)[forced === 'open' ? 'forcedOpen' : 'forcedClosed'] = true
      else if (room-- > 0) this.registry.reserve(resource)
    }
  }

  private force(resource: string, open: boolean | undefined, closed: boolean | undefined): void {
    this.assertUsable('forceOpen, forceClosed and auto')
    checkName(resource)
    const givesBack = open === false && closed === false
    const target = givesBack ? this.registry.get(resource) : this.registry.claim(resource)
    if (target === undefined) return
    target.forcedOpen = open ?? target.forcedOpen
    target.forcedClosed = closed ?? target.forcedClosed
    target.force(this.runtime.time.read())
    if (this.runtime.events.waiting) this.runtime.events.deliver()
  }

  /** A rule object that stays in the list keeps hearing of the calls it took. */
  private compileCustom(name: string, rules: readonly CustomRule[]): CustomController[] {
    if (!Array.isArray(rules)) throw invalidArgument('rules of configure must be an array of controllers')
    const ids = new Set<string>()
    rules.forEach((rule: CustomRule, i) => {
      if (typeof rule?.check !== 'function') throw invalidArgument(`rules[${i}] must have a check function`)
      const { id } = rule
      if (id === undefined) return
      if (typeof id !== 'string' || id === '' || ids.has(id)) {
        throw invalidArgument(`rules[${i}].id must be a non-empty string, unique per resource`)
      }
      ids.add(id)
    })
    const resource = this.registry.get(name)
    const next = ((resource?.seq ?? 0) + 1) | 0
    return rules.map((rule: CustomRule, i) => {
      let id = rule.id
      for (let n = i + 1; id === undefined; n++) if (!ids.has(`custom#${n}`)) id = `custom#${n}`
      ids.add(id)
      const kept = resource?.customs.find(({ inner }) => inner === rule)
      return new CustomController(id, rule, kept?.since ?? next, (error, verb) =>
        this.runtime.faults.report('LEAPGUARD_CUSTOM_RULE', verb, name, error, id),
      )
    })
  }

  private assertUsable(what: string): void {
    if (this.disposed) {
      throw Object.assign(new Error(`${what}: the guard was disposed`), { code: 'ERR_GUARD_DISPOSED' })
    }
  }
}

/**
 * Makes a guard with its own clock, registry and rules.
 *
 * @throws TypeError `ERR_INVALID_ARGUMENT` for an unknown or wrong option; StateError `ERR_STATE_INVALID` for a `restore` that `save` never gave.
 */
export function createGuard(options?: GuardOptions): Guard {
  return new Guard(options)
}
