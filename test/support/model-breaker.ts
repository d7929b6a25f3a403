// A breaker written down from the requirements: plain lists, no ring, no sequence arithmetic.
// The library is compared with it step by step, so nothing here may be taken from the library's own code.
import type { DegradeRuleInput } from '../../rules/degrade/rule.js'
import { NaiveLast, NaiveWindow } from './model-window.js'

export type ModelState = 'closed' | 'open' | 'half-open'
export type ModelOutcome = 'success' | 'failure' | 'ignored'

export interface ModelCall {
  readonly seq: number
  readonly start: number
}

const LONGEST = 2 ** 30

/** What the guard under test is given for chance. */
export const CHANCE = 0.5

/** Which of ten calls pass at a share of one tenth, which come in at two tenths, and so on: numbers of calls offered, modulo ten. */
const LET_IN = [9, 4, 7, 2, 0, 5, 8, 3, 6, 1]

export const startBucketMs = (maxAllowedRtMs: number): number => Math.max(1, Math.floor(maxAllowedRtMs / 8))

const defaultBucketCount = (statIntervalMs: number): number => {
  if (statIntervalMs % 10 === 0) return 10
  let count = 20
  while (statIntervalMs % count !== 0) count -= 1
  return count
}

/** Options with their defaults filled in. */
export class ModelRule {
  readonly slow: boolean
  readonly threshold: number
  readonly above: boolean
  readonly limit: number
  readonly statIntervalMs: number
  readonly bucketCount: number
  readonly statCallCount: number | undefined
  readonly min: number
  readonly cooldownMs: number
  readonly multiplier: number
  readonly maxCooldownMs: number
  readonly jitter: number
  readonly probeCount: number
  readonly successThreshold: number
  readonly probeTimeoutMs: number | null
  readonly maxHalfOpenMs: number
  readonly afterHalfOpen: 'open' | 'closed'
  readonly recoveryMs: number
  readonly countRunning: boolean
  readonly atArrival: boolean
  readonly dryRun: boolean

  constructor(readonly input: DegradeRuleInput) {
    const { strategy } = input
    this.slow = strategy === 'slow-call-ratio'
    this.threshold = input.threshold
    this.above = input.comparison === 'above'
    this.limit = input.maxAllowedRtMs ?? Number.POSITIVE_INFINITY
    this.statIntervalMs = input.statIntervalMs ?? 10_000
    this.bucketCount = input.bucketCount ?? defaultBucketCount(this.statIntervalMs)
    this.statCallCount = input.statCallCount
    const usual = strategy === 'slow-call-ratio' || strategy === 'error-ratio' ? 20 : 1
    this.min = input.minRequestAmount ?? Math.min(usual, input.statCallCount ?? usual)
    this.cooldownMs = input.cooldownMs ?? 10_000
    this.multiplier = input.cooldownMultiplier ?? 1
    this.maxCooldownMs = input.maxCooldownMs ?? LONGEST
    this.jitter = input.cooldownJitter ?? 0
    this.probeCount = input.probeCount ?? 1
    this.successThreshold = input.successThreshold ?? this.probeCount
    const shortest = this.slow ? this.limit + startBucketMs(this.limit) : 0
    this.probeTimeoutMs =
      input.probeTimeoutMs === undefined ? Math.max(this.cooldownMs, shortest) : input.probeTimeoutMs
    this.maxHalfOpenMs = input.maxHalfOpenMs ?? Number.POSITIVE_INFINITY
    this.afterHalfOpen = input.afterHalfOpen ?? 'open'
    this.recoveryMs = input.recoveryMs ?? 0
    this.countRunning = this.slow && (input.countRunning ?? true)
    this.atArrival = input.lateResults === 'at-arrival'
    this.dryRun = input.dryRun ?? false
  }

  /** What its window looks like; another shape means another window. */
  get shape(): string {
    const { input, statIntervalMs, bucketCount, statCallCount, limit } = this
    return JSON.stringify([input.strategy, statCallCount ?? [statIntervalMs, bucketCount], limit])
  }

  equals(other: ModelRule): boolean {
    return JSON.stringify({ ...this, input: 0 }) === JSON.stringify({ ...other, input: 0 })
  }
}

export class BreakerModel {
  state: ModelState = 'closed'
  openedAt = 0
  probes: ModelCall[] = []
  rule: ModelRule
  readonly #window: NaiveWindow | NaiveLast
  #inARow = 0
  #successes = 0
  #halfOpenAt = 0
  /** When traffic began to come back; `undefined` if nothing holds it up. */
  #backSince: number | undefined
  /** Bad probes and probe takeovers since it was last closed; the jitter drawn when it opened. */
  #reopenings = 0
  #takeovers = 0
  #drawn = 0
  /** Calls of the present closed era that have neither ended nor been booked while running. */
  #running = new Set<ModelCall>()
  #bookedRunning = new Set<ModelCall>()
  #fedNothing = new Set<ModelCall>()
  /** Did it judge late results at any time since it was last closed? */
  #judgedLate: boolean
  /** First call that belongs to the present closed era. */
  #since: number

  constructor(
    input: DegradeRuleInput,
    /** Number of the last admitted call. */
    private readonly lastSeq: () => number,
    /** How many calls were offered before the one that is asked about. */
    private readonly offered: () => number = () => 0,
  ) {
    this.rule = new ModelRule(input)
    this.#since = lastSeq() + 1
    this.#judgedLate = this.rule.atArrival
    const { statCallCount, statIntervalMs, bucketCount } = this.rule
    this.#window =
      statCallCount === undefined ? new NaiveWindow(statIntervalMs, bucketCount) : new NaiveLast(statCallCount)
  }

  /** Facts that time alone decides, noticed at an entry. */
  advance(now: number): void {
    const { rule } = this
    if (this.state === 'closed' && rule.countRunning) {
      const length = startBucketMs(rule.limit)
      const due = [...this.#running].filter(
        (call) => (Math.floor(call.start / length) + 1) * length + rule.limit <= now,
      )
      for (const call of due) {
        this.#running.delete(call)
        this.#bookedRunning.add(call)
        this.#window.book(now, 1, 1)
      }
      if (due.length > 0) this.#judge(now)
    } else if (this.state === 'half-open') {
      const oldest = this.probes[0]
      if (oldest !== undefined && rule.countRunning && now - oldest.start > rule.limit) this.#reopen(now)
      else if (now - this.#halfOpenAt >= rule.maxHalfOpenMs) {
        if (rule.afterHalfOpen === 'closed') this.close(now)
        else this.#open(this.#halfOpenAt + rule.maxHalfOpenMs)
      } else if (oldest !== undefined && now - oldest.start >= this.#probeTimeout()) {
        this.probes = []
        this.#takeovers += 1
      }
    }
  }

  passes(now: number): boolean {
    if (this.state === 'closed') return LET_IN.slice(0, this.share(now) * 10).includes(this.offered() % 10)
    if (this.state === 'open') return now - this.openedAt >= this.#cooldown()
    return this.probes.length < this.rule.probeCount
  }

  /** Share of calls that pass while closed. */
  share(now: number): number {
    if (this.state !== 'closed' || this.#backSince === undefined) return 1
    const { recoveryMs } = this.rule
    const elapsed = now - this.#backSince
    if (elapsed >= recoveryMs) return 1
    let tenths = 1
    while (tenths < 10 && elapsed * 10 >= tenths * recoveryMs) tenths += 1
    return tenths / 10
  }

  /** @param overruled the operator lets everything pass. */
  take(now: number, call: ModelCall, overruled = false): void {
    if (!overruled && !this.passes(now)) {
      this.feedNothing(call)
      // While traffic comes back it is of the present era, and must be told from its calls.
      if (this.state === 'closed') this.#fedNothing.add(call)
      return
    }
    if (this.state === 'closed') {
      this.#running.add(call)
      return
    }
    if (this.state === 'open') {
      this.state = 'half-open'
      this.#halfOpenAt = now
      this.#successes = 0
      this.probes = []
    }
    this.probes.push(call)
  }

  /** Is one of these calls a probe that is out? */
  isAround(calls: readonly ModelCall[]): boolean {
    return this.state === 'half-open' && calls.some((call) => this.probes.includes(call))
  }

  /** The call passed although this breaker would have refused it, or without being asked. Whoever judges late results must know. */
  feedNothing(call: ModelCall): void {
    if (this.rule.atArrival) this.#fedNothing.add(call)
  }

  settle(now: number, call: ModelCall, outcome: ModelOutcome): void {
    const { rule } = this
    const isProbe = this.probes.includes(call)
    const isBooked = this.#bookedRunning.has(call)
    this.probes = this.probes.filter((probe) => probe !== call)
    this.#running.delete(call)
    if (outcome === 'ignored' || this.#fedNothing.has(call)) return
    const bad = rule.slow ? now - call.start > rule.limit : outcome === 'failure'
    if (this.state === 'half-open' && (isProbe || rule.atArrival)) {
      if (bad) this.#reopen(now)
      else if (++this.#successes >= rule.successThreshold) this.close(now)
    } else if (this.state === 'closed' && (call.seq >= this.#since || rule.atArrival) && !isBooked) {
      this.#inARow = bad ? this.#inARow + 1 : 0
      this.#window.book(now, 1, bad ? 1 : 0)
      this.#judge(now)
    }
  }

  /** Closed with fresh statistics. Calls begun so far belong to an earlier era. Traffic comes back by steps from `backSince` on, if given. */
  close(backSince?: number): void {
    this.state = 'closed'
    this.#backSince = backSince
    this.#since = this.lastSeq() + 1
    this.#window.clear()
    this.#inARow = 0
    this.#reopenings = 0
    this.#takeovers = 0
    this.#judgedLate = this.rule.atArrival
    this.#forgetEra()
  }

  /** Only a closed breaker's counts decide anything; what an open one shows of late results is its own affair. */
  get countsArePromised(): boolean {
    return this.state === 'closed' || (!this.#judgedLate && this.rule.input.strategy !== 'consecutive-errors')
  }

  counts(now: number): { total: number; bad: number } {
    if (this.rule.input.strategy === 'consecutive-errors') return { total: this.#inARow, bad: this.#inARow }
    return this.#window.count(now)
  }

  /** Until a refused caller may try again; `undefined` if nobody knows. */
  waitMs(now: number): number | undefined {
    if (this.state === 'open') return Math.max(0, this.openedAt + this.#cooldown() - now)
    if (this.state === 'closed') {
      const share = this.share(now)
      if (share === 1) return undefined
      return Math.max(0, (this.#backSince ?? 0) + (Math.round(share * 10) * this.rule.recoveryMs) / 10 - now)
    }
    const oldest = this.probes[0]
    if (oldest === undefined) return undefined
    const takeover = oldest.start + this.#probeTimeout()
    const end = this.#halfOpenAt + this.rule.maxHalfOpenMs
    if (takeover < end) return Math.max(0, takeover - now)
    if (end === Number.POSITIVE_INFINITY) return undefined
    return Math.max(0, end + (this.rule.afterHalfOpen === 'open' ? this.#cooldown(this.rule.jitter) : 0) - now)
  }

  /** A reload that changes numbers only: what has happened so far stays. Only calls from now on are watched while they run. */
  change(input: DegradeRuleInput, now: number): void {
    if (this.share(now) === 1 && this.state === 'closed') this.#backSince = undefined
    const { countRunning } = this.rule
    this.rule = new ModelRule(input)
    if (!countRunning) this.#running.clear()
    this.#judgedLate ||= this.rule.atArrival
  }

  #judge(now: number): void {
    const { rule } = this
    const { total, bad } = this.counts(now)
    const { strategy } = rule.input
    if (strategy !== 'consecutive-errors' && total < rule.min) return
    const value = strategy === 'error-ratio' || strategy === 'slow-call-ratio' ? bad / total : bad
    const reached =
      rule.above && !(rule.slow && rule.threshold === 1) ? value > rule.threshold : value >= rule.threshold
    if (reached) this.#open(now)
  }

  #open(now: number): void {
    this.state = 'open'
    this.openedAt = now
    this.#drawn = this.rule.jitter * CHANCE
    this.#forgetEra()
  }

  #reopen(now: number): void {
    this.#reopenings += 1
    this.#open(now)
  }

  #cooldown(drawn = this.#drawn): number {
    let length = this.rule.cooldownMs
    for (let i = 0; i < this.#reopenings; i++) length = Math.min(length * this.rule.multiplier, this.rule.maxCooldownMs)
    return Math.min(Math.ceil(length * (1 + drawn)), this.rule.maxCooldownMs)
  }

  #probeTimeout(): number {
    const { probeTimeoutMs } = this.rule
    return probeTimeoutMs === null ? Number.POSITIVE_INFINITY : Math.min(probeTimeoutMs * 2 ** this.#takeovers, LONGEST)
  }

  #forgetEra(): void {
    this.probes = []
    this.#running.clear()
    this.#bookedRunning.clear()
  }
}
