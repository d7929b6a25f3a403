// Reads the documentation as text: pages, fenced blocks, tables, headings, links. Knows nothing of what they say.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../../', import.meta.url))

export interface Page {
  /** Path from the root of the repository, with slashes. */
  readonly path: string
  readonly text: string
}

export interface Block {
  readonly page: string
  /** Line of the page on which the code begins, from 1. */
  readonly line: number
  readonly lang: string
  /** The file whose text this is, from the root of the repository: the second word of the fence. */
  readonly file?: string | undefined
  readonly code: string
}

/** A row of a table: its cells by column name, as they are written. */
export type Row = Readonly<Record<string, string>>

export function readPage(path: string): Page {
  return { path, text: readFileSync(join(ROOT, path), 'utf8') }
}

/** README, CHANGELOG and every page under docs/. */
export function allPages(): Page[] {
  const docs = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name.split(sep).join('/')}`)
  return ['README.md', 'CHANGELOG.md', ...docs.sort()].map(readPage)
}

export function blocksOf({ path, text }: Page): Block[] {
  const blocks: Block[] = []
  let open: { line: number; lang: string; file: string | undefined; code: string[] } | undefined
  text.split('\n').forEach((line, i) => {
    const fence = /^\s*```(.*)$/.exec(line)
    if (fence === null) open?.code.push(line)
    else if (open === undefined) {
      const [lang = '', file] = (fence[1] as string).trim().split(/\s+/)
      open = { line: i + 2, lang, file, code: [] }
    } else {
      const { line, lang, file, code } = open
      blocks.push({ page: path, line, lang, file, code: code.join('\n') })
      open = undefined
    }
  })
  if (open !== undefined) throw new Error(`${path}:${open.line}: the block is never closed`)
  return blocks
}

/** Rows of the first table under a heading (given without its `#`). */
export function tableUnder({ path, text }: Page, heading: string): Row[] {
  const lines = text.split('\n')
  const from = lines.findIndex((line) => /^#+ /.test(line) && line.replace(/^#+ /, '') === heading)
  if (from < 0) throw new Error(`${path} has no heading '${heading}'`)
  const first = lines.findIndex((line, i) => i > from && line.startsWith('|'))
  if (first < 0) throw new Error(`${path} has no table under '${heading}'`)
  const after = lines.findIndex((line, i) => i > first && !line.startsWith('|'))
  const [head, , ...rows] = lines.slice(first, after < 0 ? undefined : after).map(cells)
  return rows.map((row) => Object.fromEntries((head as string[]).map((name, i) => [name, row[i] ?? ''])))
}

function cells(line: string): string[] {
  return line
    .trim()
    .replace(/^\||\|$/g, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll('\\|', '|'))
}

/** What stands in backticks in a cell or sentence. */
export function codeSpans(text: string): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map((match) => match[1] as string)
}

/** Names in the first column of a table: the first code span of each row. */
export function namesIn(rows: readonly Row[], column: string): string[] {
  return rows.map((row) => codeSpans(row[column] ?? '')[0] ?? `no name in: ${JSON.stringify(row)}`)
}

/** Relative links of a page that lead nowhere: to no file, or to no heading of a page. */
export function deadLinks(page: Page): string[] {
  return linksOf(page).filter((link) => {
    const [path, anchor] = link.split('#') as [string, string | undefined]
    const target = path === '' ? page.path : relative(ROOT, join(ROOT, dirname(page.path), path))
    if (path !== '' && (target.startsWith('..') || !existsSync(join(ROOT, target)))) return true
    return anchor !== undefined && !anchorsOf(path === '' ? page : readPage(target)).includes(anchor)
  })
}

export function linksOf({ text }: Page): string[] {
  return [...withoutCode(text).matchAll(/\]\(([^)\s]+)\)/g)]
    .map((match) => match[1] as string)
    .filter((link) => !/^[a-z]+:/.test(link))
}

/** Anchors as GitHub makes them of headings. */
function anchorsOf({ text }: Page): string[] {
  return withoutCode(text, /```[\s\S]*?```/g)
    .split('\n')
    .filter((line) => /^#+ /.test(line))
    .map((line) =>
      line
        .replace(/^#+ /, '')
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    )
}

function withoutCode(text: string, code = /```[\s\S]*?```|`[^`\n]*`/g): string {
  return text.replace(code, '')
}
