// Rules from files and texts: what is read, what is refused, and what the errors say.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { createGuard, parseRules, RuleError, type RuleFormat, readRules } from 'leapguard'
import { afterAll, describe, expect, it } from 'vitest'
import { loadYaml, type Yaml } from '../../../src/sources/peer.js'

const folder = mkdtempSync(join(tmpdir(), 'leapguard-rules-'))
afterAll(() => rmSync(folder, { recursive: true }))

function fileOf(name: string, content: string | Uint8Array): string {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

/** The error that the promise rejects with. */
async function errorOf(reading: Promise<unknown>): Promise<RuleError> {
  const error: unknown = await reading.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (error instanceof RuleError) return error
  throw new Error(`no RuleError: ${error}`)
}

const rule = { resource: 'user-service', strategy: 'error-ratio', threshold: 0.3 } as const
const JSON_RULES = JSON.stringify({ degrade: [rule] })
const YAML_RULES = 'degrade:\n  - resource: user-service\n    strategy: error-ratio\n    threshold: 0.3\n'

describe('readRules', () => {
  it.each([
    ['a.json', JSON_RULES],
    ['a.JSON', `\ufeff${JSON_RULES}`],
    ['a.b.yaml', YAML_RULES],
    ['a.yml', `\ufeff${YAML_RULES.replaceAll('\n', '\r\n')}`],
  ])('reads %s, by path and by URL', async (name, content) => {
    const path = fileOf(name, content)
    expect(await readRules(path)).toEqual({ degrade: [rule] })
    expect(await readRules(pathToFileURL(path))).toEqual({ degrade: [rule] })
  })

  it('gives what loadRules takes, and loads nothing itself', async () => {
    const guard = createGuard()
    const rules = await readRules(fileOf('a.json', `{"$schema": "./schema.json", ${JSON_RULES.slice(1)}`))
    expect(guard.rules()).toEqual({ degrade: [] })
    expect(guard.loadRules(rules).added).toHaveLength(1)
  })

  it('tells file, line and column of every fault, in the order of the file', async () => {
    const path = fileOf(
      'faulty.yaml',
      [
        'degrade:',
        '  - resource: a',
        '    strategy: error-ratio',
        '    threshold: 30',
        '    minReqests: 5',
        '  - resource: b',
        '    strategy: slow-call-ratio',
        '    strategy: slow-call-ratio',
        '    threshold: 0.5',
        'flows: []',
      ].join('\n'),
    )
    const error = await errorOf(readRules(path))
    expect([error.code, error.file]).toEqual(['ERR_RULE_INVALID', path])
    expect(error.faults.map(({ path, line, column }) => [path, line, column])).toEqual([
      ['degrade[0].threshold', 4, 5],
      ['degrade[0].minReqests', 5, 5],
      ['degrade[1].maxAllowedRtMs', 6, 5],
      ['degrade[1].strategy', 8, 5],
      ['flows', 10, 1],
    ])
    const lines = error.message.split('\n')
    expect(lines[0]).toBe(`5 faults in ${path}, nothing was applied:`)
    expect(lines[1]).toBe(
      `  - ${path}:4:5: degrade[0].threshold (resource "a"): must be a finite number > 0 and <= 1, got 30`,
    )
    for (const line of lines.slice(1)) expect(line).toContain(`${path}:`)
  })

  it('names the file by its path when it was given as a URL', async () => {
    const path = fileOf('faulty.json', '{"degrade": 5}')
    const error = await errorOf(readRules(pathToFileURL(path)))
    expect(error.file).toBe(path)
    expect(error.message).toBe(
      `1 fault in ${path}, nothing was applied: ${path}:1:2: degrade: must be an array of rules, got 5`,
    )
  })

  it('passes the errors of the file system on untouched', async () => {
    await expect(readRules(join(folder, 'none.json'))).rejects.toMatchObject({ code: 'ENOENT', syscall: 'open' })
    await expect(readRules(pathToFileURL(join(folder, 'none.yaml')))).rejects.toMatchObject({ code: 'ENOENT' })
    mkdirSync(join(folder, 'folder.json'))
    await expect(readRules(join(folder, 'folder.json'))).rejects.toMatchObject({ code: 'EISDIR' })
    await expect(readRules(new URL('https://example.com/rules.json'))).rejects.toMatchObject({
      code: 'ERR_INVALID_URL_SCHEME',
    })
  })

  it('refuses a name that tells no format', async () => {
    for (const name of ['rules.toml', 'rules', 'json', 'rules.json.bak', '']) {
      await expect(readRules(name)).rejects.toMatchObject({
        name: 'TypeError',
        code: 'ERR_INVALID_ARGUMENT',
        message: expect.stringContaining('must end in .json, .yaml or .yml'),
      })
    }
    await expect(readRules(5 as never)).rejects.toMatchObject({ code: 'ERR_INVALID_ARGUMENT' })
  })

  it.each([
    ['in UTF-16', new Uint8Array([0xff, 0xfe, 0x7b, 0x00]), 1, 1],
    ['in Latin-1', Buffer.from('{\n"a": "é"}', 'latin1'), 2, 7],
    ['cut off in a character', Buffer.from('{}\r\n\n"é').subarray(0, -1), 3, 2],
  ])('refuses a file %s, and tells where it is not UTF-8', async (_what, bytes, line, column) => {
    const error = await errorOf(readRules(fileOf('bytes.json', bytes)))
    expect(error.faults).toMatchObject([{ path: '', bound: 'text in UTF-8', line, column }])
  })

  it('refuses an empty file', async () => {
    for (const content of ['', '\ufeff', ' \n', '\n\n']) {
      for (const name of ['empty.json', 'empty.yaml']) {
        const error = await errorOf(readRules(fileOf(name, content)))
        expect(error.faults, name).toMatchObject([{ path: '', line: expect.any(Number), column: expect.any(Number) }])
      }
    }
  })
})

describe('parseRules', () => {
  it('names line and column, and the file where it is given', async () => {
    const text = '{\n  "degrade": [],\n  "degrade": {}\n}'
    const bare = await errorOf(parseRules(text, { format: 'json' }))
    expect(bare.file).toBeUndefined()
    expect(bare.message).toMatch(
      /^2 faults in the rules, nothing was applied:\n {2}- line 3, column 3: degrade: must be/,
    )
    const named = await errorOf(parseRules(text, { format: 'json', file: 'rules.json' }))
    expect(named.file).toBe('rules.json')
    expect(named.message.match(/rules\.json:3:3: /g)).toHaveLength(2)
    expect(named.faults.map(({ value }) => value)).toEqual([{}, {}])
  })

  it('counts columns in UTF-16 units after the byte order mark', async () => {
    const { faults } = await errorOf(parseRules('\ufeff{"\u{1f600}": 1, "x": 2}', { format: 'json' }))
    expect(faults.map(({ column }) => column)).toEqual([2, 11])
  })

  it('does not tell twice of what could not be read', async () => {
    const text = 'degrade:\n  - !mine {resource: a}\n  - resource: b\n    strategy: error-ratio\n    threshold: *half\n'
    const { faults } = await errorOf(parseRules(text, { format: 'yaml' }))
    expect(faults.map(({ path, line }) => [path, line])).toEqual([
      ['degrade[0]', 2],
      ['degrade[1].threshold', 5],
    ])
  })

  it.each<RuleFormat>(['json', 'yaml'])('finds hostile names and numbers in %s', async (format) => {
    const text =
      '{"degrade": [{"__proto__": 1, "a.b[0]": 2, "": 3, "resource": "r", "threshold": 1e999}], "": 4, "a\\nb": 5}'
    const { faults } = await errorOf(parseRules(text, { format }))
    const at = Object.fromEntries(faults.map(({ path, column }) => [path, column]))
    expect(at).toEqual({
      'degrade[0].__proto__': text.indexOf('"__proto__"') + 1,
      'degrade[0].a.b[0]': text.indexOf('"a.b[0]"') + 1,
      'degrade[0].': text.indexOf('"": 3') + 1,
      'degrade[0].strategy': text.indexOf('{"__proto__"') + 1,
      'degrade[0].threshold': text.indexOf('"threshold"') + 1,
      '': 1,
      'a\nb': text.indexOf('"a\\nb"') + 1,
    })
  })

  it('wants a text and a format', async () => {
    for (const options of [undefined, {}, { format: 'toml' }, { format: 'JSON' }]) {
      await expect(parseRules('{}', options as never)).rejects.toMatchObject({ code: 'ERR_INVALID_ARGUMENT' })
    }
    await expect(parseRules(Buffer.from('{}') as never, { format: 'json' })).rejects.toThrow(TypeError)
  })
})

describe('the optional peer', () => {
  const missing = (code: string, message: string) => () => Promise.reject(Object.assign(new Error(message), { code }))

  it('that is not installed is missed by its name', async () => {
    const esm = missing('ERR_MODULE_NOT_FOUND', "Cannot find package 'yaml' imported from /app/index.js")
    const cjs = missing('MODULE_NOT_FOUND', "Cannot find module 'yaml'\nRequire stack: ...")
    for (const load of [esm, cjs]) {
      const error = await loadYaml(load).catch((reason: unknown) => reason)
      expect(error).toMatchObject({
        code: 'ERR_PEER_MISSING',
        message: expect.stringContaining("'yaml'"),
        cause: { code: expect.stringContaining('MODULE_NOT_FOUND') },
      })
    }
  })

  it('of another version is told', async () => {
    await expect(loadYaml(() => Promise.resolve({} as Yaml))).rejects.toMatchObject({
      code: 'ERR_PEER_MISSING',
      message: expect.stringContaining('version 2'),
    })
  })

  it('that cannot be loaded for another reason rejects with that', async () => {
    const other = missing('ERR_MODULE_NOT_FOUND', "Cannot find package 'other' imported from /app/node_modules/yaml")
    await expect(loadYaml(other)).rejects.toMatchObject({ code: 'ERR_MODULE_NOT_FOUND' })
    await expect(loadYaml(() => Promise.reject(new SyntaxError('x')))).rejects.toThrow(SyntaxError)
  })

  it('is not asked for JSON, and is found for YAML', async () => {
    expect(await parseRules(JSON_RULES, { format: 'json' })).toEqual(await parseRules(YAML_RULES, { format: 'yaml' }))
  })
})
