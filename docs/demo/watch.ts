// The breakers as the guard's 'state' events tell of them, and the words for it.
import type { DegradeRule, StateChangeEvent, StateName } from 'leapguard'

/** The part of a state event that the demo reads. */
export type Change = Pick<StateChangeEvent, 'rule' | 'from' | 'to' | 'reason' | 'value' | 'threshold' | 'total'>

export interface Words {
  long: string
  short: string
}

/** Follows all breakers of the resource that refuse calls; those of dry-run rules change nothing for the caller. */
export class Watch {
  readonly #states = new Map<string, StateName>()
  #recent: Change[] = []

  constructor(rules: readonly DegradeRule[]) {
    for (const rule of rules) if (!rule.dryRun) this.#states.set(rule.id, 'closed')
  }

  /** Returns false if the event is of no concern. */
  see(change: Change): boolean {
    if (!this.#states.has(change.rule.id)) return false
    this.#states.set(change.rule.id, change.to)
    this.#recent.push(change)
    return true
  }

  /** What a caller feels: open if any breaker is, else half-open if any is. */
  get state(): StateName {
    const states = [...this.#states.values()]
    return states.find((state) => state === 'open') ?? states.find((state) => state === 'half-open') ?? 'closed'
  }

  /** Rules whose breakers are not closed. */
  unclosed(): string[] {
    return [...this.#states].filter(([, state]) => state !== 'closed').map(([id]) => id)
  }

  /** The present state and the reason of the last change that led to it since the last time this was asked. */
  takeWords(retryAfterMs: number | undefined): Words {
    const state = this.state
    const change = this.#recent.findLast((recent) => recent.to === state)
    this.#recent = []
    const reason = change === undefined ? lasting(state, retryAfterMs) : describeChange(change)
    if (reason === undefined) return { long: state, short: state }
    return { long: `${state} (${reason.long})`, short: `${state} (${reason.short})` }
  }
}

const SHORT_NAMES: Readonly<Record<DegradeRule['strategy'], string>> = {
  'slow-call-ratio': 'slow',
  'error-ratio': 'fail',
  'error-count': 'fail',
  'consecutive-errors': 'in a row',
}

/** Why a breaker changed, e.g. `slow-call-ratio 0.83 >= 0.5 of 120 calls`. */
export function describeChange(change: Change): Words {
  switch (change.reason) {
    case 'threshold': {
      const { strategy } = change.rule
      const measured = compare(change)
      const of = strategy === 'consecutive-errors' ? '' : ` of ${change.total} calls`
      return { long: `${strategy} ${measured}${of}`, short: `${SHORT_NAMES[strategy]} ${measured}` }
    }
    case 'cooldown-elapsed':
      return { long: 'cooldown over, probing', short: 'probing' }
    case 'probe-succeeded':
      return { long: 'probe succeeded', short: 'probe ok' }
    case 'probe-failed':
      return { long: 'probe failed', short: 'probe failed' }
    case 'probe-slow':
      return { long: 'probe was slow', short: 'probe slow' }
    default:
      return { long: change.reason, short: change.reason }
  }
}

function lasting(state: StateName, retryAfterMs: number | undefined): Words | undefined {
  if (state === 'half-open') return { long: 'waiting for the probe', short: 'probing' }
  if (state === 'closed' || retryAfterMs === undefined) return undefined
  if (retryAfterMs < 50) return { long: 'next call probes', short: 'probe next' }
  const left = `${(retryAfterMs / 1000).toFixed(1)} s`
  return { long: `next probe in ${left}`, short: `${left} left` }
}

/** Ratios with as many digits as the threshold has, at least two: 0.3334 against 0.333 must not read as 0.33 >= 0.333. */
function compare({ rule, value, threshold }: Change): string {
  const sign = rule.comparison === 'above' && value !== threshold ? '>' : '>='
  if (value === undefined) return `${sign} ${threshold}`
  const isRatio = rule.strategy === 'slow-call-ratio' || rule.strategy === 'error-ratio'
  const digits = Math.min(6, Math.max(2, `${threshold}`.split('.')[1]?.length ?? 0))
  return `${isRatio ? value.toFixed(digits) : value} ${sign} ${threshold}`
}
