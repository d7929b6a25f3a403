// Rule sets around the edges of what is allowed: per field what may stand there and what may not, whole rules that are good, and rules with
// a few fields spoilt. For comparing two judges of rules.
import fc from 'fast-check'
import type { DegradeRuleInput, DegradeStrategy } from 'leapguard'

export type Field = keyof DegradeRuleInput
export type Rule = Record<string, unknown>

const MAX_MS = 2 ** 30
/** What JSON.parse makes of 1e999. */
const ENDLESS = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]

/** Values at and around the bounds of a number, and beyond reason. */
function around(...bounds: number[]): number[] {
  return [...bounds.flatMap((edge) => [edge - 1, edge - 0.5, edge, edge + 0.5, edge + 1]), 0, -0, 1e300, ...ENDLESS]
}

function words(...list: string[]): string[] {
  return [...list, ...list.map((word) => word.toUpperCase()), '', 'other']
}

const RATIOS = [-1, -5e-324, -0, 0, 5e-324, 0.3, 1, 1 + Number.EPSILON, 2]
const FLAGS = [true, false, 0, 1, 'true']
const NAMES = ['', ' ', 'r', '__proto__', '\u0000']

/** Some of which are no glob, some no regular expression, and some neither. */
const PATTERNS = ['*', 'a[', 'a{b,c}', 'a{', 'a{2,1}', '(', '(?=a)', '(a)\\1', '\\', 'a'.repeat(2000)]

/** What to try for each field: at its bounds, just outside, and near what other fields compare it with. */
const EDGES: Readonly<Record<Field, readonly unknown[]>> = {
  resource: [...NAMES, ...PATTERNS],
  match: words('exact', 'glob', 'regex', 'default'),
  id: NAMES,
  strategy: words('slow-call-ratio', 'error-ratio', 'error-count', 'consecutive-errors'),
  threshold: [...RATIOS, ...around(1, 5, 1e15)],
  comparison: words('at-or-above', 'above'),
  maxAllowedRtMs: around(0, MAX_MS),
  statIntervalMs: around(1, 10_000, MAX_MS),
  bucketCount: [...around(1, 10_000), 2, 3, 7, 16],
  statCallCount: around(1, 5, 20, 100_000),
  minRequestAmount: around(1, 5, 20, 1e9),
  cooldownMs: around(1, 10_000, MAX_MS),
  cooldownMultiplier: [...around(1), 1 - Number.EPSILON / 2, 1.5],
  maxCooldownMs: around(1, 10_000, MAX_MS),
  cooldownJitter: RATIOS,
  probeCount: around(1, 3, 10_000),
  successThreshold: around(1, 3, MAX_MS),
  probeTimeoutMs: around(1, MAX_MS),
  maxHalfOpenMs: around(1, MAX_MS),
  afterHalfOpen: words('open', 'closed'),
  recoveryMs: around(0, MAX_MS),
  countRunning: FLAGS,
  lateResults: words('ignore', 'at-arrival'),
  dryRun: FLAGS,
}
export const FIELDS = Object.keys(EDGES) as Field[]
const UNKNOWN = ['minReqests', 'Resource', 'constructor', 'toString', '$schema', '']
const WRONG_TYPES: readonly unknown[] = [null, '', '1', 'x', true, false, [], [1], {}, { a: 1 }, 0, 1]

/** Stands for a field that is taken away. */
const ABSENT = Symbol('absent')

const BESIDE: readonly unknown[] = [...WRONG_TYPES, ABSENT]

/** The rule with one field changed, or taken away. */
function changed(rule: Rule, field: string, value: unknown): Rule {
  const { [field]: _, ...rest } = rule
  return value === ABSENT ? rest : { ...rest, [field]: value }
}

/** A good rule of each kind, then each of them with one field changed to each thing that is worth a try. */
export function* rulesWithOneChange(): Generator<Rule> {
  for (const base of BASES) {
    yield base
    for (const field of FIELDS) for (const value of [...EDGES[field], ...BESIDE]) yield changed(base, field, value)
    for (const field of UNKNOWN) for (const value of BESIDE) yield changed(base, field, value)
  }
}

const OWN_FIELDS: Readonly<Record<DegradeStrategy, Rule>> = {
  'slow-call-ratio': { threshold: 0.5, maxAllowedRtMs: 100 },
  'error-ratio': { threshold: 1 },
  'error-count': { threshold: 4 },
  'consecutive-errors': { threshold: 3 },
}
const STRATEGIES = Object.keys(OWN_FIELDS) as DegradeStrategy[]

/** Every way to say which names a rule is for. */
const TARGETS: readonly Rule[] = [
  { resource: 'r' },
  { resource: 'r', match: 'exact' },
  { resource: 'api/*', match: 'glob' },
  { resource: '^api/', match: 'regex' },
  { match: 'default' },
]

const BASES: readonly Rule[] = STRATEGIES.flatMap((strategy) => {
  const options = { strategy, ...OWN_FIELDS[strategy] }
  const least = { resource: 'r', ...options }
  const counted = { ...least, statCallCount: 20 }
  const full = { ...least, statIntervalMs: 10_000, bucketCount: 8, cooldownMs: 10_000, probeCount: 3 }
  const bases = strategy === 'consecutive-errors' ? [least, full] : [least, full, counted]
  return [
    ...TARGETS.map((target) => ({ ...target, ...options })),
    ...bases.flatMap((base) => [
      { ...base, comparison: 'at-or-above' },
      { ...base, comparison: 'above' },
    ]),
  ]
})

const millis = fc.oneof(fc.constantFrom(1, 2, MAX_MS), fc.integer({ min: 1, max: MAX_MS }))
const small = fc.integer({ min: 1, max: 5 })

/** Windows of each kind, consistent in themselves. */
const WINDOW = fc.oneof(
  fc.constant({}),
  fc.record({ statIntervalMs: millis }),
  fc
    .record({ bucketCount: fc.constantFrom(1, 2, 16, 10_000), buckets: fc.integer({ min: 1, max: 100_000 }) })
    .map(({ bucketCount, buckets }) => ({ bucketCount, statIntervalMs: bucketCount * buckets })),
  fc.constantFrom(1, 8, 10_000).map((bucketCount) => ({ bucketCount })),
)
const CALLS = fc
  .record({ statCallCount: fc.constantFrom(1, 5, 20, 100_000), minRequestAmount: fc.option(fc.constantFrom(1, 5, 20)) })
  .map(({ statCallCount, minRequestAmount }) =>
    minRequestAmount === null
      ? { statCallCount }
      : { statCallCount, minRequestAmount: Math.min(statCallCount, minRequestAmount) },
  )
const VOLUME = fc.record({ minRequestAmount: fc.constantFrom(1, 20, 1e9) }, { requiredKeys: [] })

const ANY_STRATEGY = fc.record(
  {
    id: fc.constantFrom('a', 'b', ' ', '__proto__', 'error-ratio#2'),
    comparison: fc.constantFrom('at-or-above', 'above'),
    cooldownMultiplier: fc.constantFrom(1, 1.5, 1e300),
    cooldownJitter: fc.constantFrom(0, 0.5, 1),
    probeTimeoutMs: fc.constantFrom(1, 500, MAX_MS, null),
    maxHalfOpenMs: fc.constantFrom(1, MAX_MS, null),
    afterHalfOpen: fc.constantFrom('open', 'closed'),
    recoveryMs: fc.constantFrom(0, 30_000, MAX_MS),
    countRunning: fc.boolean(),
    lateResults: fc.constantFrom('ignore', 'at-arrival'),
    dryRun: fc.boolean(),
  },
  { requiredKeys: [] },
)
const COOLDOWN = fc.oneof(
  fc.record({ cooldownMs: millis }, { requiredKeys: [] }),
  fc.tuple(millis, millis).map(([a, b]) => ({ cooldownMs: Math.min(a, b), maxCooldownMs: Math.max(a, b) })),
  fc.constantFrom(10_000, MAX_MS).map((maxCooldownMs) => ({ maxCooldownMs })),
)
const PROBES = fc.oneof(
  fc.record({ probeCount: fc.constantFrom(1, 3, 10_000) }, { requiredKeys: [] }),
  fc.tuple(small, small).map(([a, b]) => ({ probeCount: Math.min(a, b), successThreshold: Math.max(a, b) })),
  fc.constantFrom(1, MAX_MS).map((successThreshold) => ({ successThreshold })),
)

/** Good rules of a strategy, but for a count that its calls may not reach. */
function goodRule(strategy: DegradeStrategy): fc.Arbitrary<Rule> {
  const window = strategy === 'consecutive-errors' ? WINDOW : fc.oneof(merged(WINDOW, VOLUME), CALLS)
  return merged(
    fc.constantFrom<Rule>(...TARGETS, { resource: '__proto__' }),
    fc.constant({ strategy }),
    ...[fc.constant(OWN_FIELDS[strategy]), ANY_STRATEGY, window, COOLDOWN, PROBES],
  )
}

function merged(...parts: fc.Arbitrary<Rule>[]): fc.Arbitrary<Rule> {
  return fc.tuple(...parts).map((some) => Object.assign({}, ...some))
}

const GOOD = fc.oneof(...STRATEGIES.map(goodRule))

const change = fc.oneof(
  { weight: 9, arbitrary: fc.constantFrom(...FIELDS).chain((field) => fc.tuple(fc.constant(field), anyValue(field))) },
  { weight: 1, arbitrary: fc.tuple(fc.constantFrom(...UNKNOWN), fc.constantFrom(...WRONG_TYPES)) },
)

function anyValue(field: Field): fc.Arbitrary<unknown> {
  return fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom(...EDGES[field]) },
    { weight: 1, arbitrary: fc.constantFrom(...BESIDE) },
  )
}

/** Rules with up to three fields changed to something near or far. */
export const anyRule: fc.Arbitrary<Rule> = fc
  .tuple(GOOD, fc.array(change, { maxLength: 3 }))
  .map(([rule, changes]) => changes.reduce((spoilt, [field, value]) => changed(spoilt, field, value), rule))

const ANYTHING = fc.oneof(fc.constantFrom(...WRONG_TYPES), fc.jsonValue({ maxDepth: 3 }))

/** Sets of rules: mostly lists of rules, some with something else where a set, a family or a rule is expected. */
export const anyRuleSet: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 20, arbitrary: fc.array(anyRule, { minLength: 1, maxLength: 3 }).map((degrade) => ({ degrade })) },
  { weight: 2, arbitrary: fc.array(fc.oneof(GOOD, GOOD, ANYTHING), { maxLength: 3 }).map((degrade) => ({ degrade })) },
  {
    weight: 2,
    arbitrary: fc.record(
      {
        $schema: fc.oneof(fc.string(), fc.constantFrom(...WRONG_TYPES)),
        degrade: fc.oneof(fc.array(GOOD, { maxLength: 2 }), ANYTHING),
        flow: fc.constantFrom(...WRONG_TYPES),
      },
      { requiredKeys: [] },
    ),
  },
  { weight: 1, arbitrary: ANYTHING },
)
