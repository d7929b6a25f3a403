import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { judgeRules, readRulesFile, renderFaults } from '../../docs/demo/rules-file.js'
import { ERRORS, SLOWNESS } from './support.js'

const degrade = (...rules: object[]) => JSON.stringify({ degrade: rules })
const own = new URL('../../docs/demo/rules.json', import.meta.url)

describe('rules.json of the demo', () => {
  it('is valid, guards user-service, and has windows and cooldowns of 1 s', () => {
    const read = judgeRules(readFileSync(own, 'utf8'))
    if ('faults' in read) throw new Error(renderFaults('rules.json', read.faults))
    expect(read.rules.map((rule) => rule.strategy).sort()).toEqual(['error-ratio', 'slow-call-ratio'])
    expect(read.others).toBe(0)
    for (const rule of read.rules) expect([rule.statIntervalMs, rule.cooldownMs]).toEqual([1000, 1000])
  })
})

describe('judgeRules', () => {
  it('takes the rules that name user-service and counts the others', () => {
    const read = judgeRules(degrade({ resource: 'user-service', ...ERRORS }, { resource: 'basket', ...SLOWNESS }))
    expect(read).toMatchObject({ rules: [{ id: 'errors', resource: 'user-service' }], others: 1 })
  })

  it('lists all faults with path, value and bound', () => {
    const read = judgeRules(
      degrade(
        { resource: 'user-service', ...ERRORS, threshold: 1.5 },
        { resource: 'user-service', ...SLOWNESS, cooldownMs: '5s' },
      ),
    )
    if (!('faults' in read)) throw new Error('two faults were made')
    expect(read.faults.map((fault) => [fault.path, fault.value])).toEqual([
      ['degrade[0].threshold', '1.5'],
      ['degrade[1].cooldownMs', "'5s'"],
    ])
    for (const fault of read.faults) expect(fault.bound).not.toBe('')
  })

  it('says where a file stops being JSON', () => {
    expect(judgeRules('{\n  "degrade": []\n  "oops": 1\n}')).toMatchObject({
      faults: [
        {
          path: 'line 3, column 3',
          value: expect.stringContaining('not JSON'),
          bound: expect.stringContaining('JSON'),
        },
      ],
    })
    expect(judgeRules('')).toMatchObject({ faults: [{ value: expect.stringContaining('end of JSON input') }] })
    expect(judgeRules('{\n oops }')).toMatchObject({ faults: [{ value: expect.not.stringContaining('\n') }] })
  })

  it('wants an object of families, not a list or a word', () => {
    for (const text of ['[]', '"degrade"', 'null', '7']) {
      expect(judgeRules(text)).toMatchObject({
        faults: [{ path: 'the whole file', bound: expect.stringContaining('{ "degrade"') }],
      })
    }
  })

  it("says clearly that no rule names the demo's resource, and which names there are", () => {
    expect(judgeRules(degrade({ resource: 'basket', ...ERRORS }))).toMatchObject({
      faults: [{ value: "only 'basket'", bound: expect.stringContaining("'user-service'") }],
    })
    expect(judgeRules('{}')).toMatchObject({ faults: [{ value: 'no rules at all' }] })
  })
})

describe('readRulesFile', () => {
  it('says that a file does not exist, or cannot be read', () => {
    expect(readRulesFile('/no/such/rules.json')).toMatchObject({
      faults: [{ path: '/no/such/rules.json', value: 'missing' }],
    })
    expect(readRulesFile('/')).toMatchObject({ faults: [{ value: 'EISDIR' }] })
  })
})

describe('renderFaults', () => {
  it('prints one aligned line a fault', () => {
    const faults = [
      { path: 'degrade[0].threshold', value: '1.5', bound: '0 < x <= 1' },
      { path: 'degrade[10].id', value: "''", bound: 'a non-empty string' },
    ]
    expect(renderFaults('mine.json', faults)).toBe(
      [
        '2 faults in mine.json; nothing was started.',
        '  degrade[0].threshold  is 1.5  bound: 0 < x <= 1',
        "  degrade[10].id        is ''   bound: a non-empty string",
        '',
      ].join('\n'),
    )
  })
})
