// The breaker: one state machine for all degrade strategies. A strategy is a small integer here, not a class, so that the
// loops of src/pipeline.ts see one shape.
//
//            threshold reached                       cooldown over, a call comes
//   CLOSED ---------------------> OPEN ----------------------------------------> HALF_OPEN
//      ^                            ^                                              |   |
//      |                            +--------------- a bad probe -----------------+   |
//      +------------------------------------ successThreshold good probes -------------+
//
// Deliberately not done: no timer turns OPEN into HALF_OPEN (a call does, in `take`); a failure that arrives while OPEN neither
// signals again nor lengthens the cooldown; a result from an earlier era moves nothing unless the rule asks for it.
import { CountingWindow, CountWindow, StartRing } from '../windows/index.js'
import {
  BlockCode,
  type CompiledController,
  Flag,
  type Host,
  type Moment,
  Outcome,
  type Permit,
  State,
  type StateChangeReason,
} from './contract.js'
import type { DegradeRule, DegradeStrategy } from './degrade/rule.js'
import { ProbeList } from './probe-list.js'
import { identityOf, MAX_GROWTH, type SavedBreaker } from './saved-breaker.js'
import { MAX_MS } from './validate.js'

const SLOW_RATIO = 0
const ERROR_RATIO = 1
const ERROR_COUNT = 2
const CONSECUTIVE = 3
const KINDS: Readonly<Record<DegradeStrategy, number>> = {
  'slow-call-ratio': SLOW_RATIO,
  'error-ratio': ERROR_RATIO,
  'error-count': ERROR_COUNT,
  'consecutive-errors': CONSECUTIVE,
}

/** An era that began more calls ago than this is moved up. */
const ERA_REACH = 2 ** 30

const FORCED_NONE = 0
const FORCED_OPEN = 1
const FORCED_CLOSED = 2

export class Breaker implements CompiledController {
  rule: DegradeRule
  /** Calls a dry run let pass. */
  wouldBlock = 0
  /** Stored state, and the state that callers feel (the same unless forced). */
  private state: State = State.CLOSED
  private felt: State = State.CLOSED
  private forced = FORCED_NONE
  private readonly host: Host

  // The rule as plain numbers.
  private kind = 0
  private limitMs = 0
  private threshold = 0
  private above = false
  private minimum = 0
  private dryRun = false
  private late = false

  // CLOSED: the window, the run of failures, the calls that still run.
  private readonly window: CountingWindow | CountWindow
  private streak = 0
  private since: number
  private starts: StartRing | null = null
  /** Calls from `startsSince` on, and before `startsUntil` if the watch was turned off, are in the ring of starts. */
  private startsSince = 0
  private startsUntil = 0
  private watches = false

  // OPEN and HALF_OPEN.
  private openedAt = Number.NaN
  private cooldownMs = 0
  private growth = 0
  private jitter = 0
  private successes = 0
  private takeovers = 0
  private readonly probes = new ProbeList()
  /** Calls that passed although this breaker would have refused them and that must not be judged when they come back. */
  private passedOver: Set<number> | null = null

  constructor(rule: DegradeRule, host: Host, now: number) {
    this.host = host
    this.rule = rule
    this.window = windowOf(rule)
    this.since = (host.seq + 1) | 0
    this.forced = host.forcedOpen ? FORCED_OPEN : host.forcedClosed ? FORCED_CLOSED : FORCED_NONE
    this.felt = this.forced === FORCED_OPEN ? State.OPEN : State.CLOSED
    this.adopt(rule, now)
  }

  /** Takes over changed numbers; state and statistics stay. The window shape must be the same. */
  update(rule: DegradeRule, now: number): void {
    this.adopt(rule, now)
    if (this.state === State.OPEN) this.cooldownMs = this.lengthOfCooldown()
  }

  private adopt(rule: DegradeRule, now: number): void {
    this.rule = rule
    this.kind = KINDS[rule.strategy]
    this.limitMs = rule.maxAllowedRtMs ?? 0
    this.threshold = rule.threshold
    // A ratio cannot rise above 1, so for slow calls 'above 1' means 'all of them' (as in Sentinel).
    this.above = rule.comparison === 'above' && !(this.kind === SLOW_RATIO && rule.threshold === 1)
    this.minimum = rule.minRequestAmount ?? 1
    this.dryRun = rule.dryRun
    this.late = rule.lateResults === 'at-arrival'
    const watches = this.kind === SLOW_RATIO && rule.countRunning
    if (watches && !this.watches) this.restartStarts(now, (this.host.seq + 1) | 0)
    // Calls noticed before the watch was turned off are booked already: the ring still knows them.
    if (!watches && this.watches) this.startsUntil = (this.host.seq + 1) | 0
    this.watches = watches
  }

  // ---- the four verbs ----

  advance(moment: Moment): void {
    if (this.state === State.CLOSED) {
      if (this.watches && this.starts !== null && moment.now >= this.starts.due) this.foldRunning(moment, this.starts)
    } else if (this.state === State.HALF_OPEN) this.watchProbes(moment.now)
  }

  check(moment: Moment, _count: number): number {
    if (this.felt === State.CLOSED || this.dryRun) return 0
    return this.admits(moment) ? 0 : BlockCode.DEGRADE
  }

  take(moment: Moment, permit: Permit): boolean {
    if (this.state === State.CLOSED) {
      if (this.watches && this.starts?.begin(moment.now) === false) this.restartBehind(moment.now, permit.seq)
    } else this.takeNotClosed(moment, permit)
    return true
  }

  settle(moment: Moment, permit: Permit, outcome: Outcome): number {
    let bad: 0 | 1 = outcome === Outcome.FAILURE ? 1 : 0
    let flags = 0
    if (this.kind === SLOW_RATIO) {
      bad = moment.now - permit.start > this.limitMs ? 1 : 0
      if (bad === 1 && outcome !== Outcome.IGNORED) flags = Flag.SLOW
    }
    if (this.passedOver?.delete(permit.seq) === true) return flags
    if (this.state !== State.CLOSED) return this.settleNotClosed(moment.now, permit, outcome, bad, flags)
    const age = (permit.seq - this.since) | 0
    if (age < 0) {
      if (this.late && outcome !== Outcome.IGNORED) this.record(moment, bad)
      return flags
    }
    if (age > ERA_REACH) this.moveEraUp()
    if (this.starts !== null && this.isWatched(permit.seq) && !this.starts.end(permit.start)) {
      return Flag.SLOW // folded while it ran: booked already
    }
    if (outcome !== Outcome.IGNORED) this.record(moment, bad)
    return flags
  }

  /** Cooldown left, or time to the takeover of the oldest probe; unknown while forced or if a probe may hang for ever. */
  waitMs(now: number): number | undefined {
    if (this.forced !== FORCED_NONE) return undefined
    if (this.state === State.OPEN) return Math.max(0, this.openedAt + this.cooldownMs - now)
    if (this.state === State.HALF_OPEN && this.probes.size > 0) {
      const timeout = this.probeTimeout()
      return timeout === Number.POSITIVE_INFINITY ? undefined : Math.max(0, this.probes.oldestStart() + timeout - now)
    }
    return undefined
  }

  // ---- closed ----

  private record(moment: Moment, bad: 0 | 1): void {
    if (this.kind === CONSECUTIVE) {
      this.streak = bad === 0 ? 0 : this.streak + 1
      if (bad !== 0 && this.reaches(this.streak)) this.open(moment.now, 'threshold', this.streak, this.streak)
      return
    }
    this.window.add(moment.now, bad)
    if (this.window.bad !== 0 && this.window.total >= this.minimum) this.judge(moment)
  }

  private judge(moment: Moment): void {
    const { bad, total } = this.window
    // By division: `bad >= threshold * total` misses exact ties such as 7 of 25 against 0.28.
    const value = this.kind === ERROR_COUNT ? bad : bad / total
    if (this.reaches(value)) this.open(moment.now, 'threshold', value, total)
  }

  private reaches(value: number): boolean {
    return this.above ? value > this.threshold : value >= this.threshold
  }

  private foldRunning(moment: Moment, starts: StartRing): void {
    const folded = starts.fold(moment.now)
    if (folded === 0) return
    this.window.addMany(moment.now, folded, folded)
    if (this.window.total >= this.minimum) this.judge(moment)
  }

  /** Sequence numbers wrap, so an era that began very long ago is moved up before it would seem to lie ahead. */
  private moveEraUp(): void {
    this.since = (this.since + ERA_REACH / 2) | 0
    if (((this.since - this.startsSince) | 0) > 0) this.startsSince = this.since
  }

  private isWatched(seq: number): boolean {
    return ((seq - this.startsSince) | 0) >= 0 && (this.watches || ((seq - this.startsUntil) | 0) < 0)
  }

  private restartStarts(now: number, since: number): void {
    this.starts ??= new StartRing(this.limitMs, now)
    this.starts.restart(now)
    this.startsSince = since
  }

  /** The clock stepped back (only where the guard lets it): calls noted so far are no longer watched, only judged when they end. */
  private restartBehind(now: number, seq: number): void {
    this.restartStarts(now, seq)
    this.starts?.begin(now)
  }

  // ---- open and half-open ----

  private admits(moment: Moment): boolean {
    if (this.forced !== FORCED_NONE) return this.forced === FORCED_CLOSED
    if (this.state === State.OPEN) return moment.now - this.openedAt >= this.cooldownMs
    return this.state === State.CLOSED || this.probes.size < this.rule.probeCount
  }

  holdsProbe(seqs: readonly number[]): boolean {
    return this.state === State.HALF_OPEN && this.forced !== FORCED_OPEN && this.probes.hasAny(seqs)
  }

  private takeNotClosed(moment: Moment, permit: Permit): void {
    if (this.forced === FORCED_CLOSED || (permit.parents !== null && this.holdsProbe(permit.parents))) {
      this.passOver(permit)
    } else if (this.admits(moment)) {
      const { now } = moment
      if (this.state === State.OPEN) this.change(State.HALF_OPEN, 'cooldown-elapsed', undefined, 0, now)
      this.probes.add(permit.seq, now)
      this.host.probesOut++
      permit.flags |= Flag.PROBE
    } else {
      // A dry run would have refused; any other rule gets here only after a fault of ours in the check.
      if (this.dryRun) {
        this.wouldBlock++
        permit.flags |= Flag.WOULD_BLOCK
      }
      this.passOver(permit)
    }
  }

  private passOver(permit: Permit): void {
    // Results of such calls are on no list of probes and behind `since` once closed; only a rule that judges late results can see them.
    if (!this.late) return
    this.passedOver ??= new Set()
    this.passedOver.add(permit.seq)
  }

  private settleNotClosed(now: number, permit: Permit, outcome: Outcome, bad: 0 | 1, flags: number): number {
    // Judged at arrival means counted at arrival too; it shows only if the clock steps back before these counts are emptied.
    if (this.late && outcome !== Outcome.IGNORED && this.kind !== CONSECUTIVE) this.window.add(now, bad)
    if (this.state === State.OPEN) return flags
    const wasProbe = this.probes.remove(permit.seq)
    if (wasProbe) this.host.probesOut--
    if (outcome === Outcome.IGNORED || !(wasProbe || this.late)) return flags
    if (bad === 1) this.reopen(now, this.kind === SLOW_RATIO ? 'probe-slow' : 'probe-failed')
    else if (++this.successes >= this.rule.successThreshold) this.close(now, 'probe-succeeded')
    return flags
  }

  /** A slow probe past its limit is bad before it ends; a probe that holds its slot too long makes room for the next. */
  private watchProbes(now: number): void {
    if (this.probes.size === 0) return
    const ran = now - this.probes.oldestStart()
    if (this.watches && ran > this.limitMs) this.reopen(now, 'probe-slow')
    else if (ran >= this.probeTimeout()) {
      this.dropProbes()
      this.takeovers++
    }
  }

  private probeTimeout(): number {
    const { probeTimeoutMs } = this.rule
    if (probeTimeoutMs === null) return Number.POSITIVE_INFINITY
    return Math.min(MAX_MS, probeTimeoutMs * 2 ** this.takeovers)
  }

  private dropProbes(): void {
    this.host.probesOut -= this.probes.size
    this.probes.clear()
  }

  // ---- transitions ----

  private open(now: number, reason: StateChangeReason, value: number | undefined, total: number): void {
    this.openedAt = now
    this.jitter = this.rule.cooldownJitter === 0 ? 0 : this.rule.cooldownJitter * shareOf(this.host.random())
    this.cooldownMs = this.lengthOfCooldown()
    this.dropProbes()
    this.successes = 0
    this.streak = 0
    this.change(State.OPEN, reason, value, total, now)
  }

  /** One bad probe of one. */
  private reopen(now: number, reason: StateChangeReason): void {
    this.growth = Math.min(MAX_GROWTH, this.growth + 1)
    this.open(now, reason, 1, 1)
  }

  private close(now: number, reason: StateChangeReason): void {
    const { successes } = this
    this.clearState(now)
    this.window.clear(now)
    this.change(State.CLOSED, reason, undefined, successes, now)
  }

  /** Everything of earlier eras but the window's counts. */
  private clearState(now: number): void {
    this.dropProbes()
    this.since = (this.host.seq + 1) | 0
    this.streak = 0
    this.growth = 0
    this.successes = 0
    this.takeovers = 0
    if (this.watches) this.restartStarts(now, this.since)
    else this.starts = null
  }

  /** `cooldownMs * cooldownMultiplier^reopenings`, lengthened by the jitter drawn at opening, in whole ms, never past the cap. */
  private lengthOfCooldown(): number {
    const { cooldownMs, cooldownMultiplier, maxCooldownMs } = this.rule
    let length = cooldownMs
    for (let i = 0; i < this.growth && length < maxCooldownMs && cooldownMultiplier > 1; i++)
      length *= cooldownMultiplier
    return Math.min(maxCooldownMs, Math.ceil(length * (1 + this.jitter)))
  }

  private change(to: State, reason: StateChangeReason, value: number | undefined, total: number, now: number): void {
    this.state = to
    this.feel(reason, value, total, now)
  }

  private feel(reason: StateChangeReason, value: number | undefined, total: number, now: number): void {
    const from = this.felt
    this.felt = this.forced === FORCED_NONE ? this.state : this.forced === FORCED_OPEN ? State.OPEN : State.CLOSED
    if (from !== this.felt) this.host.changed(this.rule, from, this.felt, reason, value, total, now)
  }

  // ---- the operator ----

  /** Forced open beats forced closed beats the breaker. The state machine goes on underneath and comes back with neither. */
  force(open: boolean, closed: boolean, now: number): void {
    this.forced = open ? FORCED_OPEN : closed ? FORCED_CLOSED : FORCED_NONE
    this.feel(open ? 'forced-open' : closed ? 'forced-closed' : 'auto', undefined, 0, now)
  }

  /** Closed with fresh statistics, as if new; forced states stay. */
  reset(now: number): void {
    this.clearState(now)
    this.wouldBlock = 0
    this.window.clear(now)
    this.change(State.CLOSED, 'reset', undefined, 0, now)
  }

  /**
   * This breaker is dropped, by a reload or with its whole resource: gives back its probes and returns the stored state that is lost. Callers
   * feel a change at a reload only if nothing is forced; a resource that is removed loses that too.
   */
  drop(now: number, reason: 'reload' | 'removed'): State {
    const { state } = this
    if (reason === 'removed') this.forced = FORCED_NONE
    this.dropProbes()
    this.change(State.CLOSED, reason, undefined, 0, now)
    return state
  }

  /** Closed: nothing but counts is lost with it. */
  get atRest(): boolean {
    return this.state === State.CLOSED
  }

  // ---- from one process to the next ----

  /** What a later process needs to go on from here, as plain JSON; `undefined` if there is nothing to keep. Changes nothing. */
  saved(now: number): SavedBreaker | undefined {
    const { growth, takeovers } = this
    const identity = identityOf(this.rule)
    if (this.state === State.OPEN) {
      return { ...identity, state: 'open', openedAt: this.openedAt, jitter: this.jitter, growth, takeovers }
    }
    if (this.state === State.HALF_OPEN) {
      return { ...identity, state: 'half-open', successes: this.successes, growth, takeovers }
    }
    if (this.kind === CONSECUTIVE) {
      return this.streak === 0 ? undefined : { ...identity, state: 'closed', streak: this.streak }
    }
    if (this.window.totalAt(now) === 0) return undefined
    return this.window instanceof CountWindow
      ? { ...identity, state: 'closed', calls: this.window.saved() }
      : { ...identity, state: 'closed', window: this.window.saved(now) }
  }

  /**
   * Goes on from where a breaker of the same shape was saved; only for a breaker that has just been made. `saved` must be free of faults
   * (`checkSavedBreaker`). An opening in the future is taken as of `now`; cooldowns follow the rule in force.
   */
  restore(saved: SavedBreaker, now: number): void {
    if (saved.state === 'closed') {
      this.streak = saved.streak ?? 0
      if (this.window instanceof CountWindow) this.window.restore(saved.calls ?? [], now)
      else this.window.restore(saved.window ?? [], now)
      return
    }
    this.growth = saved.growth
    this.takeovers = saved.takeovers
    if (saved.state === 'open') {
      this.openedAt = Math.min(saved.openedAt, now)
      this.jitter = saved.jitter
      this.cooldownMs = this.lengthOfCooldown()
    } else this.successes = saved.successes
    this.change(saved.state === 'open' ? State.OPEN : State.HALF_OPEN, 'restored', undefined, 0, now)
  }

  /** What can be read of the breaker at `now`. Changes nothing. */
  snapshot(now: number): BreakerSnapshot {
    const consecutive = this.kind === CONSECUTIVE
    const isOpen = this.felt === State.OPEN && this.forced === FORCED_NONE
    return {
      state: this.felt,
      openedAt: isOpen ? this.openedAt : undefined,
      retryAfterMs: this.waitMs(now),
      total: consecutive ? this.streak : this.window.totalAt(now),
      bad: consecutive ? this.streak : this.window.badAt(now),
      probesOut: this.probes.size,
      wouldBlock: this.wouldBlock,
      forced: this.forced === FORCED_NONE ? undefined : this.forced === FORCED_OPEN ? 'open' : 'closed',
    }
  }
}

export interface BreakerSnapshot {
  state: State
  openedAt: number | undefined
  retryAfterMs: number | undefined
  total: number
  bad: number
  probesOut: number
  wouldBlock: number
  forced: 'open' | 'closed' | undefined
}

function windowOf({ statCallCount, statIntervalMs = 1, bucketCount = 1 }: DegradeRule): CountingWindow | CountWindow {
  return statCallCount === undefined ? new CountingWindow(statIntervalMs, bucketCount) : new CountWindow(statCallCount)
}

/** A share that is none would hold a breaker open for ever or let it go early. */
function shareOf(random: number): number {
  return random >= 0 && random < 1 ? random : 0
}
