// What a set of rules is, whoever asks.
import { createGuard, RuleError, type RuleSet } from 'leapguard'
import { describe, expect, it } from 'vitest'
import type { Fault } from '../../rules/index.js'
import { checkRuleSet } from '../../src/rule-set.js'

const rule = { resource: 'r', strategy: 'error-count', threshold: 1 } as const

function check(set: unknown) {
  const faults: Fault[] = []
  const { degrade } = checkRuleSet(set, undefined, faults)
  return { degrade, faults }
}

describe('checkRuleSet', () => {
  it('leaves a family that is absent alone, and tells it from an empty one', () => {
    expect(check({})).toEqual({ degrade: undefined, faults: [] })
    expect(check({ degrade: undefined })).toEqual({ degrade: undefined, faults: [] })
    expect(check({ degrade: [] })).toEqual({ degrade: [], faults: [] })
  })

  it('wants an object of known families', () => {
    for (const set of [[], null, undefined, 'degrade', 7]) {
      expect(check(set).faults).toMatchObject([{ path: '', value: set }])
    }
    expect(check({ degrad: [], __proto_: 1 }).faults.map(({ path }) => path)).toEqual(['degrad', '__proto_'])
  })

  it('passes over $schema, which must be a string', () => {
    expect(check({ $schema: './schema.json', degrade: [rule] })).toMatchObject({ degrade: [{ rule }], faults: [] })
    expect(check({ $schema: undefined }).faults).toEqual([])
    for (const $schema of [5, null, {}]) {
      expect(check({ $schema }).faults).toMatchObject([{ path: '$schema', value: $schema, bound: 'a string' }])
    }
  })

  it('is what loading asks', () => {
    const guard = createGuard()
    expect(guard.loadRules({ $schema: './schema.json', degrade: [rule] }).added).toHaveLength(1)
    expect(() => guard.loadRules({ $schema: 5, flows: [] } as unknown as RuleSet)).toThrow(RuleError)
    expect(guard.rules()).toEqual({ degrade: [expect.objectContaining(rule)] }) // and it is not shown back
  })
})
