// The conductor: leads upstream and client through the phases and keeps the record. Real time, real sockets.
import { setTimeout as sleep } from 'node:timers/promises'
import type { DegradeRule, Guard, StateChangeEvent, StateName } from 'leapguard'
import { Client, type Felt } from './client.js'
import { Pacer } from './pacer.js'
import { catches, type Health, type Phase, type Plan } from './phases.js'
import { RESOURCE } from './rules-file.js'
import type { BadPhase, Report } from './summary.js'
import type { Row } from './timeline.js'
import { Upstream } from './upstream.js'
import { describeChange, Watch } from './watch.js'

export interface RunOptions {
  /** Its rules are loaded already. */
  guard: Guard
  rules: readonly DegradeRule[]
  plan: Plan
  /** Ends the run early and cleanly. */
  stop: AbortSignal
  onStart?: (url: string) => void
  onRow?: (row: Row) => void
  /** Every few milliseconds. */
  onTick?: (doneMs: number, health: Health, state: StateName) => void
}

const TICK_MS = 4
/** Spare slices kept for phases without which there is no verdict. */
const RESERVED_SLICES = 3

export async function run(options: RunOptions): Promise<Report> {
  const upstream = await Upstream.start(options.plan.slowMs)
  const conductor = new Conductor(options, upstream)
  try {
    options.onStart?.(upstream.url)
    await conductor.play()
  } finally {
    await conductor.clear()
  }
  return conductor.report
}

class Conductor {
  readonly report: Report
  readonly #o: RunOptions
  readonly #upstream: Upstream
  readonly #client: Client
  readonly #watch: Watch
  #pacer: Pacer
  readonly #unsubscribe: () => void
  #startedAt = 0
  #sliceEnd = 0
  #phaseStartedAt = 0
  #spare: number
  /** The bad phase that runs, or whose recovery is being watched. */
  #bad: BadPhase | undefined
  #before = { passed: 0, blocked: 0, failed: 0 }

  constructor(options: RunOptions, upstream: Upstream) {
    const { guard, plan, rules } = options
    this.#o = options
    this.#upstream = upstream
    this.#client = new Client({ guard, url: upstream.url, cacheMs: plan.cacheMs, slowLimitMs: plan.slowLimitMs, now })
    this.#watch = new Watch(rules)
    this.#pacer = new Pacer(plan.callsPerSecond, 0)
    this.#spare = plan.spareSlices
    this.report = {
      interrupted: false,
      elapsedMs: 0,
      badPhases: [],
      calls: 0,
      fromUpstream: 0,
      fromCache: 0,
      fromDefault: 0,
      aborted: 0,
      heldBack: 0,
      unanswered: 0,
      falseAlarms: 0,
      leftRunning: 0,
      leftConnections: 0,
    }
    this.#unsubscribe = guard.on('state', (change) => {
      if (change.resource === RESOURCE && this.#watch.see(change)) this.#noteState(change)
    })
  }

  async play(): Promise<void> {
    await this.#client.warmUp()
    this.#startedAt = this.#sliceEnd = now()
    this.#pacer = new Pacer(this.#o.plan.callsPerSecond, this.#startedAt)
    try {
      for (const phase of this.#o.plan.phases) await this.#playPhase(phase)
      for (let i = 0; i < 50 && this.#client.inFlight > 0; i++) await this.#sleep(10)
    } catch (error) {
      if (!this.#o.stop.aborted) throw error
      this.report.interrupted = true
    }
    this.report.elapsedMs = now() - this.#startedAt
  }

  /** Nothing stays behind: no call, no socket, no listener. What does is in the report. */
  async clear(): Promise<void> {
    await this.#client.abortAll('the demo is over')
    this.#addUp(this.#client.takeFelt())
    this.#unsubscribe()
    await this.#upstream.close()
    this.report.leftConnections = await this.#upstream.connections()
    this.report.leftRunning = this.#o.guard.stats(RESOURCE).totals.running
  }

  async #playPhase(phase: Phase): Promise<void> {
    const isLast = phase === this.#o.plan.phases.at(-1)
    this.#begin(phase.health)
    for (let slice = 0; slice < phase.slices || this.#maySpare(phase.health, isLast); slice++) {
      await this.#playSlice(phase.health)
    }
    this.#end(phase.health)
  }

  #begin(health: Health): void {
    this.#upstream.health = health
    this.#phaseStartedAt = now()
    if (health !== 'healthy') {
      this.#bad = {
        health,
        wasOpen: this.#watch.state === 'open',
        openedAfterMs: undefined,
        openedBy: undefined,
        spared: this.#o.guard.stats(RESOURCE).totals.blocked,
        reached: this.#upstream.received,
        ended: false,
        recoveryWatched: false,
        recoveredAfterMs: undefined,
        unclosed: [],
      }
      this.report.badPhases.push(this.#bad)
    } else if (this.#bad !== undefined && this.#watch.state === 'closed') {
      this.#bad.recoveredAfterMs = 0
    }
  }

  #end(health: Health): void {
    const bad = this.#bad
    if (bad === undefined) return
    if (health === 'healthy') {
      bad.recoveryWatched = true
      bad.unclosed = bad.recoveredAfterMs === undefined ? this.#watch.unclosed() : []
      this.#bad = undefined
      return
    }
    bad.ended = true
    bad.spared = this.#o.guard.stats(RESOURCE).totals.blocked - bad.spared
    bad.reached = this.#upstream.received - bad.reached
    if (health === 'hung') void this.#client.abortAll('the hung phase is over')
  }

  /** What a phase is there to show has not been seen yet, and there is time to spare. */
  #maySpare(health: Health, isLast: boolean): boolean {
    const bad = this.#bad
    const isHopeless = !this.#o.rules.some((rule) => catches(rule, health))
    const opened = bad?.openedAfterMs !== undefined || bad?.wasOpen === true || isHopeless
    const recovered = bad === undefined || bad.recoveredAfterMs !== undefined
    // A bad phase should not begin with an open breaker, but that must not cost the time that a verdict may need.
    const ready = this.#watch.state === 'closed' || isLast || this.#spare <= RESERVED_SLICES
    const isShown = health === 'healthy' ? recovered && ready : opened
    if (isShown || this.#spare === 0) return false
    this.#spare--
    return true
  }

  #noteState(change: StateChangeEvent): void {
    if (this.#upstream.health === 'healthy' && change.reason === 'threshold') this.report.falseAlarms++
    const bad = this.#bad
    if (bad === undefined) return
    const afterMs = now() - this.#phaseStartedAt
    if (!bad.ended && this.#watch.state === 'open' && bad.openedAfterMs === undefined) {
      bad.openedAfterMs = afterMs
      bad.openedBy = describeChange(change)
    }
    if (bad.ended && this.#watch.state === 'closed') bad.recoveredAfterMs ??= afterMs
  }

  async #playSlice(health: Health): Promise<void> {
    const { sliceMs } = this.#o.plan
    // After a stall of the machine the next line starts now instead of being squeezed.
    if (now() - this.#sliceEnd > sliceMs / 2) this.#sliceEnd = now()
    this.#sliceEnd += sliceMs
    for (let at = now(); at < this.#sliceEnd; at = now()) {
      for (let due = this.#pacer.due(at); due > 0; due--) this.#client.call()
      this.#o.onTick?.(at - this.#startedAt, health, this.#watch.state)
      await this.#sleep(Math.min(TICK_MS, Math.max(1, this.#sliceEnd - at)))
    }
    this.#o.onRow?.(this.#row(health))
  }

  #row(health: Health): Row {
    const felt = this.#client.takeFelt()
    this.#addUp(felt)
    const { totals, rules } = this.#o.guard.stats(RESOURCE)
    const before = this.#before
    this.#before = totals
    const waits = rules.flatMap((rule) =>
      rule.state === 'open' && !rule.dryRun && rule.retryAfterMs !== undefined ? [rule.retryAfterMs] : [],
    )
    return {
      second: Math.round((this.#sliceEnd - this.#startedAt) / 100) / 10,
      health,
      passed: totals.passed - before.passed,
      blocked: totals.blocked - before.blocked,
      failed: totals.failed - before.failed,
      slow: this.#o.plan.slowLimitMs === undefined ? undefined : felt.slow,
      running: totals.running,
      p99Ms: felt.p99Ms,
      fromCache: felt.fromCache,
      fromDefault: felt.fromDefault,
      state: this.#watch.state,
      words: this.#watch.takeWords(waits.length === 0 ? undefined : Math.max(...waits)),
    }
  }

  #addUp(felt: Felt): void {
    for (const key of [
      'calls',
      'fromUpstream',
      'fromCache',
      'fromDefault',
      'aborted',
      'heldBack',
      'unanswered',
    ] as const) {
      this.report[key] += felt[key]
    }
  }

  #sleep(ms: number): Promise<void> {
    return sleep(ms, undefined, { signal: this.#o.stop })
  }
}

function now(): number {
  return performance.now()
}
