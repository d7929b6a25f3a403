// The plan of a run: which phases, how long, how slow is slow, how many calls a second. Pure arithmetic on the rules.
import type { DegradeRule } from 'leapguard'

export type Health = 'healthy' | 'failing' | 'slow' | 'hung'

export interface Phase {
  health: Health
  /** Length in slices; a slice is one line of the timeline. */
  slices: number
}

export interface Plan {
  phases: readonly Phase[]
  sliceMs: number
  /** Slices that phases may share to finish what they show, for a machine that is busy with other things. */
  spareSlices: number
  callsPerSecond: number
  /** How long the upstream takes to answer while it is slow. */
  slowMs: number
  /** The tightest limit among the slow-call rules. */
  slowLimitMs: number | undefined
  /** How old a cached answer may be: less than a bad phase, so that both fallback levels are seen. */
  cacheMs: number
  /** What these rules cannot show, said before the run. */
  warnings: readonly string[]
}

const ORDER: readonly Health[] = ['healthy', 'failing', 'healthy', 'slow', 'healthy', 'hung', 'healthy']
const CALLS_PER_SECOND = 250
const MAX_CALLS_PER_SECOND = 600
/** Calls that may pile up before a slow-call rule opens: the pace is lowered for rules with long windows. */
const PILE = 400

/** Phases last long enough to open, to see a probe fail, and to see the recovery, whatever the cooldown of the rules. */
export function planRun(rules: readonly DegradeRule[], sliceMs = 1000): Plan {
  const pace = callsPerSecond(rules)
  const slices = (ms: number) => Math.ceil(ms / sliceMs)
  const bad = Math.max(3, slices(longest(rules, (rule) => opensWithinMs(rule, pace) + cooldownMs(rule, 0)) + sliceMs))
  const recovery = longest(rules, (rule) => lastCooldownMs(rule, bad * sliceMs) + probesMs(rule))
  const healthy = Math.max(2, slices(recovery + sliceMs / 2))
  const limits = rules.flatMap((rule) => (rule.maxAllowedRtMs === undefined ? [] : [rule.maxAllowedRtMs]))
  return {
    phases: ORDER.map((health, i) => ({ health, slices: i === 0 ? 2 : health === 'healthy' ? healthy : bad })),
    sliceMs,
    spareSlices: 5,
    callsPerSecond: pace,
    slowMs: Math.ceil(Math.max(sliceMs / 2, 2.5 * Math.max(0, ...limits))),
    slowLimitMs: limits.length === 0 ? undefined : Math.min(...limits),
    cacheMs: Math.round((bad * sliceMs * 2) / 3),
    warnings: [...blindSpots(rules), ...starved(rules, pace)],
  }
}

export function planMs(plan: Plan): number {
  return plan.sliceMs * plan.phases.reduce((sum, phase) => sum + phase.slices, 0)
}

/** Whether this rule can open in such a phase. */
export function catches(rule: DegradeRule, health: Health): boolean {
  if (rule.dryRun || health === 'healthy') return false
  if (rule.strategy !== 'slow-call-ratio') return health === 'failing'
  return health === 'slow' || (health === 'hung' && rule.countRunning)
}

function callsPerSecond(rules: readonly DegradeRule[]): number {
  const piles = rules.filter((rule) => rule.strategy === 'slow-call-ratio').map((rule) => fillMs(rule) + lagMs(rule))
  const unhurried = Math.floor((PILE * 1000) / Math.max(1, ...piles))
  const needed = Math.ceil(longest(rules, (rule) => (1250 * callsNeeded(rule)) / windowMs(rule)))
  return Math.min(MAX_CALLS_PER_SECOND, Math.max(needed, Math.max(5, Math.min(CALLS_PER_SECOND, unhurried))))
}

/** Time for a window that is full of good calls to reach the threshold, and for the calls it needs to arrive. */
function opensWithinMs(rule: DegradeRule, pace: number): number {
  const isRatio = rule.strategy === 'slow-call-ratio' || rule.strategy === 'error-ratio'
  const share = rule.threshold * (rule.statCallCount ?? 0)
  const arrivalMs = (1000 * (isRatio ? Math.max(share, callsNeeded(rule)) : rule.threshold)) / pace
  return lagMs(rule) + Math.max(arrivalMs, isRatio ? fillMs(rule) : 0)
}

function fillMs(rule: DegradeRule): number {
  return rule.threshold * (rule.statIntervalMs ?? 0)
}

/** A window of calls lets them take their time. */
function windowMs({ statIntervalMs = Number.POSITIVE_INFINITY }: DegradeRule): number {
  return statIntervalMs
}

/** A running call is noticed as slow up to an eighth of the limit late. */
function lagMs(rule: DegradeRule): number {
  return ((rule.maxAllowedRtMs ?? 0) * 9) / 8
}

/** Calls that must meet within one window, or the rule is never judged. */
function callsNeeded(rule: DegradeRule): number {
  if (rule.strategy === 'consecutive-errors') return 0
  return rule.strategy === 'error-count'
    ? Math.max(rule.threshold, rule.minRequestAmount ?? 1)
    : (rule.minRequestAmount ?? 1)
}

/** Longest cooldown after this many failed probes. */
function cooldownMs(rule: DegradeRule, reopened: number): number {
  const grown = rule.cooldownMs * rule.cooldownMultiplier ** reopened * (1 + rule.cooldownJitter)
  return Math.min(grown, rule.maxCooldownMs)
}

/** Longest cooldown that can be running when a bad phase ends. */
function lastCooldownMs(rule: DegradeRule, badMs: number): number {
  let reopened = 0
  for (let at = cooldownMs(rule, 0); at < badMs && rule.cooldownMultiplier > 1; at += cooldownMs(rule, reopened))
    reopened++
  return cooldownMs(rule, reopened)
}

/** A probe that was sent to the bad upstream must be noticed as slow; then the good ones follow one another. */
function probesMs(rule: DegradeRule): number {
  return lagMs(rule) + 20 * rule.successThreshold
}

function blindSpots(rules: readonly DegradeRule[]): string[] {
  const blind = (['failing', 'slow', 'hung'] as const).filter((health) => !rules.some((rule) => catches(rule, health)))
  return blind.map((health) => `no rule can open in the ${health} phase, so this run will end with status 1`)
}

function starved(rules: readonly DegradeRule[], pace: number): string[] {
  const hungry = rules.filter((rule) => callsNeeded(rule) > (pace * windowMs(rule)) / 1000)
  return hungry.map((rule) => {
    const span = `${callsNeeded(rule)} calls within ${windowMs(rule)} ms`
    return `'${rule.id}' needs ${span}, more than this demo makes (${pace} a second)`
  })
}

function longest(rules: readonly DegradeRule[], ms: (rule: DegradeRule) => number): number {
  return Math.max(0, ...rules.map(ms))
}
