// One guarded name: its controllers, its counters, its sequence. The host its breakers speak to.
import type { Compiled, CompiledController, DegradeRule, Host, State, StateChangeReason } from '../rules/index.js'
import { CallContext } from './context.js'
import type { Judge } from './outcome.js'
import type { Runtime } from './runtime.js'
import type { ResourceConfig } from './types.js'

const NO_CONTROLLERS: readonly CompiledController[] = []
const NO_RULES: readonly Compiled[] = []

export class Resource implements Host {
  readonly name: string
  readonly runtime: Runtime
  /** All controllers in the order they are asked. Swapped whole, never changed in place. */
  controllers = NO_CONTROLLERS
  seq = 0
  // Lifetime counts, integers.
  passed = 0
  blocked = 0
  succeeded = 0
  failed = 0
  ignored = 0
  slow = 0
  wouldBlock = 0
  running = 0
  forcedOpen = false
  forcedClosed = false
  judge: Judge | null = null
  /** Calls need more than the short way through the entrance: fallbacks are configured. */
  hasFallbacks = false

  degrade = NO_RULES
  customs = NO_CONTROLLERS
  config: ResourceConfig | undefined = undefined
  #probesOut = 0
  #sharedContext: CallContext | undefined = undefined

  constructor(name: string, runtime: Runtime) {
    this.name = name
    this.runtime = runtime
  }

  /** What functions without parameters are called with. */
  get sharedContext(): CallContext {
    this.#sharedContext ??= CallContext.shared(this.name)
    return this.#sharedContext
  }

  arrange(): void {
    this.controllers = [...this.degrade.map((c) => c.breaker), ...this.customs]
  }

  /** Tells the breakers what the operator has decided. */
  force(now: number): void {
    for (const { breaker } of this.degrade) breaker.force(this.forcedOpen, this.forcedClosed, now)
  }

  /** Breakers closed and fresh, totals at zero; calls in flight stay counted as running. */
  reset(now: number): void {
    for (const { breaker } of this.degrade) breaker.reset(now)
    this.passed = this.blocked = this.succeeded = this.failed = 0
    this.ignored = this.slow = this.wouldBlock = 0
  }

  // ---- Host ----

  get probesOut(): number {
    return this.#probesOut
  }

  set probesOut(count: number) {
    if (count === this.#probesOut) return
    this.runtime.probesOut += count - this.#probesOut
    this.#probesOut = count
    if (this.runtime.probesOut === 0) this.runtime.nesting.disarm()
  }

  random(): number {
    return this.runtime.random()
  }

  changed(
    rule: DegradeRule,
    from: State,
    to: State,
    reason: StateChangeReason,
    value: number | undefined,
    total: number,
    at: number,
  ): void {
    this.runtime.events.stateChanged(this.name, rule, from, to, reason, value, total, at)
  }
}
