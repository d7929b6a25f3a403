// One guarded name: its controllers, its counters, its sequence. The host its breakers speak to.
import {
  type Compiled,
  type CompiledController,
  type CustomController,
  type DegradeRule,
  type Host,
  isThenable,
  type Program,
  type State,
  type StateChangeReason,
  swallow,
} from '../rules/index.js'
import { CallContext } from './context.js'
import type { Judge } from './outcome.js'
import type { Runtime } from './runtime.js'
import { Statistics } from './statistics.js'
import type { ResourceConfig } from './types.js'

const NO_CONTROLLERS: readonly CompiledController[] = []
const NO_HITS: readonly Program[] = []
const NO_RULES: readonly Compiled[] = []
const NO_CUSTOMS: readonly CustomController[] = []

export class Resource implements Host {
  readonly name: string
  readonly runtime: Runtime
  /** When a call last asked for entry, by the guard's clock. */
  lastUsed = Number.NEGATIVE_INFINITY
  /** Where the registry's ring holds it. */
  place = -1
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
  /** The rolling window, where one is asked for. */
  statistics: Statistics | null = null

  /** The patterns of rules in force that match the name. */
  hits = NO_HITS
  degrade = NO_RULES
  customs = NO_CUSTOMS
  config: ResourceConfig | undefined = undefined
  /** Stands for all names without room, and is in no registry. */
  readonly isOverflow: boolean
  private probesOutNow = 0
  private dropped = false
  private contextOfAll: CallContext | undefined = undefined

  constructor(name: string, runtime: Runtime, isOverflow = false) {
    this.name = name
    this.runtime = runtime
    this.isOverflow = isOverflow
  }

  /** What functions without parameters are called with. */
  get sharedContext(): CallContext {
    this.contextOfAll ??= CallContext.shared(this.name)
    return this.contextOfAll
  }

  /** Takes over what a load has compiled for it. */
  adopt(compiled: readonly Compiled[]): void {
    const { waiting, time } = this.runtime
    const before = this.degrade
    this.degrade = compiled
    if (waiting?.has(this.name) === true && !this.isOverflow) {
      const isNew = ({ breaker }: Compiled) => !before.some((old) => old.breaker === breaker)
      waiting.handOver(this.name, compiled.filter(isNew), time.now)
    }
    this.arrange()
  }

  arrange(): void {
    this.controllers = [...this.degrade.map((c) => c.breaker), ...this.customs]
  }

  /** Tells the breakers what the operator has decided. */
  force(now: number): void {
    for (const { breaker } of this.degrade) breaker.force(this.forcedOpen, this.forcedClosed, now)
  }

  /** Keeps a statistics window of that shape, or none. One that has it goes on as it is. */
  keepStatistics(shape: ConstructorParameters<typeof Statistics>[0] | null): void {
    if (shape === null) this.statistics = null
    else if (this.statistics?.hasShape(shape) !== true) this.statistics = new Statistics(shape)
  }

  /** Breakers closed and fresh, totals and statistics at zero; calls in flight stay counted as running. */
  reset(now: number): void {
    for (const { breaker } of this.degrade) breaker.reset(now)
    this.passed = this.blocked = this.succeeded = this.failed = 0
    this.ignored = this.slow = this.wouldBlock = 0
    this.statistics?.clear()
  }

  /** Nothing but counts is lost if the registry forgets it. */
  get isIdle(): boolean {
    if (this.running > 0 || this.config !== undefined || this.forcedOpen || this.forcedClosed) return false
    for (const { breaker } of this.degrade) if (!breaker.isAtRest(this.runtime.time.now)) return false
    return true
  }

  /**
   * The registry has forgotten it. Calls still on their way through it end as they would have, are counted here, where nobody looks, and
   * are heard of only by the custom rules that took them.
   */
  drop(now: number): void {
    this.forcedOpen = this.forcedClosed = false
    for (const { breaker } of this.degrade) breaker.drop(now, 'removed')
    this.dropped = true
    this.adopt(NO_RULES)
  }

  // ---- Host ----

  get offered(): number {
    return this.passed + this.blocked
  }

  get probesOut(): number {
    return this.probesOutNow
  }

  set probesOut(count: number) {
    if (count === this.probesOutNow || this.dropped) return
    this.runtime.probesOut += count - this.probesOutNow
    this.probesOutNow = count
    if (this.runtime.probesOut === 0) this.runtime.nesting.disarm()
  }

  /** The user's source may throw or give nonsense: then there is no jitter. */
  random(): number {
    try {
      const share: unknown = this.runtime.random()
      if (typeof share === 'number' && share >= 0 && share < 1) return share
      if (isThenable(share)) swallow(share)
      throw new TypeError(`random() must return a number >= 0 and < 1, got ${String(share)}`)
    } catch (error) {
      this.runtime.faults.report('LEAPGUARD_CALLBACK', 'random', this.name, error)
      return 0
    }
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
    if (!this.dropped) this.runtime.events.stateChanged(this.name, rule, from, to, reason, value, total, at)
  }
}
