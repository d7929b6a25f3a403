// Globs against a naive recursive matcher, and by examples.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compilePattern, type Program } from '../../../rules/pattern/index.js'

function program(text: string): Program {
  const compiled = compilePattern('glob', text)
  if (typeof compiled === 'string') throw new Error(`${text}: ${compiled}`)
  return compiled
}

type Piece =
  | { kind: 'text'; text: string }
  | { kind: 'run' | 'deep' | 'one' }
  | { kind: 'class'; members: string[]; negated: boolean }
  | { kind: 'choice'; of: Piece[][] }

function written(pieces: readonly Piece[]): string {
  return pieces
    .map((p) => {
      if (p.kind === 'text') return p.text.replace(/[*?[\]{},\\]/g, '\\$&')
      if (p.kind === 'class') return `[${p.negated ? '!' : ''}${p.members.join('')}]`
      if (p.kind === 'choice') return `{${p.of.map(written).join(',')}}`
      return { run: '*', deep: '**', one: '?' }[p.kind]
    })
    .join('')
}

/** Does some way of reading the pieces use up the characters? Tries everything. */
function naive(pieces: readonly Piece[], chars: readonly string[]): boolean {
  const [piece, ...rest] = pieces
  if (piece === undefined) return chars.length === 0
  if (piece.kind === 'choice') return piece.of.some((choice) => naive([...choice, ...rest], chars))
  if (piece.kind === 'text') {
    const text = [...piece.text]
    return text.every((c, i) => chars[i] === c) && naive(rest, chars.slice(text.length))
  }
  if (piece.kind === 'run' || piece.kind === 'deep') {
    for (let n = 0; n <= chars.length; n++) {
      if (piece.kind === 'run' && chars.slice(0, n).includes('/')) return false
      if (naive(rest, chars.slice(n))) return true
    }
    return false
  }
  const [c] = chars
  if (c === undefined) return false
  if (piece.kind === 'one') return c !== '/' && naive(rest, chars.slice(1))
  if (piece.kind !== 'class') return false
  const fits = piece.negated ? c !== '/' && !piece.members.includes(c) : piece.members.includes(c)
  return fits && naive(rest, chars.slice(1))
}

describe('globs', () => {
  it('match as a matcher that tries everything does', () => {
    const letter = fc.constantFrom('a', 'b', '/', '*', '\u{1f600}', '-')
    const { pieces } = fc.letrec<{ pieces: Piece[]; piece: Piece }>((tie) => ({
      pieces: fc
        .array(tie('piece'), { maxLength: 5 })
        // Two runs side by side would read as one deep run.
        .filter(
          (list) => !list.some((p, i) => 'run deep'.includes(p.kind) && 'run deep'.includes(list[i + 1]?.kind ?? '-')),
        ),
      piece: fc.oneof(
        { maxDepth: 2 },
        fc.string({ unit: letter, minLength: 1, maxLength: 3 }).map((text): Piece => ({ kind: 'text', text })),
        fc.constantFrom<Piece>({ kind: 'run' }, { kind: 'deep' }, { kind: 'one' }),
        fc.record({
          kind: fc.constant('class' as const),
          members: fc.uniqueArray(fc.constantFrom('a', 'b', '/', '\u{1f600}'), { minLength: 1, maxLength: 3 }),
          negated: fc.boolean(),
        }),
        fc.record({
          kind: fc.constant('choice' as const),
          of: fc.array(
            tie('pieces').filter((list) => ![list[0], list.at(-1)].some((p) => 'run deep'.includes(p?.kind ?? '-'))),
            { minLength: 2, maxLength: 3 },
          ),
        }),
      ),
    }))
    const name = fc.array(letter, { maxLength: 6 })
    let matched = 0
    fc.assert(
      fc.property(pieces, fc.array(name, { minLength: 1, maxLength: 6 }), (list, names) => {
        const ours = program(written(list))
        for (const chars of names) {
          const expected = naive(list, chars)
          if (expected) matched++
          expect(ours.test(chars.join('')), `${written(list)} on ${chars.join('')}`).toBe(expected)
        }
      }),
      { numRuns: 3000 },
    )
    expect(matched).toBeGreaterThan(300)
  })

  it.each([
    ['user-*', 'user-service', true],
    ['user-*', 'user-', true],
    ['user-*', 'a user-service', false],
    ['GET /users/*', 'GET /users/17', true],
    ['GET /users/*', 'GET /users/17/orders', false],
    ['GET /users/**', 'GET /users/17/orders', true],
    ['* /health', 'GET /health', true],
    ['**', 'GET /anything\nat all', true],
    ['{GET,HEAD} /?', 'HEAD /a', true],
    ['{GET,HEAD} /?', 'POST /a', false],
    ['a{,b{c,d}}', 'abd', true],
    ['[a-c]', 'b', true],
    ['[!a-c]', 'b', false],
    ['[^a-c]', 'd', true],
    ['[!a]', '/', false],
    ['[]]', ']', true],
    ['[a-]', '-', true],
    ['[\\]]', ']', true],
    ['/users/\\{id}', '/users/{id}', true],
    ['\\*', '*', true],
    ['\\*', 'a', false],
    ['a,b}', 'a,b}', true],
    ['***', 'a/b', true],
    ['__proto__', '__proto__', true],
  ])('%s on %s: %s', (text, name, expected) => {
    expect(program(text).test(name)).toBe(expected)
  })

  it.each([
    ['a[b', "a '[' is not closed (at character 2)"],
    ['a[', "a '[' is not closed (at character 2)"],
    ['{a,{b,c}', "a '{' is not closed (at character 1)"],
    ['a\\', 'a backslash with nothing after it (at character 2)'],
    ['GET /users/{id}', "alternatives need a comma between them; a '{' itself is written \\{ (at character 12)"],
    ['{}', "alternatives need a comma between them; a '{' itself is written \\{ (at character 1)"],
    ['{a,{b}}', "alternatives need a comma between them; a '{' itself is written \\{ (at character 4)"],
    ['[b-a]', 'a range of characters is out of order (at character 3)'],
  ])('say what is wrong with %s', (text, message) => {
    expect(compilePattern('glob', text)).toBe(message)
  })
})
