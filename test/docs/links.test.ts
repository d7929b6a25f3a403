// Every link of a page leads somewhere, and the lists of pages and files are complete.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { allPages, blocksOf, deadLinks, linksOf, ROOT, readPage, tableUnder } from './pages.js'

it('every relative link leads to a file, and to a heading where it names one', () => {
  const pages = allPages()
  expect(pages.flatMap(linksOf).length).toBeGreaterThan(20)
  expect(pages.flatMap((page) => deadLinks(page).map((link) => `${page.path}: ${link}`))).toEqual([])
})

it('a dead link is noticed, whether file or heading', () => {
  const text = [
    '# The page itself',
    '[a](../LICENSE) [b](start.md#install) [c](#the-page-itself) [d](https://nodejs.org)',
    '[e](nowhere.md) [f](start.md#nowhere) [g](#nowhere) [h](../../outside.md)',
    '`[i](in-code.md)`',
  ].join('\n')
  expect(deadLinks({ path: 'docs/page.md', text })).toEqual([
    'nowhere.md',
    'start.md#nowhere',
    '#nowhere',
    '../../outside.md',
  ])
})

it('the index of decisions lists every record, and each has its parts', () => {
  const records = readdirSync(join(ROOT, 'docs/decisions'))
    .filter((name) => /^\d{4}-/.test(name))
    .sort()
  expect(linksOf(readPage('docs/decisions/README.md')).filter((link) => /^\d/.test(link))).toEqual(records)
  for (const [i, name] of records.entries()) {
    const { text } = readPage(`docs/decisions/${name}`)
    const headings = [...text.matchAll(/^#+ (.*)$/gm)].map((match) => match[1] as string)
    expect(name, 'numbered without a gap').toMatch(new RegExp(`^${String(i + 1).padStart(4, '0')}-`))
    expect(headings[0]).toMatch(new RegExp(`^${name.slice(0, 4)} `))
    expect(headings, name).toEqual(
      expect.arrayContaining(['Context', 'Options', 'Decision', 'Consequences', 'What would change it']),
    )
  }
})

it('the glossary has each word once, in order', () => {
  const words = tableUnder(readPage('docs/glossary.md'), 'Glossary').map(({ word }) => word?.toLowerCase())
  expect(words.length).toBeGreaterThan(40)
  expect(words).toEqual([...new Set(words)].sort())
})

it('the rooms of the architecture page are the source files', () => {
  const [rooms] = blocksOf(readPage('docs/internals/architecture.md'))
  let folder = ''
  const listed: string[] = []
  for (const line of rooms?.code.split('\n') ?? []) {
    folder = /^(\w+\/)/.exec(line)?.[1] ?? folder
    const file = /^ {2}([\w/-]+\.ts)/.exec(line)?.[1]
    if (file !== undefined) listed.push(folder + file)
  }
  const files = ['windows', 'rules', 'src'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => `${folder}/${name}`),
  )
  expect(listed.sort()).toEqual(files.sort())
})
