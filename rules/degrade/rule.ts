// Degrade rules: fields, defaults and bounds. What a breaker does with them is in ../breaker.ts.
import { startBucketMs } from '../../windows/index.js'
import { compilePattern, type Program } from '../pattern/index.js'
import { readRingShape } from '../ring-shape.js'
import { Checker, type Fault, isPlainObject, MAX_MS, show } from '../validate.js'

export type DegradeStrategy = 'slow-call-ratio' | 'error-ratio' | 'error-count' | 'consecutive-errors'
export const STRATEGIES: readonly DegradeStrategy[] = [
  'slow-call-ratio',
  'error-ratio',
  'error-count',
  'consecutive-errors',
]

/** How a rule says which names it is for. */
export type RuleMatch = 'exact' | 'glob' | 'regex' | 'default'
export const MATCHES: readonly RuleMatch[] = ['exact', 'glob', 'regex', 'default']

/** Which names a rule is for. Rules of an exact name replace those of patterns for it, and these the default ones. State is kept per name. */
export type RuleTarget =
  | {
      /** Name of the guarded resource, any non-empty string; or a pattern of names, at most 1,000 characters; forbidden for `'default'`. */
      resource: string
      /**
       * `'exact'` (default): the name itself. `'glob'`, `'regex'`: every name that the pattern matches. `'default'`: every name that has no
       * exact rules and that no pattern matches.
       */
      match?: RuleMatch
    }
  | { resource?: undefined; match: 'default' }

/** What a degrade rule asks for, whichever names it is for: plain JSON. */
export interface DegradeRuleOptions {
  /** Unique per resource, for pattern and default rules among all of them. Default: strategy and position, e.g. `error-ratio#1`. */
  id?: string
  strategy: DegradeStrategy
  /**
   * Where the breaker opens, required. Ratio strategies: ratio, 0 < x <= 1, compared as `bad / total >= threshold`.
   * `error-count`: count >= 1, fractions allowed. `consecutive-errors`: integer >= 1. With `comparison: 'above'` 0 is allowed.
   */
  threshold: number
  /** Reaching the threshold trips (`'at-or-above'`, default), or only passing it (`'above'`; a slow-call ratio of exactly 1 still trips when reached). */
  comparison?: 'at-or-above' | 'above'
  /** A call is slow if it took longer than this. Integer ms >= 0; required for `slow-call-ratio`, forbidden elsewhere. */
  maxAllowedRtMs?: number
  /** Length of the whole window, integer ms, 1 to 2^30. Default 10,000; none with `statCallCount`. Without effect on `consecutive-errors`. */
  statIntervalMs?: number
  /** Buckets of the window, 1 to 10,000; must divide `statIntervalMs`. Default 10; if that does not divide, the largest divisor up to 20. */
  bucketCount?: number
  /**
   * Judge the last so many finished calls instead of a span of time: integer 1 to 100,000; then `statIntervalMs` and `bucketCount` are
   * forbidden. Forbidden for `consecutive-errors`. Costs one byte per call it looks back over. Default: a span of time.
   */
  statCallCount?: number
  /** Calls the window must hold before it is judged, integer >= 1, at most `statCallCount`. Default 20 for ratios, 1 for `error-count`; forbidden for `consecutive-errors`. */
  minRequestAmount?: number
  /** How long the breaker stays open, integer ms, 1 to 2^30. Default 10,000. */
  cooldownMs?: number
  /** Growth of the cooldown each time a probe reopens, >= 1; closing resets it. Default 1. */
  cooldownMultiplier?: number
  /** Cap of the grown and jittered cooldown, integer ms, `cooldownMs` to 2^30. Default 2^30. */
  maxCooldownMs?: number
  /** Lengthens each cooldown by a random share up to this, 0 to 1, never past the cap. Default 0. */
  cooldownJitter?: number
  /** Probes out at once while half-open, integer 1 to 10,000. Default 1. */
  probeCount?: number
  /** Good probes that close, integer >= `probeCount`. Default `probeCount`. */
  successThreshold?: number
  /**
   * How long a probe may hold its slot, integer ms, 1 to 2^30, or `null` for ever. Default `cooldownMs`, for `slow-call-ratio` at least
   * `maxAllowedRtMs` plus one start bucket. Each takeover doubles it until the breaker closes.
   */
  probeTimeoutMs?: number | null
  /**
   * How long the breaker may stay half-open without a verdict, integer ms, 1 to 2^30, or `null` for ever (default). Noticed at the next
   * entry; `afterHalfOpen` says what it is then.
   */
  maxHalfOpenMs?: number | null
  /** What a breaker becomes that was half-open for `maxHalfOpenMs`: `'open'` (default) for another cooldown, or `'closed'`. */
  afterHalfOpen?: 'open' | 'closed'
  /**
   * How long traffic takes to come back after the breaker has closed, integer ms, 0 to 2^30: a tenth of the calls passes at first, a tenth
   * more after each tenth of this time. Default 0: all at once.
   */
  recoveryMs?: number
  /** `slow-call-ratio`: count calls that still run past the limit as slow. Default true. */
  countRunning?: boolean
  /** Results of calls from before the present era: `'ignore'` (default), or judge them `'at-arrival'`. */
  lateResults?: 'ignore' | 'at-arrival'
  /** Watch and report, refuse nothing. Default false. */
  dryRun?: boolean
}

/** A degrade rule as a user writes it: plain JSON. */
export type DegradeRuleInput = DegradeRuleOptions & RuleTarget

/** How a rule counts: two rules that agree in this can share a window. */
export type WindowShape = Pick<
  DegradeRule,
  'strategy' | 'statIntervalMs' | 'bucketCount' | 'statCallCount' | 'maxAllowedRtMs'
>

type TargetInForce =
  | { readonly resource: string; readonly match: 'exact' | 'glob' | 'regex' }
  | { readonly resource?: undefined; readonly match: 'default' }

/** A degrade rule in force: every option explicit, frozen. Options that another one forbids are absent, and so is `statCallCount` where a span of time is judged. */
export type DegradeRule = OptionsInForce & TargetInForce

interface OptionsInForce extends DegradeRuleOptions {
  readonly id: string
  readonly strategy: DegradeStrategy
  readonly threshold: number
  readonly comparison: 'at-or-above' | 'above'
  readonly maxAllowedRtMs?: number
  readonly statIntervalMs?: number
  readonly bucketCount?: number
  readonly statCallCount?: number
  readonly minRequestAmount?: number
  readonly cooldownMs: number
  readonly cooldownMultiplier: number
  readonly maxCooldownMs: number
  readonly cooldownJitter: number
  readonly probeCount: number
  readonly successThreshold: number
  readonly probeTimeoutMs: number | null
  readonly maxHalfOpenMs: number | null
  readonly afterHalfOpen: 'open' | 'closed'
  readonly recoveryMs: number
  readonly countRunning: boolean
  readonly lateResults: 'ignore' | 'at-arrival'
  readonly dryRun: boolean
}

/** A checked rule, and whether its `id` is the user's choice (one of the form that we invent is not). */
export interface NormalizedRule {
  readonly rule: DegradeRule
  readonly named: boolean
  /** Which names it is for, if it names a pattern. */
  readonly pattern: Program | undefined
}

const FIELDS: ReadonlySet<string> = new Set<keyof DegradeRule>([
  'resource',
  'match',
  'id',
  'strategy',
  'threshold',
  'comparison',
  'maxAllowedRtMs',
  'statIntervalMs',
  'bucketCount',
  'statCallCount',
  'minRequestAmount',
  'cooldownMs',
  'cooldownMultiplier',
  'maxCooldownMs',
  'cooldownJitter',
  'probeCount',
  'successThreshold',
  'probeTimeoutMs',
  'maxHalfOpenMs',
  'afterHalfOpen',
  'recoveryMs',
  'countRunning',
  'lateResults',
  'dryRun',
])

export const MAX_CALL_COUNT = 100_000
const MAX_PROBES = 10_000

/**
 * Checks a list of degrade rules and fills in the defaults. All faults of all rules go to `faults`; what is returned is only
 * meaningful if there were none.
 *
 * @param path of the list in messages.
 * @param resource if given, rules may leave `resource` out and must not name another.
 */
export function normalizeDegradeRules(
  list: unknown,
  path: string,
  faults: Fault[],
  resource: string | undefined,
): NormalizedRule[] {
  if (!Array.isArray(list)) {
    const bound = 'an array of rules'
    faults.push({ path, value: list, bound, message: `${path}: must be ${bound}, got ${show(list)}` })
    return []
  }
  const rules: NormalizedRule[] = []
  // Array.from visits holes too.
  const drafts = Array.from(list, (item: unknown, i) => {
    const at = `${path}[${i}]`
    if (isPlainObject(item)) return normalize(item, at, faults, resource)
    const bound = 'a rule object'
    faults.push({ path: at, value: item, bound, message: `${at}: must be ${bound}, got ${show(item)}` })
    return undefined
  })
  const taken = new IdBook()
  drafts.forEach((draft, i) => {
    if (draft?.rule.id !== undefined && !taken.claim(draft.rule, draft.rule.id)) {
      const among = draft.rule.match === 'exact' ? 'per resource' : 'among all pattern and default rules'
      draft.checker.fault('id', `unique ${among}; rule ${i} repeats it`)
    }
  })
  for (const draft of drafts) {
    if (draft === undefined) continue
    const { strategy, id } = draft.rule
    rules.push({
      rule: Object.freeze({ ...draft.rule, id: id ?? taken.invent(draft.rule, strategy) }),
      named: id !== undefined && !isInvented(id, strategy),
      pattern: draft.pattern,
    })
  }
  return rules
}

/** Does an id look like one that we invent? Then rules that were read back and loaded again still match like unnamed ones. */
function isInvented(id: string, strategy: string): boolean {
  return id.startsWith(`${strategy}#`) && /^[1-9]\d*$/.test(id.slice(strategy.length + 1))
}

/**
 * Ids in use; invents `strategy#1`, `strategy#2`, ... in order of the list, around those that users chose. Exact rules meet only those of the
 * same resource; pattern and default rules may meet any of their kind on some name.
 */
class IdBook {
  readonly #ids = new Map<string | undefined, Set<string>>()

  claim(target: RuleTarget, id: string): boolean {
    const ids = this.#of(target)
    if (ids.has(id)) return false
    ids.add(id)
    return true
  }

  invent(target: RuleTarget, strategy: string): string {
    let n = 1
    while (!this.claim(target, `${strategy}#${n}`)) n++
    return `${strategy}#${n}`
  }

  #of({ resource, match }: RuleTarget): Set<string> {
    const scope = match === 'exact' ? resource : undefined
    const ids = this.#ids.get(scope) ?? new Set<string>()
    this.#ids.set(scope, ids)
    return ids
  }
}

interface Draft {
  rule: Omit<OptionsInForce, 'id'> & TargetInForce & { id: string | undefined }
  pattern: Program | undefined
  checker: Checker
}

/** Reads `match` and `resource`. */
function readTarget(
  checker: Checker,
  only: string | undefined,
): { target: TargetInForce; pattern: Program | undefined } {
  const match = checker.oneOf('match', MATCHES, 'exact') ?? 'exact'
  if (only !== undefined && match !== 'exact') {
    checker.fault('match', `'exact' or absent: these are rules of ${show(only)} alone`)
    return { target: { resource: only, match: 'exact' }, pattern: undefined }
  }
  if (match === 'default') {
    checker.forbidden('resource', 'a default rule is for every name that has no other')
    return { target: { match }, pattern: undefined }
  }
  // Whoever misspells 'default' should not be asked for a name.
  const required = !checker.isFaulty('match')
  const resource = only !== undefined && !checker.has('resource') ? only : (checker.name('resource', required) ?? '')
  if (only !== undefined && resource !== '' && resource !== only) checker.fault('resource', `${show(only)} or absent`)
  const target = { resource, match }
  if (match === 'exact' || resource === '') return { target, pattern: undefined }
  const pattern = compilePattern(match, resource)
  if (typeof pattern !== 'string') return { target, pattern }
  checker.fault('resource', `a ${match === 'glob' ? 'glob' : 'regular expression'}: ${pattern}`)
  return { target, pattern: undefined }
}

function normalize(item: Record<string, unknown>, path: string, faults: Fault[], only: string | undefined): Draft {
  const named = item.resource ?? only
  const checker = new Checker(
    item,
    path,
    faults,
    typeof named === 'string' && named !== '' ? `resource ${show(named)}` : '',
  )
  checker.knownFields(FIELDS)
  const { target, pattern } = readTarget(checker, only)
  const id = checker.name('id', false)
  const strategy = checker.oneOf('strategy', STRATEGIES, undefined)
  const comparison = checker.oneOf('comparison', ['at-or-above', 'above'], 'at-or-above') ?? 'at-or-above'
  const window = readWindow(checker, strategy)
  const threshold = readThreshold(checker, strategy, comparison === 'above', window.statCallCount)
  const slow = strategy === 'slow-call-ratio'

  const maxAllowedRtMs = slow ? checker.number('maxAllowedRtMs', { min: 0, max: MAX_MS, integer: true }, undefined) : 0
  if (!slow && strategy !== undefined)
    checker.forbidden('maxAllowedRtMs', `only slow-call-ratio has it, not ${strategy}`)
  const minRequestAmount = readMinimum(checker, strategy, window.statCallCount)

  const cooldownMs = checker.number('cooldownMs', { min: 1, max: MAX_MS, integer: true }, 10_000)
  const cooldownMultiplier = checker.number('cooldownMultiplier', { min: 1 }, 1)
  const leastCap = checker.isFaulty('cooldownMs') ? 1 : cooldownMs
  const maxCooldownMs = checker.number('maxCooldownMs', { min: leastCap, max: MAX_MS, integer: true }, MAX_MS)
  const cooldownJitter = checker.number('cooldownJitter', { min: 0, max: 1 }, 0)
  const probeCount = checker.number('probeCount', { min: 1, max: MAX_PROBES, integer: true }, 1)
  const successThreshold = checker.number(
    'successThreshold',
    { min: checker.isFaulty('probeCount') ? 1 : probeCount, max: MAX_MS, integer: true },
    probeCount,
  )
  const floor = slow && maxAllowedRtMs >= 0 ? maxAllowedRtMs + startBucketMs(maxAllowedRtMs) : 0
  const probeTimeoutMs = readTime(checker, 'probeTimeoutMs', Math.min(MAX_MS, Math.max(cooldownMs, floor)))
  const rule = {
    ...target,
    id,
    strategy: strategy ?? 'error-ratio',
    threshold,
    comparison,
    ...(slow ? { maxAllowedRtMs } : {}),
    ...window,
    ...(minRequestAmount === undefined ? {} : { minRequestAmount }),
    cooldownMs,
    cooldownMultiplier,
    maxCooldownMs,
    cooldownJitter,
    probeCount,
    successThreshold,
    probeTimeoutMs,
    maxHalfOpenMs: readTime(checker, 'maxHalfOpenMs', null),
    afterHalfOpen: checker.oneOf('afterHalfOpen', ['open', 'closed'], 'open') ?? 'open',
    recoveryMs: checker.number('recoveryMs', { min: 0, max: MAX_MS, integer: true }, 0),
    countRunning: checker.boolean('countRunning', true),
    lateResults: checker.oneOf('lateResults', ['ignore', 'at-arrival'], 'ignore') ?? 'ignore',
    dryRun: checker.boolean('dryRun', false),
  } as const
  return { rule, pattern, checker }
}

function readThreshold(
  checker: Checker,
  strategy: DegradeStrategy | undefined,
  above: boolean,
  statCallCount: number | undefined,
): number {
  switch (strategy) {
    case 'slow-call-ratio':
    case 'error-ratio':
      return checker.number('threshold', { min: 0, max: 1, exclusive: !above }, undefined)
    case 'error-count':
      return readCount(checker, above, statCallCount)
    case 'consecutive-errors':
      return checker.number('threshold', { min: above ? 0 : 1, integer: true }, undefined)
    case undefined:
      return checker.number('threshold', { min: 0 }, undefined)
  }
}

/** A count that the last `statCallCount` calls can reach: a rule that can never open is a mistake. */
function readCount(checker: Checker, above: boolean, statCallCount: number | undefined): number {
  const threshold = checker.number('threshold', { min: above ? 0 : 1 }, undefined)
  if (statCallCount !== undefined && (above ? threshold >= statCallCount : threshold > statCallCount)) {
    checker.fault('threshold', `a count ${above ? '<' : '<='} statCallCount (${statCallCount}), or it never opens`)
  }
  return threshold
}

type Window = Pick<DegradeRule, 'statIntervalMs' | 'bucketCount' | 'statCallCount'>

function readWindow(checker: Checker, strategy: DegradeStrategy | undefined): Window {
  if (!checker.has('statCallCount')) return readInterval(checker)
  if (strategy === 'consecutive-errors') {
    checker.forbidden('statCallCount', 'consecutive-errors counts a run, not a window')
    return readInterval(checker)
  }
  checker.forbidden('statIntervalMs', 'statCallCount looks back over calls, not over time')
  checker.forbidden('bucketCount', 'statCallCount looks back over calls, not over time')
  return { statCallCount: checker.number('statCallCount', { min: 1, max: MAX_CALL_COUNT, integer: true }, undefined) }
}

function readInterval(checker: Checker): Window {
  const { intervalMs, bucketCount } = readRingShape(checker, 'statIntervalMs')
  return { statIntervalMs: intervalMs, bucketCount }
}

function readMinimum(
  checker: Checker,
  strategy: DegradeStrategy | undefined,
  statCallCount: number | undefined,
): number | undefined {
  if (strategy === 'consecutive-errors') {
    checker.forbidden('minRequestAmount', 'consecutive-errors counts a run, not a window')
    return undefined
  }
  const usual = strategy === 'error-count' ? 1 : 20
  if (statCallCount === undefined || checker.isFaulty('statCallCount')) {
    return checker.number('minRequestAmount', { min: 1, integer: true }, usual)
  }
  const range = { min: 1, max: statCallCount, integer: true }
  return checker.number('minRequestAmount', range, Math.min(usual, statCallCount))
}

/** A time, or `null` for ever. */
function readTime(checker: Checker, field: string, fallback: number | null): number | null {
  if (checker.isNull(field) || (fallback === null && !checker.has(field))) return null
  return checker.number(field, { min: 1, max: MAX_MS, integer: true }, fallback ?? undefined)
}

/** Two rules with the same shape can share a window; another shape restarts the rule. */
export function sameShape(a: WindowShape, b: WindowShape): boolean {
  return (
    a.strategy === b.strategy &&
    a.statIntervalMs === b.statIntervalMs &&
    a.bucketCount === b.bucketCount &&
    a.statCallCount === b.statCallCount &&
    a.maxAllowedRtMs === b.maxAllowedRtMs
  )
}

const IDENTITY: ReadonlySet<string> = new Set(['id', 'resource', 'match'] satisfies (keyof DegradeRule)[])

/** Are two rules equal in all that a breaker does: in every option but `id` and the names they are for? */
export function sameOptions(a: DegradeRule, b: DegradeRule): boolean {
  for (const field of FIELDS) {
    if (!IDENTITY.has(field) && a[field as keyof DegradeRule] !== b[field as keyof DegradeRule]) return false
  }
  return true
}

/** Are two rules for the same names in the same words? */
export function sameTarget(a: DegradeRule, b: DegradeRule): boolean {
  return a.match === b.match && a.resource === b.resource
}
