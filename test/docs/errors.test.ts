// docs/errors.md and the table of codes in src/errors.ts say the same, in both directions.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { CODES } from '../../src/errors.js'
import { codeSpans, namesIn, ROOT, readPage, tableUnder } from './pages.js'

const page = readPage('docs/errors.md')
const errors = tableUnder(page, 'Errors')
const warnings = tableUnder(page, 'Warnings')
const rows = [...errors, ...warnings]

it('every code is on the page once, and the page names no other', () => {
  expect(namesIn(rows, 'code').sort()).toEqual(Object.keys(CODES).sort())
})

it('the page gives the meaning that the table of codes gives', () => {
  const meanings = rows.map((row) => [codeSpans(row.code as string)[0], row.meaning])
  expect(Object.fromEntries(meanings)).toEqual(CODES)
})

it('the page says of every code what to do', () => {
  for (const row of rows) expect(row['what to do'], row.code).toMatch(/\w.*\.$/)
})

it('errors and warnings stand in their own tables', () => {
  for (const name of namesIn(errors, 'code')) expect(name).toMatch(/^ERR_/)
  for (const name of namesIn(warnings, 'code')) expect(name).toMatch(/^LEAPGUARD_/)
})

it('the sources show no code that is not in the table', () => {
  const shown = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .flatMap((name) => readFileSync(join(ROOT, 'src', name), 'utf8').split('\n'))
    .filter((line) => !/^\s*(\*|\/\*|\/\/)/.test(line))
    .flatMap((line) => [...line.matchAll(/'((?:ERR|LEAPGUARD)_[A-Z_]+)'/g)].map((match) => match[1]))
  expect(shown).toContain('ERR_GUARD_DISPOSED')
  for (const code of shown) expect(Object.keys(CODES)).toContain(code)
})
