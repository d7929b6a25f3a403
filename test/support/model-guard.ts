// One resource in two versions, side by side: the real guard and the models of its breakers. After every step they must agree.
import {
  BlockedError,
  createGuard,
  type EntryHandle,
  type Guard,
  type ResourceTotals,
  type RuleStats,
  type StateChangeEvent,
} from 'leapguard'
import { ManualClock } from 'leapguard/testing'
import type { DegradeRuleInput } from '../../rules/degrade/rule.js'
import { BreakerModel, CHANCE, type ModelCall, type ModelOutcome, type ModelState } from './model-breaker.js'

export type RuleDraft = Omit<DegradeRuleInput, 'resource'>

export const RESOURCE = 'r'

/** The two ways of holding an admitted call in one's hands. */
export type Grip = 'handle' | 'permit'

export interface Live extends ModelCall {
  readonly end: (outcome: ModelOutcome) => void
  ended: boolean
}

interface Breaker {
  readonly id: string
  readonly model: BreakerModel
}

const endHandle = (handle: EntryHandle, outcome: ModelOutcome): void => {
  if (outcome === 'success') handle.exit()
  else if (outcome === 'failure') handle.exit({ error: new Error('bad') })
  else handle.cancel()
}

export class Twin {
  readonly clock: ManualClock
  readonly guard: Guard
  /** Each change of a felt state, as the guard told it. */
  readonly events: StateChangeEvent[] = []
  breakers: Breaker[] = []
  /** Totals are compared unless a reset has made them start anew in the middle of calls. */
  compareTotals = true
  #seq = 0
  #now: number
  #forcedOpen = false
  #forcedClosed = false
  #totals = { passed: 0, blocked: 0, success: 0, failure: 0, ignored: 0, wouldBlock: 0, running: 0 }
  #seenEvents = 0
  #replaced = false
  #felt = new Map<string, ModelState>()

  constructor(
    readonly rules: readonly RuleDraft[],
    startMs = 0,
  ) {
    this.#now = startMs
    this.clock = new ManualClock(startMs)
    this.guard = createGuard({ clock: this.clock, random: () => CHANCE })
    this.guard.setRulesFor(RESOURCE, { degrade: rules })
    this.guard.on('state', (event) => this.events.push(event))
    this.breakers = this.#modelsOf(rules)
    this.#felt = this.#feltStates()
  }

  get now(): number {
    return this.#now
  }

  get forced(): 'open' | 'closed' | undefined {
    return this.#forcedOpen ? 'open' : this.#forcedClosed ? 'closed' : undefined
  }

  wait(ms: number): void {
    this.#now += ms
    this.clock.set(this.#now)
  }

  /** One entry on both sides. `undefined`: both refused. */
  enter(grip: Grip = 'permit'): Live | undefined {
    const now = this.#now
    for (const { model } of this.breakers) if (this.forced === undefined) model.advance(now)
    const refusing = this.breakers.filter(({ model }) => !model.passes(now))
    const blockers = refusing.filter(({ model }) => !model.rule.dryRun)
    const admitted = this.forced === undefined ? blockers.length === 0 : this.forced === 'closed'
    const end = grip === 'handle' ? this.#enterByHandle(admitted, blockers) : this.#enterByPermit(admitted)
    if (end === undefined) {
      this.#totals.blocked += 1
      return undefined
    }
    this.#totals.passed += 1
    this.#totals.running += 1
    if (refusing.some(({ model }) => model.rule.dryRun)) this.#totals.wouldBlock += 1
    this.#seq += 1
    const call: Live = { seq: this.#seq, start: now, end, ended: false }
    for (const { model } of this.breakers) {
      if (this.forced === undefined || model.state === 'closed') model.take(now, call)
      else model.feedNothing(call)
    }
    return call
  }

  /** Ends a call on both sides. A second end changes nothing on either. */
  end(call: Live, outcome: ModelOutcome): void {
    call.end(outcome)
    if (call.ended) return
    call.ended = true
    this.#totals.running -= 1
    this.#totals[outcome] += 1
    for (const { model } of this.breakers) model.settle(this.#now, call, outcome)
  }

  forceOpen(): void {
    this.guard.forceOpen(RESOURCE)
    this.#forcedOpen = true
  }

  forceClosed(): void {
    this.guard.forceClosed(RESOURCE)
    this.#forcedClosed = true
  }

  auto(): void {
    this.guard.auto(RESOURCE)
    this.#forcedOpen = false
    this.#forcedClosed = false
  }

  reset(): void {
    this.guard.reset(RESOURCE)
    for (const { model } of this.breakers) model.close()
    this.compareTotals = false
  }

  /** A reload in which rules keep the shape of their window: states and statistics stay. */
  reloadNumbers(rules: readonly RuleDraft[]): void {
    this.guard.setRulesFor(RESOURCE, { degrade: rules })
    this.breakers.forEach(({ model }, i) => {
      model.change({ ...(rules[i] as RuleDraft), resource: RESOURCE })
    })
  }

  /** A reload in which every rule has another window: all of them begin anew. */
  reloadShapes(rules: readonly RuleDraft[]): void {
    this.guard.setRulesFor(RESOURCE, { degrade: rules })
    this.breakers = this.#modelsOf(rules)
    this.#replaced = true
  }

  /** The first difference between guard and model, or `undefined`. Call it once after each step. */
  difference(): string | undefined {
    const { totals, rules } = this.guard.stats(RESOURCE)
    if (this.compareTotals && !this.#sameTotals(totals))
      return `totals: guard ${JSON.stringify(totals)}, model ${JSON.stringify(this.#totals)}`
    if (rules.length !== this.breakers.length) return `guard has ${rules.length} rules`
    for (let i = 0; i < rules.length; i++) {
      const difference = this.#ruleDifference(rules[i] as RuleStats, this.breakers[i] as Breaker)
      if (difference !== undefined) return difference
    }
    return this.#eventDifference()
  }

  agree(step: string): void {
    const difference = this.difference()
    if (difference !== undefined) throw new Error(`after ${step} at ${this.#now}: ${difference}`)
  }

  #modelsOf(rules: readonly RuleDraft[]): Breaker[] {
    return rules.map((rule, i) => ({
      id: rule.id ?? `${rule.strategy}#${i + 1}`,
      model: new BreakerModel({ ...rule, resource: RESOURCE }, () => this.#seq),
    }))
  }

  #enterByPermit(admitted: boolean): ((outcome: ModelOutcome) => void) | undefined {
    const permit = this.guard.tryEnter(RESOURCE)
    if (permit >= 0 !== admitted) throw new Error(`entry at ${this.#now}: guard said ${permit}, model ${admitted}`)
    return permit < 0 ? undefined : (outcome) => this.guard.leave(permit, outcome)
  }

  #enterByHandle(admitted: boolean, blockers: readonly Breaker[]): ((outcome: ModelOutcome) => void) | undefined {
    try {
      const handle = this.guard.enter(RESOURCE)
      if (!admitted) throw new Error(`entry at ${this.#now}: guard admitted, model refused`)
      return (outcome) => endHandle(handle, outcome)
    } catch (error) {
      if (!(error instanceof BlockedError)) throw error
      if (admitted) throw new Error(`entry at ${this.#now}: guard refused, model admitted`)
      this.#checkRefusal(error, blockers)
      return undefined
    }
  }

  /** The refusal names the rule with the longest known wait; ties go to the earlier one. */
  #checkRefusal(error: BlockedError, blockers: readonly Breaker[]): void {
    const forced = this.forced !== undefined
    let id = forced ? undefined : blockers[0]?.id
    let wait = forced ? undefined : blockers[0]?.model.waitMs(this.#now)
    for (const blocker of forced ? [] : blockers) {
      const other = blocker.model.waitMs(this.#now)
      if (other === undefined || (wait !== undefined && other <= wait)) continue
      wait = other
      id = blocker.id
    }
    // A slow probe reopens the breaker when its limit is noticed, so the wait of a full half-open breaker is not promised there.
    const isVague = blockers.some(({ model }) => model.state === 'half-open' && model.rule.countRunning)
    if (isVague && !forced) return
    if (error.rule?.id !== id || error.retryAfterMs !== wait)
      throw new Error(`refusal at ${this.#now}: guard ${error.rule?.id} ${error.retryAfterMs}, model ${id} ${wait}`)
  }

  #sameTotals(totals: ResourceTotals): boolean {
    const mine = this.#totals
    return (
      totals.passed === mine.passed &&
      totals.blocked === mine.blocked &&
      totals.succeeded === mine.success &&
      totals.failed === mine.failure &&
      totals.ignored === mine.ignored &&
      totals.wouldBlock === mine.wouldBlock &&
      totals.running === mine.running
    )
  }

  #ruleDifference(rule: RuleStats, { id, model }: Breaker): string | undefined {
    const state = this.forced ?? model.state
    const { total, bad } = model.counts(this.#now)
    const openedAt = model.state === 'open' ? model.openedAt : undefined
    const waitMs = model.waitMs(this.#now)
    if (
      rule.id === id &&
      rule.state === state &&
      rule.forced === this.forced &&
      rule.probesOut === model.probes.length &&
      (!this.#countsArePromised(model) || (rule.total === total && rule.bad === bad)) &&
      (this.forced !== undefined || rule.openedAt === openedAt) &&
      (!this.#waitIsPromised(model) || rule.retryAfterMs === waitMs)
    )
      return undefined
    const mine = { id, state, total, bad, openedAt, retryAfterMs: waitMs, probesOut: model.probes.length }
    return `rule: guard ${JSON.stringify(rule)}, model ${JSON.stringify(mine)}`
  }

  /** Only a closed breaker's counts decide anything; what an open one shows of late results is its own affair. */
  #countsArePromised(model: BreakerModel): boolean {
    if (model.state === 'closed') return true
    return !model.rule.atArrival && model.rule.input.strategy !== 'consecutive-errors'
  }

  #waitIsPromised(model: BreakerModel): boolean {
    if (this.forced !== undefined) return false
    if (model.state !== 'half-open') return true
    return model.probes.length >= model.rule.probeCount && !model.rule.countRunning
  }

  #feltStates(): Map<string, ModelState> {
    return new Map(this.breakers.map(({ id, model }) => [id, this.forced ?? model.state]))
  }

  /** Each rule tells of its own changes, once each and in order; which rule speaks first is not promised. */
  #eventDifference(): string | undefined {
    const news = this.events.slice(this.#seenEvents)
    this.#seenEvents = this.events.length
    const before = this.#felt
    this.#felt = this.#feltStates()
    const replaced = this.#replaced
    this.#replaced = false
    for (const [id, state] of this.#felt) {
      let told = before.get(id) ?? 'closed'
      const own = news.filter((event) => event.rule.id === id)
      for (const event of own) {
        if (event.from !== told || event.to === told || event.at !== this.#now)
          return `${id} was ${told} at ${this.#now}, but an event says ${event.from} to ${event.to} at ${event.at}`
        told = event.to
      }
      if (told !== state) return `${id} is ${state}, but the last event says ${told}`
      // A breaker that replaces another under force says goodbye and hello.
      if (own.length > 1 && !replaced) return `${own.length} events of ${id} in one step`
    }
    return undefined
  }
}
