// Random times, rules and schedules, shared by the property tests. Small numbers on purpose: edges meet more often.
import fc from 'fast-check'
import { startBucketMs } from './model-breaker.js'
import type { Grip, RuleDraft, Twin } from './model-guard.js'

/** Where a clock may stand: at zero, before it, today, and around the edges of 31 and 32 bits. */
export const anyStart: fc.Arbitrary<number> = fc.oneof(
  fc.constantFrom(0, 0, 1.7e12, -1_000_003, -7, 2 ** 31 - 100, 2 ** 32 - 100, -(2 ** 31) - 50, 2 ** 31 * 1000 - 40),
  fc.integer({ min: -5000, max: 5000 }),
)

/** Whole and quarter milliseconds; quarters add and subtract without rounding. */
export const shortWait: fc.Arbitrary<number> = fc.oneof(
  fc.integer({ min: 0, max: 40 }),
  fc.integer({ min: 0, max: 400 }).map((quarters) => quarters / 4),
)

/** Idle gaps up to a hundred days, past every power of two on the way. */
export const longWait: fc.Arbitrary<number> = fc.oneof(
  fc.constantFrom(2 ** 30, 2 ** 31, 2 ** 32, 2 ** 31 - 1, 2 ** 32 + 1, 2 ** 33),
  fc.integer({ min: 0, max: 100_000 }),
)

export type Strategy = RuleDraft['strategy']

const thresholdOf = (strategy: Strategy, above: boolean): fc.Arbitrary<number> => {
  const zero = above ? [0] : []
  if (strategy === 'consecutive-errors') return fc.constantFrom(1, 2, 3, 4, ...zero)
  if (strategy === 'error-count') return fc.constantFrom(1, 2, 3, 1.5, 2.25, ...zero)
  return fc.oneof(
    fc.constantFrom(1, 0.5, 1 / 3, 0.3, 0.6, 0.7, 2 / 3, ...zero),
    fc.double({ min: 0.01, max: 1, noNaN: true }),
  )
}

interface Numbers {
  readonly threshold: number
  readonly comparison: 'above' | 'at-or-above'
  readonly bucketMs: number
  readonly bucketCount: number
  /** How many calls it looks back over; undefined: a span of time. */
  readonly calls: number | undefined
  readonly min: number
  readonly limit: number
  readonly cooldownMs: number
  readonly multiplier: number
  readonly capFactor: number
  readonly jitter: number
  readonly probeCount: number
  readonly extraSuccesses: number
  readonly probeTimeoutMs: number | null | undefined
  readonly maxHalfOpenMs: number | null
  readonly afterHalfOpen: 'open' | 'closed'
  readonly recoveryMs: number
  readonly countRunning: boolean
  readonly atArrival: boolean
  readonly dryRun: boolean
}

const windowFrom = (strategy: Strategy, n: Numbers): Partial<RuleDraft> => {
  const span = { statIntervalMs: n.bucketMs * n.bucketCount, bucketCount: n.bucketCount }
  if (strategy === 'consecutive-errors') return span
  if (n.calls === undefined) return { ...span, minRequestAmount: n.min }
  // A count that so few calls cannot reach would be refused.
  const least = strategy === 'error-count' ? Math.floor(n.threshold) + 1 : 1
  const statCallCount = Math.max(n.calls, least)
  return { statCallCount, minRequestAmount: Math.min(n.min, statCallCount) }
}

const ruleFrom = (strategy: Strategy, n: Numbers): RuleDraft => ({
  strategy,
  id: strategy,
  threshold: n.threshold,
  comparison: n.comparison,
  ...windowFrom(strategy, n),
  ...(strategy === 'slow-call-ratio' ? { maxAllowedRtMs: n.limit, countRunning: n.countRunning } : {}),
  cooldownMs: n.cooldownMs,
  cooldownMultiplier: n.multiplier,
  maxCooldownMs: n.cooldownMs * n.capFactor,
  cooldownJitter: n.jitter,
  probeCount: n.probeCount,
  successThreshold: n.probeCount + n.extraSuccesses,
  ...(n.probeTimeoutMs === undefined ? {} : { probeTimeoutMs: n.probeTimeoutMs }),
  maxHalfOpenMs: n.maxHalfOpenMs,
  afterHalfOpen: n.afterHalfOpen,
  recoveryMs: n.recoveryMs,
  lateResults: n.atArrival ? 'at-arrival' : 'ignore',
  dryRun: n.dryRun,
})

/** A rule of the strategy with every option random. */
export const anyRule = (strategy: Strategy): fc.Arbitrary<RuleDraft> =>
  fc.constantFrom<('above' | 'at-or-above')[]>('above', 'at-or-above').chain((comparison) =>
    fc
      .record<Numbers>({
        threshold: thresholdOf(strategy, comparison === 'above'),
        comparison: fc.constant(comparison),
        bucketMs: fc.integer({ min: 1, max: 30 }),
        bucketCount: fc.constantFrom(1, 2, 3, 10, 20),
        calls: fc.oneof({ weight: 2, arbitrary: fc.constant(undefined) }, fc.constantFrom(1, 2, 3, 5, 10)),
        min: fc.integer({ min: 1, max: 5 }),
        limit: fc.oneof(fc.integer({ min: 0, max: 20 }), fc.integer({ min: 0, max: 120 })),
        cooldownMs: fc.integer({ min: 1, max: 60 }),
        multiplier: fc.constantFrom(1, 1, 1.5, 2, 3),
        capFactor: fc.constantFrom(1, 4, 10),
        jitter: fc.constantFrom(0, 0, 0.5, 1),
        probeCount: fc.integer({ min: 1, max: 3 }),
        extraSuccesses: fc.integer({ min: 0, max: 2 }),
        probeTimeoutMs: fc.oneof(fc.constantFrom(null, undefined), fc.integer({ min: 1, max: 90 })),
        maxHalfOpenMs: fc.oneof(fc.constant(null), fc.integer({ min: 1, max: 150 })),
        afterHalfOpen: fc.constantFrom<('open' | 'closed')[]>('open', 'closed'),
        recoveryMs: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 200 })),
        countRunning: fc.boolean(),
        atArrival: fc.boolean(),
        dryRun: fc.integer({ min: 0, max: 5 }).map((n) => n === 0),
      })
      .map((numbers) => ruleFrom(strategy, numbers)),
  )

export type Move =
  | { readonly kind: 'enter'; readonly grip: Grip; readonly times: number }
  | { readonly kind: 'end'; readonly pick: number; readonly outcome: 'success' | 'failure' | 'ignored' }
  | { readonly kind: 'burst'; readonly times: number; readonly ms: number; readonly outcome: 'success' | 'failure' }
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'wait for'; readonly what: Landmark; readonly plus: number }
  | { readonly kind: 'end again'; readonly pick: number; readonly outcome: 'success' | 'failure' | 'ignored' }

export const LANDMARKS = [
  'bucket',
  'window',
  'cooldown',
  'limit',
  'start bucket',
  'probe timeout',
  'half-open',
  'recovery',
  'long',
] as const
type Landmark = (typeof LANDMARKS)[number]

const anyOutcome = fc.constantFrom<('success' | 'failure' | 'ignored')[]>('success', 'failure', 'failure', 'ignored')

export const anyMove: fc.Arbitrary<Move> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('enter' as const),
      grip: fc.constantFrom<Grip[]>('handle', 'permit'),
      times: fc.constantFrom(1, 1, 1, 2, 4),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('end' as const), pick: fc.nat(9), outcome: anyOutcome }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('burst' as const),
      times: fc.integer({ min: 1, max: 5 }),
      ms: fc.nat(30),
      outcome: fc.constantFrom<('success' | 'failure')[]>('success', 'failure'),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: shortWait }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('wait for' as const),
      what: fc.constantFrom<Landmark[]>(...LANDMARKS),
      plus: fc.constantFrom(-1, 0, 0, 0.25, 1),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('end again' as const), pick: fc.nat(9), outcome: anyOutcome }),
  },
)

export const landmarkMs = (what: Landmark, rule: RuleDraft): number => {
  const interval = rule.statIntervalMs ?? 10_000
  const limit = rule.maxAllowedRtMs ?? 0
  if (what === 'bucket') return interval / (rule.bucketCount ?? 10)
  if (what === 'window') return interval
  if (what === 'cooldown') return rule.cooldownMs ?? 10_000
  if (what === 'limit') return limit
  if (what === 'start bucket') return limit + startBucketMs(limit)
  if (what === 'probe timeout') return rule.probeTimeoutMs ?? 10
  if (what === 'half-open') return rule.maxHalfOpenMs ?? 10
  if (what === 'recovery') return (rule.recoveryMs ?? 0) / 10
  return 2 ** 31 + 1
}

/** Plays a schedule on both sides; throws after the first step at which they differ. */
export const play = (twin: Twin, moves: readonly Move[]): void => {
  const out: Exclude<ReturnType<Twin['enter']>, undefined>[] = []
  const ended: typeof out = []
  const enter = (grip: Grip): void => {
    const call = twin.enter(grip)
    if (call !== undefined) out.push(call)
    twin.agree('entry')
  }
  const end = (pick: number, outcome: 'success' | 'failure' | 'ignored'): void => {
    const [call] = out.splice(pick % out.length, 1)
    if (call === undefined) return
    twin.end(call, outcome)
    ended.push(call)
    twin.agree(`end as ${outcome}`)
  }
  const wait = (ms: number): void => {
    twin.wait(Math.max(0, ms))
    twin.agree('wait')
  }
  for (const move of moves) {
    if (move.kind === 'enter') for (let i = 0; i < move.times; i++) enter(move.grip)
    else if (move.kind === 'end') end(move.pick, move.outcome)
    else if (move.kind === 'wait') wait(move.ms)
    else if (move.kind === 'wait for') wait(landmarkMs(move.what, twin.rules[0] as RuleDraft) + move.plus)
    else if (move.kind === 'end again') {
      const call = ended[move.pick % Math.max(1, ended.length)]
      if (call !== undefined) twin.end(call, move.outcome)
      twin.agree('a second end')
    } else {
      const before = out.length
      for (let i = 0; i < move.times; i++) enter('permit')
      wait(move.ms)
      while (out.length > before) end(before, move.outcome)
    }
  }
  while (out.length > 0) end(0, 'ignored')
}
