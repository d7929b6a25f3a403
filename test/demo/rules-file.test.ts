import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { RuleError } from 'leapguard'
import { afterAll, describe, expect, it } from 'vitest'
import { readRulesFile } from '../../docs/demo/rules-file.js'
import { ERRORS, SLOWNESS } from './support.js'

const folder = mkdtempSync(join(tmpdir(), 'leapguard-demo-'))
afterAll(() => rmSync(folder, { recursive: true }))

function fileOf(...rules: object[]): string {
  const path = join(folder, 'rules.json')
  writeFileSync(path, JSON.stringify({ degrade: rules }))
  return path
}

describe('rules.json of the demo', () => {
  it('is valid, guards user-service, and has windows and cooldowns of 1 s', async () => {
    const read = await readRulesFile(fileURLToPath(new URL('../../docs/demo/rules.json', import.meta.url)))
    expect(read.rules.map((rule) => rule.strategy).sort()).toEqual(['error-ratio', 'slow-call-ratio'])
    expect(read.others).toBe(0)
    for (const rule of read.rules) expect([rule.statIntervalMs, rule.cooldownMs]).toEqual([1000, 1000])
  })
})

describe('readRulesFile', () => {
  it('takes the rules that name user-service and counts the others', async () => {
    const rules = [
      { resource: 'user-service', ...ERRORS },
      { resource: 'basket', ...SLOWNESS },
    ]
    expect(await readRulesFile(fileOf(...rules))).toMatchObject({
      ruleSet: { degrade: rules },
      rules: [{ id: 'errors', resource: 'user-service', probeCount: 1 }],
      others: 1,
    })
  })

  it('takes the rules of patterns, or the default ones, where none names user-service', async () => {
    const elsewhere = { ...SLOWNESS, resource: 'basket' }
    const pattern = { ...ERRORS, id: 'all-services', resource: '*-service', match: 'glob' }
    const byDefault = { ...SLOWNESS, id: 'rest', match: 'default' }
    const idsOf = async (...rules: object[]) => (await readRulesFile(fileOf(...rules))).rules.map(({ id }) => id)
    expect(await idsOf(elsewhere, byDefault)).toEqual(['rest'])
    expect(await idsOf(elsewhere, byDefault, pattern)).toEqual(['all-services'])
    expect(await idsOf(byDefault, pattern, { ...ERRORS, resource: 'user-service' })).toEqual(['errors'])
  })

  it('rejects with what is wrong with the file', async () => {
    await expect(readRulesFile(fileOf({ ...ERRORS, resource: 'user-service', threshold: 1.5 }))).rejects.toThrow(
      RuleError,
    )
    await expect(readRulesFile(join(folder, 'none.json'))).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it("says clearly that no rule names the demo's resource, and which names there are", async () => {
    await expect(readRulesFile(fileOf({ resource: 'basket', ...ERRORS }))).rejects.toThrow(
      /'user-service', the resource of this demo; they name only 'basket'$/,
    )
    await expect(readRulesFile(fileOf())).rejects.toThrow(/there are none$/)
  })
})
