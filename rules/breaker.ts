// The breaker: one state machine for all degrade strategies. A strategy is a small integer here, not a class, so that the
// loops of src/pipeline.ts see one shape.
//
//            threshold reached                       cooldown over, a call comes
//   CLOSED ---------------------> OPEN ----------------------------------------> HALF_OPEN
//      ^                            ^                                              |   |
//      |                            +--------------- a bad probe -----------------+   |
//      +------------------------------------ successThreshold good probes -------------+
//
// Two ways lead further only where a rule asks for them: HALF_OPEN for longer than `maxHalfOpenMs` becomes OPEN or CLOSED, and after
// closing traffic is let back by steps (RECOVERING, which everybody else sees as CLOSED).
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
import { Cooldown } from './cooldown.js'
import type { DegradeRule, DegradeStrategy } from './degrade/rule.js'
import { ProbeList } from './probe-list.js'
import { isLetIn, nextStepMs, tenthsAt } from './recovery.js'
import { identityOf, type SavedBreaker, type SavedPhase } from './saved-breaker.js'
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

/** Closed, and traffic is let back by steps. One number of the same kind, so that the steady closed state costs no further compare. */
const RECOVERING = 3
type Phase = State | typeof RECOVERING

const FORCED_NONE = 0
const FORCED_OPEN = 1
const FORCED_CLOSED = 2

export class Breaker implements CompiledController {
  rule: DegradeRule
  /** Calls a dry run let pass. */
  wouldBlock = 0
  /** Where the state machine stands, and the state that callers feel (the same unless forced). */
  private phase: Phase = State.CLOSED
  private felt: State = State.CLOSED
  private forced = FORCED_NONE
  /** Every call passes: all that the check of a closed breaker looks at. */
  private passing = true
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

  // OPEN, HALF_OPEN and RECOVERING.
  private readonly cooldown = new Cooldown()
  private halfOpenAt = Number.NaN
  private closedAt = Number.NaN
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
    this.endRecovery(now)
    this.adopt(rule, now)
    this.cooldown.follow(rule)
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
    this.decidePassing()
  }

  // ---- the four verbs ----

  advance(moment: Moment): void {
    if (this.phase === State.CLOSED) {
      if (this.watches && this.starts !== null && moment.now >= this.starts.due) this.foldRunning(moment, this.starts)
    } else if (this.phase === State.HALF_OPEN) this.watchHalfOpen(moment.now)
    else if (this.phase === RECOVERING) this.watchRecovery(moment)
  }

  check(moment: Moment, _count: number): number {
    if (this.passing) return 0
    return this.admits(moment, this.host.offered) ? 0 : BlockCode.DEGRADE
  }

  take(moment: Moment, permit: Permit): boolean {
    if (this.phase === State.CLOSED) {
      if (this.watches && this.starts?.begin(moment.now) === false) this.restartBehind(moment.now, permit.seq)
    } else if (this.phase === RECOVERING) this.takeRecovering(moment, permit)
    else this.takeNotClosed(moment, permit)
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
    if (this.phase !== State.CLOSED && this.phase !== RECOVERING) {
      return this.settleNotClosed(moment.now, permit, outcome, bad, flags)
    }
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

  /**
   * Cooldown left, time until a half-open breaker has room again, or until a recovering one lets more calls in; unknown while forced or if
   * a probe may hang for ever.
   */
  waitMs(now: number): number | undefined {
    if (this.forced !== FORCED_NONE) return undefined
    const until = this.waitsUntil(now)
    return Number.isFinite(until) ? Math.max(0, until - now) : undefined
  }

  private waitsUntil(now: number): number {
    if (this.phase === State.OPEN) return this.cooldown.endsAt()
    if (this.phase === State.HALF_OPEN && this.probes.size > 0) {
      const takeoverAt = this.probes.oldestStart() + this.probeTimeout()
      const endsAt = this.halfOpenAt + this.maxHalfOpenMs()
      if (takeoverAt < endsAt) return takeoverAt
      return this.rule.afterHalfOpen === 'closed' ? endsAt : endsAt + this.cooldown.longestMs(this.rule)
    }
    const tenths = this.tenthsAt(now)
    return tenths < 10 ? this.closedAt + nextStepMs(tenths, this.rule.recoveryMs) : Number.POSITIVE_INFINITY
  }

  // ---- closed ----

  private record(moment: Moment, bad: 0 | 1): void {
    if (this.kind === CONSECUTIVE) {
      this.streak = bad === 0 ? 0 : this.streak + 1
      if (bad !== 0 && this.reaches(this.streak))
        this.open(moment.now, moment.now, 'threshold', this.streak, this.streak)
      return
    }
    this.window.add(moment.now, bad)
    if (this.window.bad !== 0 && this.window.total >= this.minimum) this.judge(moment)
  }

  private judge(moment: Moment): void {
    const { bad, total } = this.window
    // By division: `bad >= threshold * total` misses exact ties such as 7 of 25 against 0.28.
    const value = this.kind === ERROR_COUNT ? bad : bad / total
    if (this.reaches(value)) this.open(moment.now, moment.now, 'threshold', value, total)
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

  // ---- recovering ----

  /** How many of ten calls pass now. 10 unless recovering. */
  private tenthsAt(now: number): number {
    return this.phase === RECOVERING ? tenthsAt(now - this.closedAt, this.rule.recoveryMs) : 10
  }

  private watchRecovery(moment: Moment): void {
    // A clock that stepped back does not hold traffic up for longer than a recovery lasts.
    if (moment.now < this.closedAt) this.closedAt = moment.now
    this.endRecovery(moment.now)
    if (this.watches && this.starts !== null) this.foldRunning(moment, this.starts)
  }

  private endRecovery(now: number): void {
    if (this.phase !== RECOVERING || now - this.closedAt < this.rule.recoveryMs) return
    this.phase = State.CLOSED
    this.decidePassing()
  }

  private takeRecovering(moment: Moment, permit: Permit): void {
    const { now } = moment
    // The call that is being taken has been counted as offered already.
    if (this.dryRun && !this.admits(moment, this.host.offered - 1)) {
      this.wouldBlock++
      permit.flags |= Flag.WOULD_BLOCK
      this.passedOver ??= new Set()
      this.passedOver.add(permit.seq)
    } else if (this.watches && this.starts?.begin(now) === false) this.restartBehind(now, permit.seq)
  }

  // ---- open and half-open ----

  /** May a call pass, before which so many were offered? */
  private admits({ now }: Moment, offered: number): boolean {
    if (this.forced !== FORCED_NONE) return this.forced === FORCED_CLOSED
    if (this.phase === State.OPEN) return this.cooldown.isOver(now)
    if (this.phase === State.HALF_OPEN) return this.probes.size < this.rule.probeCount
    return isLetIn(offered, this.tenthsAt(now))
  }

  holdsProbe(seqs: readonly number[]): boolean {
    return this.phase === State.HALF_OPEN && this.forced !== FORCED_OPEN && this.probes.hasAny(seqs)
  }

  private takeNotClosed(moment: Moment, permit: Permit): void {
    if (this.forced === FORCED_CLOSED || (permit.parents !== null && this.holdsProbe(permit.parents))) {
      this.passOver(permit)
    } else if (this.admits(moment, 0)) {
      const { now } = moment
      if (this.phase === State.OPEN) {
        this.halfOpenAt = now
        this.change(State.HALF_OPEN, 'cooldown-elapsed', undefined, 0, now)
      }
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
    if (this.phase === State.OPEN) return flags
    const wasProbe = this.probes.remove(permit.seq)
    if (wasProbe) this.host.probesOut--
    if (outcome === Outcome.IGNORED || !(wasProbe || this.late)) return flags
    if (bad === 1) this.reopen(now, this.kind === SLOW_RATIO ? 'probe-slow' : 'probe-failed')
    else if (++this.successes >= this.rule.successThreshold) this.close(now, 'probe-succeeded')
    return flags
  }

  /**
   * A slow probe past its limit is bad before it ends. Else a breaker that has been half-open for too long is so no more; and a probe that
   * holds its slot too long makes room for the next.
   */
  private watchHalfOpen(now: number): void {
    const ran = this.probes.size === 0 ? Number.NEGATIVE_INFINITY : now - this.probes.oldestStart()
    if (this.watches && ran > this.limitMs) this.reopen(now, 'probe-slow')
    else if (now - this.halfOpenAt >= this.maxHalfOpenMs()) this.endHalfOpen(now)
    else if (ran >= this.probeTimeout()) {
      this.dropProbes()
      this.takeovers++
    }
  }

  private maxHalfOpenMs(): number {
    return this.rule.maxHalfOpenMs ?? Number.POSITIVE_INFINITY
  }

  /**
   * No verdict in time. The cooldown counts from when the time was over, as if a timer had gone off: counted from now, a caller who comes
   * once an hour would be refused every second time.
   */
  private endHalfOpen(now: number): void {
    const reason = 'half-open-timeout'
    if (this.rule.afterHalfOpen === 'closed') this.close(now, reason)
    else this.open(now, this.halfOpenAt + this.maxHalfOpenMs(), reason, undefined, this.successes)
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

  private open(
    now: number,
    openedAt: number,
    reason: StateChangeReason,
    value: number | undefined,
    total: number,
  ): void {
    this.cooldown.begin(openedAt, this.rule, () => this.host.random())
    this.dropProbes()
    this.successes = 0
    this.streak = 0
    this.change(State.OPEN, reason, value, total, now)
  }

  /** One bad probe of one. */
  private reopen(now: number, reason: StateChangeReason): void {
    this.cooldown.grow()
    this.open(now, now, reason, 1, 1)
  }

  private close(now: number, reason: StateChangeReason): void {
    const { successes } = this
    this.clearState(now)
    this.window.clear(now)
    this.closedAt = now
    this.change(this.rule.recoveryMs > 0 ? RECOVERING : State.CLOSED, reason, undefined, successes, now)
  }

  /** Everything of earlier eras but the window's counts. */
  private clearState(now: number): void {
    this.dropProbes()
    this.since = (this.host.seq + 1) | 0
    this.streak = 0
    this.cooldown.growth = 0
    this.successes = 0
    this.takeovers = 0
    if (this.watches) this.restartStarts(now, this.since)
    else this.starts = null
  }

  private change(to: Phase, reason: StateChangeReason, value: number | undefined, total: number, now: number): void {
    this.phase = to
    this.feel(reason, value, total, now)
  }

  private feel(reason: StateChangeReason, value: number | undefined, total: number, now: number): void {
    const from = this.felt
    this.felt = this.forced === FORCED_NONE ? this.stored() : this.forced === FORCED_OPEN ? State.OPEN : State.CLOSED
    this.decidePassing()
    if (from !== this.felt) this.host.changed(this.rule, from, this.felt, reason, value, total, now)
  }

  /** The state that is told. */
  private stored(): State {
    return this.phase === RECOVERING ? State.CLOSED : this.phase
  }

  private decidePassing(): void {
    const open = this.felt === State.CLOSED && (this.phase !== RECOVERING || this.forced !== FORCED_NONE)
    this.passing = open || this.dryRun
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
    const state = this.stored()
    if (reason === 'removed') this.forced = FORCED_NONE
    this.dropProbes()
    this.change(State.CLOSED, reason, undefined, 0, now)
    return state
  }

  /** Closed, with all traffic back: nothing but counts is lost with it. */
  isAtRest(now: number): boolean {
    return this.stored() === State.CLOSED && this.tenthsAt(now) === 10
  }

  // ---- from one process to the next ----

  /** What a later process needs to go on from here, as plain JSON; `undefined` if there is nothing to keep. Changes nothing. */
  saved(now: number): SavedBreaker | undefined {
    const state = this.savedState(now)
    return state === undefined ? undefined : { ...identityOf(this.rule), ...state }
  }

  private savedState(now: number): SavedPhase | undefined {
    const { takeovers, successes } = this
    const { openedAt, growth, jitter } = this.cooldown
    if (this.phase === State.OPEN) return { state: 'open', openedAt, jitter, growth, takeovers }
    if (this.phase === State.HALF_OPEN) {
      return { state: 'half-open', halfOpenAt: this.halfOpenAt, successes, growth, takeovers }
    }
    const recovers = this.tenthsAt(now) < 10
    if (!recovers && this.streak === 0 && this.window.totalAt(now) === 0) return undefined
    return {
      state: 'closed',
      ...(recovers ? { closedAt: this.closedAt } : {}),
      ...(this.kind === CONSECUTIVE
        ? { streak: this.streak }
        : this.window instanceof CountWindow
          ? { calls: this.window.saved() }
          : { window: this.window.saved(now) }),
    }
  }

  /**
   * Goes on from where a breaker of the same shape was saved; only for a breaker that has just been made. `saved` must be free of faults
   * (`checkSavedBreaker`). A time in the future is taken as `now`; cooldown and recovery follow the rule in force.
   */
  restore(saved: SavedPhase, now: number): void {
    if (saved.state === 'closed') {
      this.streak = saved.streak ?? 0
      if (this.window instanceof CountWindow) this.window.restore(saved.calls ?? [], now)
      else this.window.restore(saved.window ?? [], now)
      this.closedAt = Math.min(saved.closedAt ?? Number.NEGATIVE_INFINITY, now)
      this.change(now - this.closedAt < this.rule.recoveryMs ? RECOVERING : State.CLOSED, 'restored', undefined, 0, now)
      return
    }
    this.takeovers = saved.takeovers
    if (saved.state === 'open') {
      this.cooldown.resume(Math.min(saved.openedAt, now), saved.growth, saved.jitter, this.rule)
      this.change(State.OPEN, 'restored', undefined, 0, now)
    } else {
      this.cooldown.growth = saved.growth
      this.halfOpenAt = Math.min(saved.halfOpenAt, now)
      this.successes = saved.successes
      this.change(State.HALF_OPEN, 'restored', undefined, 0, now)
    }
  }

  /** What can be read of the breaker at `now`. Changes nothing. */
  snapshot(now: number): BreakerSnapshot {
    const consecutive = this.kind === CONSECUTIVE
    const isOpen = this.felt === State.OPEN && this.forced === FORCED_NONE
    return {
      state: this.felt,
      openedAt: isOpen ? this.cooldown.openedAt : undefined,
      retryAfterMs: this.waitMs(now),
      total: consecutive ? this.streak : this.window.totalAt(now),
      bad: consecutive ? this.streak : this.window.badAt(now),
      probesOut: this.probes.size,
      admittedShare: this.forced === FORCED_NONE ? this.tenthsAt(now) / 10 : 1,
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
  /** Share of calls that are let in while recovering: 0.1 to 1; else 1. */
  admittedShare: number
  wouldBlock: number
  forced: 'open' | 'closed' | undefined
}

function windowOf({ statCallCount, statIntervalMs = 1, bucketCount = 1 }: DegradeRule): CountingWindow | CountWindow {
  return statCallCount === undefined ? new CountingWindow(statIntervalMs, bucketCount) : new CountWindow(statCallCount)
}
