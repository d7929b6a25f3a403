// The JSON Schema of rules against the checker: what one takes, the other takes.
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { createGuard } from 'leapguard'
import { describe, expect, it, vi } from 'vitest'
import { STRATEGIES } from '../../rules/degrade/rule.js'
import type { Fault } from '../../rules/index.js'
import schema from '../../rules/schema.json' with { type: 'json' }
import { checkRuleSet } from '../../src/rule-set.js'
import { anyRuleSet, FIELDS, type Rule, rulesWithOneChange } from '../support/rule-values.js'
import { SCHEMA_LIMITS, type SchemaLimit } from '../support/schema-limits.js'

vi.setConfig({ testTimeout: 60_000 })

const properties: Readonly<Record<string, { description?: string; default?: unknown }>> =
  schema.$defs.degradeRule.properties
const validate = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false }).compile(schema)

function faultsOf(set: unknown): Fault[] {
  const faults: Fault[] = []
  checkRuleSet(set, undefined, faults)
  return faults
}

/** The kind of a fault that no schema can find, or `undefined`. */
function limitOf({ path, value }: Fault, set: unknown): SchemaLimit | undefined {
  const [, index, field] = /^degrade\[(\d+)\]\.(\w+)$/.exec(path) ?? []
  if (index === undefined) return undefined
  const rule = (set as { degrade: Rule[] }).degrade[Number(index)] as Rule
  return SCHEMA_LIMITS.find((limit) => limit.field === field && limit.isFineAlone(value, rule))
}

interface Verdict {
  readonly faults: readonly Fault[]
  readonly limits: readonly (SchemaLimit | undefined)[]
}

/** Fails unless the schema refuses exactly what has a fault that a schema can find. */
function compare(set: unknown): Verdict {
  const faults = faultsOf(set)
  const limits = faults.map((fault) => limitOf(fault, set))
  if (validate(set) !== limits.every((limit) => limit !== undefined)) {
    const said = faults.map(({ message }) => message).join('; ')
    expect.fail(`${JSON.stringify(set)}: checker [${said}], schema ${JSON.stringify(validate.errors)}`)
  }
  return { faults, limits }
}

describe('the schema and the checker', () => {
  it('take and refuse the same for every single change of a good rule, but for what no schema can find', () => {
    const verdicts = new Map<string, number>()
    const count = (key: string) => verdicts.set(key, (verdicts.get(key) ?? 0) + 1)
    for (const rule of rulesWithOneChange()) {
      const { faults, limits } = compare({ degrade: [rule] })
      if (faults.length === 0) for (const field of Object.keys(rule)) count(`${field} taken`)
      faults.forEach(({ path }, i) => {
        count(limits[i] === undefined ? `${path.replace('degrade[0].', '')} refused` : limits[i].says)
      })
    }
    // Both verdicts were seen often, for each field, and so was each kind that no schema can find.
    const expected = [...FIELDS.flatMap((field) => [`${field} taken`, `${field} refused`]), 'minReqests refused']
    for (const key of expected) expect(verdicts.get(key), key).toBeGreaterThan(30)
    for (const { says, field } of SCHEMA_LIMITS)
      if (field !== 'id') expect(verdicts.get(says), says).toBeGreaterThan(20)
  })

  it('take and refuse the same for sets of any rules', () => {
    const verdicts = { taken: 0, refused: 0, limited: 0, repeatedIds: 0 }
    fc.assert(
      fc.property(anyRuleSet, (set) => {
        const { faults, limits } = compare(set)
        if (faults.length === 0) verdicts.taken++
        else if (limits.includes(undefined)) verdicts.refused++
        else verdicts.limited++
        if (limits.some((limit) => limit?.field === 'id')) verdicts.repeatedIds++
      }),
      { numRuns: 2000 },
    )
    expect(Math.min(...Object.values(verdicts)), JSON.stringify(verdicts)).toBeGreaterThan(10)
  })

  it('agree on names that are no names of fields', () => {
    const rule = '"resource": "r", "strategy": "error-count", "threshold": 1'
    for (const text of [
      `{"degrade": [{${rule}, "__proto__": 1}]}`,
      `{"degrade": [{"__proto__": {${rule}}}]}`,
      `{"degrade": [{${rule}}], "__proto__": []}`,
      '{"__proto__": {"degrade": []}}',
      '{"$schema": "x", "$id": "y"}',
    ]) {
      expect(compare(JSON.parse(text)).faults.length, text).toBeGreaterThan(0)
    }
  })
})

describe('the schema', () => {
  it('says of every field what it is, and knows no other', () => {
    expect(Object.keys(properties).sort()).toEqual([...FIELDS].sort())
    for (const [name, { description }] of Object.entries(properties)) {
      expect(description, name).toMatch(/^[A-Z'].{15,}\.$|^slow-call-ratio: /)
    }
  })

  it('gives the defaults that the library fills in', () => {
    for (const strategy of STRATEGIES) {
      const guard = createGuard()
      const own = strategy === 'slow-call-ratio' ? { maxAllowedRtMs: 5 } : {}
      guard.loadRules({ degrade: [{ resource: 'r', strategy, threshold: 1, ...own }] })
      const inForce: Rule = { ...guard.rules().degrade[0] }
      const given = Object.entries(properties).filter(([, property]) => 'default' in property)
      expect(given.length).toBeGreaterThan(8)
      for (const [name, property] of given) expect(property.default, name).toBe(inForce[name])
    }
  })

  it('names no host, and is what it says it is', () => {
    expect(schema.$id).toBe('urn:leapguard:rules')
    expect(new Ajv2020().validateSchema(schema)).toBe(true)
  })
})
