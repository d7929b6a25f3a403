// What the JSON Schema of rules cannot say: faults between fields. The checker finds them, an editor does not. docs/rule-files.md lists
// them for readers, and a test holds the two together.
import type { Rule } from './rule-values.js'

export interface SchemaLimit {
  /** The field that the fault names. */
  readonly field: string
  /** As the page says it. */
  readonly says: string
  /** Is the field as it should be, seen by itself? Then a fault in it is of this kind. */
  readonly isFineAlone: (value: unknown, rule: Rule) => boolean
}

const MAX_MS = 2 ** 30

function isInteger(value: unknown, max = Number.POSITIVE_INFINITY): boolean {
  return Number.isInteger(value) && (value as number) >= 1 && (value as number) <= max
}

export const SCHEMA_LIMITS: readonly SchemaLimit[] = [
  {
    field: 'resource',
    says: "is a pattern that can be read, with `match` `'glob'` or `'regex'`",
    isFineAlone: (value, rule) =>
      typeof value === 'string' && value !== '' && (rule.match === 'glob' || rule.match === 'regex'),
  },
  {
    field: 'bucketCount',
    says: 'divides `statIntervalMs`',
    isFineAlone: (value, rule) =>
      isInteger(value, 10_000) && (!Object.hasOwn(rule, 'statCallCount') || rule.strategy === 'consecutive-errors'),
  },
  {
    field: 'minRequestAmount',
    says: 'is at most `statCallCount`',
    isFineAlone: (value, rule) => isInteger(value) && rule.strategy !== 'consecutive-errors',
  },
  {
    field: 'threshold',
    says: 'of `error-count` can be reached by `statCallCount` calls',
    isFineAlone: (value, rule) =>
      rule.strategy === 'error-count' &&
      Number.isFinite(value) &&
      (value as number) >= (rule.comparison === 'above' ? 0 : 1),
  },
  {
    field: 'maxCooldownMs',
    says: 'is at least `cooldownMs`',
    isFineAlone: (value) => isInteger(value, MAX_MS),
  },
  {
    field: 'successThreshold',
    says: 'is at least `probeCount`',
    isFineAlone: (value) => isInteger(value, MAX_MS),
  },
  {
    field: 'id',
    says: 'is unique per resource, or among all pattern and default rules',
    isFineAlone: (value) => typeof value === 'string' && value !== '',
  },
]
