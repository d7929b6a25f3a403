// Every example on a page runs, and is type-checked; every piece of JSON is JSON, and loads if it is a rule file.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createGuard, parseRules, type RuleSet } from 'leapguard'
import { describe, expect, it } from 'vitest'
import { allPages, type Block, blocksOf, ROOT, readPage } from './pages.js'
import { runBlock } from './run-block.js'
import { typeCheck } from './type-check.js'

const LANGUAGES = ['ts', 'json', 'yaml', 'sh', 'text', 'mermaid']
/** Pages that promise examples. */
const WITH_EXAMPLES = [
  'README.md',
  'docs/start.md',
  'docs/rule-files.md',
  'docs/rules/degrade.md',
  'docs/errors.md',
  'docs/writing-a-rule.md',
  'docs/circuit-breaker.md',
  'docs/testing.md',
  'docs/calls.md',
  'docs/from-cockatiel.md',
  'docs/from-opossum.md',
  'docs/concepts.md',
  'docs/which-rule.md',
  'docs/anti-patterns.md',
]

const blocks = allPages().flatMap(blocksOf)
/** Those that are no file of the repository: each runs by itself. Files are run by the tests of what they are. */
const examples = blocks.filter(({ lang, file }) => lang === 'ts' && file === undefined)

function example(code: string): Block {
  return { page: 'PAGE.md', line: 10, lang: 'ts', code }
}

describe('the examples', () => {
  it.each(examples.map((block) => ({ name: `${block.page}:${block.line}`, block })))(
    '$name runs',
    async ({ block }) => {
      await runBlock(block)
    },
  )

  it('stand on every page that promises some', () => {
    for (const path of WITH_EXAMPLES) {
      expect(
        examples.some(({ page }) => page === path),
        path,
      ).toBe(true)
    }
  })

  it('wait for no real time', () => {
    for (const { page, line, code } of examples) {
      expect(code, `${page}:${line}`).not.toMatch(/\bsetTimeout\b|\bsetInterval\b|Date\.now|performance\.now/)
    }
  })

  it('are marked ts, so that none of them escapes the checks', () => {
    expect(blocks.filter(({ lang }) => !LANGUAGES.includes(lang))).toEqual([])
  })

  // Real time: the compiler reads its own library first.
  it('are correct TypeScript, and a wrong one is noticed at its line', { timeout: 60_000 }, () => {
    const wrong = example("\n\nimport { entry } from 'leapguard'\nawait entry('users', 5)")
    const complaints = typeCheck([...examples, wrong])
    expect(complaints.filter((complaint) => !complaint.startsWith('PAGE.md'))).toEqual([])
    expect(complaints).toEqual([expect.stringMatching(/^PAGE\.md:13: .*'number'/)])
  })
})

describe('the runner of examples', () => {
  it('fails with an example that fails, and names its line', async () => {
    const block = example(
      "import assert from 'node:assert/strict'\nimport { stats } from 'leapguard'\n\nassert.equal(stats('a').totals.passed, 1)",
    )
    await expect(runBlock(block)).rejects.toThrow(/^PAGE\.md:13: /)
  })

  it('gives each example a default guard of its own', async () => {
    const block = example(
      "import assert from 'node:assert/strict'\nimport { entry, stats } from 'leapguard'\nassert.equal(stats('a').totals.passed, 0)\nawait entry('a', () => 1)",
    )
    await runBlock(block)
    await runBlock(block)
  })
})

describe('other blocks', () => {
  it('in JSON are JSON, and load if they are rules', () => {
    const inJson = blocks.filter(({ lang }) => lang === 'json')
    expect(inJson.length).toBeGreaterThan(0)
    for (const { page, line, code } of inJson) {
      const value: unknown = JSON.parse(code)
      if (typeof value === 'object' && value !== null && 'degrade' in value) {
        expect(() => createGuard().loadRules(value as RuleSet), `${page}:${line}`).not.toThrow()
      }
    }
  })

  it('in YAML are rules that can be read', async () => {
    const inYaml = blocks.filter(({ lang }) => lang === 'yaml')
    expect(inYaml.length).toBeGreaterThan(0)
    for (const { page, line, code } of inYaml) {
      const { degrade } = await parseRules(code, { format: 'yaml', file: `${page} (block of line ${line})` })
      expect(degrade?.length, `${page}:${line}`).toBeGreaterThan(0)
    }
  })

  it('that show a file show what is in it', () => {
    const files = blocks.filter(({ file }) => file !== undefined)
    expect(files.length).toBeGreaterThan(0)
    for (const { page, line, file, code } of files) {
      expect(`${code}\n`, `${page}:${line}`).toBe(readFileSync(join(ROOT, file as string), 'utf8'))
    }
  })

  it('in sh name only scripts that exist', () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: object }
    const named = allPages()
      .flatMap(({ text }) => [...text.matchAll(/npm run ([\w:-]+)/g)])
      .map((match) => match[1] as string)
    expect(named).toContain('demo')
    for (const name of named) expect(Object.keys(scripts)).toContain(name)
  })

  it('are found with their lines, and an open one is an error', () => {
    const text = 'a\n```ts\nconst x = 1\n```\n```ts a.ts\n```\n'
    expect(blocksOf({ path: 'P.md', text })).toEqual([
      { page: 'P.md', line: 3, lang: 'ts', code: 'const x = 1' },
      { page: 'P.md', line: 6, lang: 'ts', file: 'a.ts', code: '' },
    ])
    expect(() => blocksOf({ path: 'P.md', text: '```ts\n' })).toThrow('P.md:2')
    expect(readPage('README.md').text).toContain('```ts')
  })
})
