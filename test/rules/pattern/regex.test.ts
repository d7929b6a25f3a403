// Regular expressions of patterns against the RegExp of the engine, flag u.
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { compilePattern, MAX_NAME, MAX_PATTERN, MAX_PROGRAM, type Program } from '../../../rules/pattern/index.js'

// Thousands of random patterns; more than enough on a slow machine.
vi.setConfig({ testTimeout: 60_000 })

function program(text: string): Program {
  const compiled = compilePattern('regex', text)
  if (typeof compiled === 'string') throw new Error(`${text}: ${compiled}`)
  return compiled
}

function native(text: string): RegExp | undefined {
  try {
    return new RegExp(text, 'uy')
  } catch {
    return undefined
  }
}

/**
 * `expression.test(name)` by the standard: asked at each character. Left to search by itself, V8 also looks between the two halves of one, and
 * finds `/\\B/u` in 'a\u{1f600}a'.
 */
function found(expression: RegExp, name: string): boolean {
  for (let at = 0; at <= name.length; at += (name.codePointAt(at) ?? 0) > 0xffff ? 2 : 1) {
    expression.lastIndex = at
    if (expression.test(name)) return true
  }
  return false
}

const UNSUPPORTED = /not supported|groups are supported/

describe('regular expressions', () => {
  const name = fc.string({
    unit: fc.constantFrom('a', 'b', 'A', '0', '_', '-', '/', ' ', '\n', '\u2028', '\u00e9', '\u{1f600}', '\ud83d'),
    maxLength: 8,
  })

  it('accept and match what RegExp accepts and matches, in well-formed expressions', () => {
    const { node } = fc.letrec<{ node: string }>((tie) => ({
      node: fc.oneof(
        { maxDepth: 4, depthSize: 'small' },
        fc.constantFrom('a', 'b', '.', '\\d', '\\W', '\\s', '\\S', '\\D', '[^a]', '[a-b0]', '[\\w-]', '\\u{1f600}'),
        fc.constantFrom(
          '^',
          '$',
          '\\b',
          '\\B',
          '',
          '\\ud83d\\ude00',
          '[\\u{1f600}-\\u{1f610}]',
          '\\/',
          '[^]',
          '[]',
          '\\0',
        ),
        fc.array(tie('node'), { minLength: 1, maxLength: 3 }).map((of) => of.join('')),
        fc.array(tie('node'), { minLength: 1, maxLength: 3 }).map((of) => `(${of.join('|')})`),
        fc
          .tuple(tie('node'), fc.constantFrom('*', '+', '?', '*?', '+?', '{2}', '{0}', '{1,}', '{0,2}', '{1,3}?'))
          .map(([of, q]) => `(?:${of})${q}`),
      ),
    }))
    let matched = 0
    let unmatched = 0
    fc.assert(
      fc.property(node, fc.array(name, { minLength: 1, maxLength: 6 }), (text, names) => {
        const ours = program(text)
        const theirs = new RegExp(text, 'uy')
        for (const n of names) {
          const expected = found(theirs, n)
          if (expected) matched++
          else unmatched++
          expect(ours.test(n), `${text} on ${JSON.stringify(n)}`).toBe(expected)
        }
      }),
      { numRuns: 3000 },
    )
    expect(Math.min(matched, unmatched)).toBeGreaterThan(500)
  })

  it('refuse what RegExp refuses, in any text', () => {
    const piece = fc.constantFrom(
      ...'ab^$\\.*+?()[]{}|/-,0123k:<>=!dwsbBDSWcxu'.split(''),
      '(?',
      '(?:',
      '(?<n>',
      '\\u',
      '\\x4',
      '\\x41',
      '{1,2}',
      '\\u{',
      '[^',
      '\\-',
    )
    const counts = { both: 0, neither: 0, unsupported: 0 }
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), name, (pieces, n) => {
        const text = pieces.join('')
        const theirs = native(text)
        const ours = compilePattern('regex', text)
        if (typeof ours === 'string') {
          if (UNSUPPORTED.test(ours)) counts.unsupported++
          else {
            counts.neither++
            expect(theirs, `${text}: ${ours}`).toBeUndefined()
          }
          return
        }
        counts.both++
        expect(theirs, text).toBeDefined()
        expect(ours.test(n), `${text} on ${JSON.stringify(n)}`).toBe(theirs !== undefined && found(theirs, n))
      }),
      { numRuns: 10_000 },
    )
    for (const count of Object.values(counts)) expect(count).toBeGreaterThan(200)
  })

  it.each([
    ['(?=a)', 'lookahead and lookbehind are not supported (at character 1)'],
    ['a(?!b)', 'lookahead and lookbehind are not supported (at character 2)'],
    ['(?<=a)', 'lookahead and lookbehind are not supported (at character 1)'],
    ['(?<!a)', 'lookahead and lookbehind are not supported (at character 1)'],
    ['(a)\\1', 'backreferences are not supported (at character 4)'],
    ['\\k<n>', 'backreferences are not supported (at character 1)'],
    ['\\p{L}', 'property escapes are not supported (at character 1)'],
    ['a(b', 'a group is not closed (at character 2)'],
    ['a)b', "unmatched ')' (at character 2)"],
    ['[ab', 'a character class is not closed (at character 1)'],
    ['[a-', 'a character class is not closed (at character 1)'],
    ['[b-a]', 'a range of characters is out of order (at character 2)'],
    ['[\\d-z]', 'a range between classes of characters (at character 2)'],
    ['*a', 'nothing to repeat (at character 1)'],
    ['a**', 'nothing to repeat (at character 3)'],
    ['^*', 'an assertion cannot be repeated (at character 2)'],
    ['a{2,1}', 'the numbers of a repetition are out of order (at character 1)'],
    ['a{2', 'an incomplete repetition (at character 2)'],
    ['}', "a lone '}' must be escaped (at character 1)"],
    ['\\q', 'a bad escape (at character 1)'],
    ['a\\', 'a bad escape (at character 2)'],
    ['\\u{110000}', 'a character past the last one (at character 1)'],
    ['(?<1>a)', 'a group has a bad name (at character 4)'],
    ['(?<n>a)(?<n>b)', "two groups are named 'n' (at character 11)"],
    ['(?i:a)', "only '(?:' and '(?<name>' groups are supported (at character 1)"],
    ['[\\B]', 'this escape has no place in a character class (at character 2)'],
  ])('say what is wrong with %s', (text, message) => {
    expect(compilePattern('regex', text)).toBe(message)
  })

  it('find a name anywhere unless they are anchored', () => {
    expect(program('b').test('abc')).toBe(true)
    expect(program('^b').test('abc')).toBe(false)
    expect(program('^GET /users/\\d+$').test('GET /users/17')).toBe(true)
    expect(program('^GET /users/\\d+$').test('GET /users/17/orders')).toBe(false)
  })
})

describe('the work of a match', () => {
  it.each(['(a+)+$', '(a|aa)+$', '^(a|a?)+$', '(.*)*x', '(.*.*.*)*x', '^(([a-z])+.)+[A-Z]([a-z])+$', '(a*)*b'])(
    'of %s is at most its size times the length of the name',
    (text) => {
      const ours = program(text)
      const long = `${'a'.repeat(MAX_NAME - 1)}!`
      expect(ours.test(long)).toBe(false)
      expect(ours.steps).toBeGreaterThan(MAX_NAME)
      expect(ours.steps).toBeLessThanOrEqual(ours.size * (MAX_NAME + 1))
    },
  )

  it('ends at the first place that decides', () => {
    const ours = program('^a')
    expect(ours.test(`a${'b'.repeat(1000)}`)).toBe(true)
    expect(ours.steps).toBeLessThan(10)
  })

  it('is not begun for names that are too long', () => {
    const ours = program('a')
    expect(ours.test('a'.repeat(MAX_NAME))).toBe(true)
    expect(ours.test('a'.repeat(MAX_NAME + 1))).toBe(false)
    expect(ours.steps).toBe(0)
  })

  it('looks for no place between the two halves of a character', () => {
    expect(program('\\B').test('a\u{1f600}a')).toBe(false)
    expect(program('\\B').test('\u{1f600}')).toBe(true)
  })

  it('is bounded by the size of the pattern', () => {
    expect(program(`a{${MAX_PROGRAM - 1}}`).size).toBe(MAX_PROGRAM)
    expect(compilePattern('regex', `a{${MAX_PROGRAM}}`)).toMatch(/more than 2000 instructions/)
    expect(compilePattern('regex', '((a{1000}){1000}){1000}')).toMatch(/more than 2000 instructions/)
    expect(compilePattern('regex', '(a|){99999999999}')).toMatch(/more than 2000 instructions/)
    expect(program('((){99999999999}){99999999999}').test('')).toBe(true)
    expect(program('a'.repeat(MAX_PATTERN)).test('a'.repeat(MAX_PATTERN))).toBe(true)
    expect(compilePattern('regex', 'a'.repeat(MAX_PATTERN + 1))).toBe('it is longer than 1000 characters')
  })

  it('needs no deep stack for deep patterns', () => {
    expect(program(`${'('.repeat(499)}a${')'.repeat(499)}`).test('xxa')).toBe(true)
    expect(program('(a|b|c|d|e|f|g|h)*?x|'.repeat(40)).test('q')).toBe(true)
  })
})
