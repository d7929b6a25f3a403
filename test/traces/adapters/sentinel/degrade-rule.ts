// Sentinel's degrade rules in this library's words, every option that makes the decisions Sentinel's.
import type { DegradeRuleInput } from 'leapguard'

/** Sentinel's fields. `timeWindow` is in seconds. */
export interface SentinelDegradeRule {
  readonly resource: string
  readonly limitApp: string
  /** 0 slow request ratio, 1 error ratio, 2 error count. */
  readonly grade: number
  /** Slow limit in ms (grade 0), ratio (grade 1) or number of errors (grade 2). */
  readonly count: number
  readonly timeWindow: number
  readonly minRequestAmount: number
  /** Grade 0 only. */
  readonly slowRatioThreshold: number
  readonly statIntervalMs: number
}

/** The rules of one resource, in their order. */
export function toDegradeRules(rules: readonly SentinelDegradeRule[]): DegradeRuleInput[] {
  const seen = new Map<string, number>()
  return rules.map((rule) => {
    const remainder = remainderOf(rule)
    const nth = (seen.get(remainder) ?? 0) + 1
    seen.set(remainder, nth)
    return { ...translate(rule), id: `${remainder}#${nth}` }
  })
}

function translate(rule: SentinelDegradeRule): DegradeRuleInput {
  return {
    resource: rule.resource,
    ...measureOf(rule),
    comparison: 'above',
    statIntervalMs: rule.statIntervalMs,
    bucketCount: 1,
    minRequestAmount: rule.minRequestAmount,
    cooldownMs: rule.timeWindow * 1000,
    probeTimeoutMs: null,
    countRunning: false,
    lateResults: 'at-arrival',
  }
}

function measureOf(rule: SentinelDegradeRule): Pick<DegradeRuleInput, 'strategy' | 'threshold' | 'maxAllowedRtMs'> {
  const { grade, count, slowRatioThreshold } = rule
  switch (grade) {
    case 0:
      return { strategy: 'slow-call-ratio', threshold: slowRatioThreshold, maxAllowedRtMs: slowLimitMs(count) }
    case 1:
      return { strategy: 'error-ratio', threshold: count }
    case 2:
      return { strategy: 'error-count', threshold: count }
    default:
      throw new Error(`no degrade rule has grade ${grade}`)
  }
}

/**
 * What a translated rule does not show: the field its grade ignores, and what rounding took from the slow limit. Sentinel starts a
 * breaker anew when any field changes, so this goes into the id; changes of all other fields are left to `onRuleChange: 'restart'`.
 */
function remainderOf({ limitApp, grade, count, slowRatioThreshold }: SentinelDegradeRule): string {
  return `${limitApp}/${grade === 0 ? count - slowLimitMs(count) : slowRatioThreshold}`
}

function slowLimitMs(count: number): number {
  return Math.floor(count + 0.5)
}
