// One resource in two versions, side by side: the real guard and the models of its breakers. After every step they must agree.
import {
  BlockedError,
  createGuard,
  type EntryHandle,
  type Guard,
  type GuardOptions,
  type ResourceTotals,
  type RuleStats,
  type StateChangeEvent,
} from 'leapguard'
import { ManualClock } from 'leapguard/testing'
import type { DegradeRuleOptions } from '../../rules/degrade/rule.js'
import { BreakerModel, CHANCE, type ModelCall, type ModelOutcome, type ModelState } from './model-breaker.js'

export type RuleDraft = DegradeRuleOptions

export const RESOURCE = 'r'

/** The two ways of holding an admitted call in one's hands. */
export type Grip = 'handle' | 'permit'

export interface Live extends ModelCall {
  readonly end: (outcome: ModelOutcome) => void
  ended: boolean
  /** A controller failed while it was let in: it is counted, and nobody learns from it. */
  readonly unguarded: boolean
}

interface Breaker {
  readonly id: string
  readonly model: BreakerModel
}

/** A custom rule beside the breakers, as far as an entry is concerned. */
export interface Gate {
  readonly id: string
  /** Would it refuse an entry now? */
  refuses(): boolean
  /** Will it fail when the next entry is let in? */
  fails(): boolean
}

/** What the model says of an entry before the guard is asked. */
export interface Offer {
  readonly admitted: boolean
  /** It refuses because the clock went back. */
  readonly wentBack: boolean
  /** Calls around this one that the guard knows of. */
  readonly parents: readonly ModelCall[]
  readonly refusing: readonly Breaker[]
  readonly blockers: readonly { readonly id: string; readonly waitMs: number | undefined; readonly vague: boolean }[]
}

export type TwinOptions = Pick<GuardOptions, 'onClockBack' | 'onRuleChange' | 'onInternalError'> & {
  readonly make?: ((options: GuardOptions) => Guard) | undefined
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
  /** The custom rule that the guard was given beside the rules, if any. */
  gate: Gate | undefined
  #seq = 0
  #offered = 0
  /** The latest reading of the clock, and where the clock stands. */
  #now: number
  #clockNow: number
  readonly #refusesBack: boolean
  readonly #restarts: boolean
  #forcedOpen = false
  #forcedClosed = false
  #totals = { passed: 0, blocked: 0, success: 0, failure: 0, ignored: 0, wouldBlock: 0, running: 0 }
  #seenEvents = 0
  #replaced = false
  #felt = new Map<string, ModelState>()

  constructor(
    public rules: readonly RuleDraft[],
    startMs = 0,
    { make = createGuard, ...options }: TwinOptions = {},
  ) {
    this.#now = startMs
    this.#clockNow = startMs
    this.#refusesBack = options.onClockBack === 'refuse'
    this.#restarts = options.onRuleChange === 'restart'
    this.clock = new ManualClock(startMs)
    this.guard = make({ ...options, clock: this.clock, random: () => CHANCE })
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

  /** Moves the clock, backward too. Time as both sides know it never goes back. */
  wait(ms: number): void {
    this.#clockNow += ms
    this.#now = Math.max(this.#now, this.#clockNow)
    this.clock.set(this.#clockNow)
  }

  /** One entry on both sides. `undefined`: both refused. */
  enter(grip: Grip = 'permit'): Live | undefined {
    const offer = this.offer()
    const end = grip === 'handle' ? this.#enterByHandle(offer) : this.#enterByPermit(offer)
    return end === undefined ? this.refused(offer) : this.admitted(offer, end)
  }

  /** What the model says of an entry made now; to be asked right before the guard is. */
  offer(parents: readonly ModelCall[] = []): Offer {
    const now = this.#now
    const wentBack = this.#refusesBack && this.#clockNow < now
    if (wentBack) return { admitted: false, wentBack, parents, refusing: [], blockers: [] }
    for (const { model } of this.breakers) model.advance(now)
    const refusing = this.breakers.filter(({ model }) => !model.passes(now) && !model.isAround(parents))
    const blockers = (this.forced === undefined ? refusing.filter(({ model }) => !model.rule.dryRun) : []).map(
      ({ id, model }) => ({
        id,
        waitMs: model.waitMs(now),
        // A slow probe reopens the breaker when its limit is noticed, so the wait of a full half-open breaker is not promised there.
        vague: model.state === 'half-open' && model.rule.countRunning,
      }),
    )
    const { gate } = this
    if (this.forced !== 'open' && gate?.refuses() === true)
      blockers.push({ id: gate.id, waitMs: undefined, vague: false })
    return { admitted: this.forced !== 'open' && blockers.length === 0, wentBack, parents, refusing, blockers }
  }

  /** The guard let the entry in, and will end it by `end`. To be told before anything else happens to either. */
  admitted({ admitted, refusing, parents }: Offer, end: Live['end']): Live {
    if (!admitted) throw new Error(`entry at ${this.#now}: guard admitted, model refused`)
    this.#totals.passed += 1
    this.#totals.running += 1
    if (this.forced === undefined && refusing.some(({ model }) => model.rule.dryRun)) this.#totals.wouldBlock += 1
    this.#seq += 1
    const unguarded = this.gate?.fails() ?? false
    const call: Live = { seq: this.#seq, start: this.#now, end, ended: false, unguarded }
    for (const { model } of this.breakers) {
      if (model.state === 'closed') model.take(this.#now, call, this.forced !== undefined)
      else if (this.forced === undefined && !model.isAround(parents)) model.take(this.#now, call)
      else model.feedNothing(call)
      if (unguarded) model.settle(this.#now, call, 'ignored')
    }
    this.#offered += 1
    return call
  }

  /** The guard refused the entry, with this error if it gave one. */
  refused(offer: Offer, error?: BlockedError): undefined {
    if (offer.admitted) throw new Error(`entry at ${this.#now}: guard refused, model admitted`)
    this.#offered += 1
    this.#totals.blocked += 1
    if (error !== undefined) this.#checkRefusal(error, offer)
  }

  /** Ends a call on both sides. A second end changes nothing on either. */
  end(call: Live, outcome: ModelOutcome): void {
    call.end(outcome)
    if (call.ended) return
    call.ended = true
    this.#totals.running -= 1
    this.#totals[outcome] += 1
    if (!call.unguarded) for (const { model } of this.breakers) model.settle(this.#now, call, outcome)
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

  /** Breakers fresh and totals at zero; calls in flight stay counted as running. */
  reset(): void {
    this.guard.reset(RESOURCE)
    this.#offered = 0
    for (const { model } of this.breakers) model.close()
    const { running } = this.#totals
    this.#totals = { passed: 0, blocked: 0, success: 0, failure: 0, ignored: 0, wouldBlock: 0, running }
  }

  /** Any reload of rules that all have an `id`: equal ones keep everything, another window begins anew. */
  reload(rules: readonly RuleDraft[]): void {
    this.guard.setRulesFor(RESOURCE, { degrade: rules })
    const before = this.breakers
    this.rules = rules
    this.breakers = this.#modelsOf(rules).map((fresh) => {
      const old = before.find(({ id }) => id === fresh.id)
      if (old === undefined) this.#felt.set(fresh.id, this.forced ?? 'closed')
      else if (old.model.rule.equals(fresh.model.rule)) return old
      else if (old.model.rule.shape === fresh.model.rule.shape && !this.#restarts) {
        old.model.change(fresh.model.rule.input, this.#now)
        return old
      }
      return fresh
    })
    this.#replaced = true
  }

  /** The first difference between guard and model, or `undefined`. Call it once after each step. */
  difference(): string | undefined {
    const { totals, rules } = this.guard.stats(RESOURCE)
    if (!this.#sameTotals(totals))
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
      model: new BreakerModel(
        { ...rule, resource: RESOURCE },
        () => this.#seq,
        () => this.#offered,
      ),
    }))
  }

  #enterByPermit({ admitted }: Offer): ((outcome: ModelOutcome) => void) | undefined {
    const permit = this.guard.tryEnter(RESOURCE)
    if (permit >= 0 !== admitted) throw new Error(`entry at ${this.#now}: guard said ${permit}, model ${admitted}`)
    return permit < 0 ? undefined : (outcome) => this.guard.leave(permit, outcome)
  }

  #enterByHandle(offer: Offer): ((outcome: ModelOutcome) => void) | undefined {
    try {
      const handle = this.guard.enter(RESOURCE)
      return (outcome) => endHandle(handle, outcome)
    } catch (error) {
      if (!(error instanceof BlockedError)) throw error
      this.#checkRefusal(error, offer)
      return undefined
    }
  }

  /** The refusal names the rule with the longest known wait; ties go to the earlier one. */
  #checkRefusal(error: BlockedError, { blockers, wentBack }: Offer): void {
    if (blockers.some(({ vague }) => vague)) return
    let [named] = blockers
    for (const other of blockers)
      if (other.waitMs !== undefined && (named?.waitMs === undefined || other.waitMs > named.waitMs)) named = other
    const kind = wentBack ? 'clock' : named !== undefined && named.id === this.gate?.id ? 'custom' : 'degrade'
    if (error.kind === kind && error.rule?.id === named?.id && error.retryAfterMs === named?.waitMs) return
    const mine = `${kind} ${named?.id} ${named?.waitMs}`
    throw new Error(
      `refusal at ${this.#now}: guard ${error.kind} ${error.rule?.id} ${error.retryAfterMs}, model ${mine}`,
    )
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
      rule.admittedShare === (this.forced === undefined ? model.share(this.#now) : 1) &&
      (!model.countsArePromised || (rule.total === total && rule.bad === bad)) &&
      (this.forced !== undefined || rule.openedAt === openedAt) &&
      (!this.#waitIsPromised(model) || rule.retryAfterMs === waitMs)
    )
      return undefined
    const mine = { id, state, total, bad, openedAt, retryAfterMs: waitMs, probesOut: model.probes.length }
    return `rule: guard ${JSON.stringify(rule)}, model ${JSON.stringify(mine)}`
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
      // A breaker that replaces another under force says goodbye and hello. A half-open time that was over lets the cooldown begin
      // when it was over, so a late caller may find both past.
      const bothPast =
        own.length === 2 && own[0]?.reason === 'half-open-timeout' && own[1]?.reason === 'cooldown-elapsed'
      if (own.length > 1 && !replaced && !bothPast) return `${own.length} events of ${id} in one step`
    }
    return undefined
  }
}
