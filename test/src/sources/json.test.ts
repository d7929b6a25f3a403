// The reader of JSON against JSON.parse: what one takes the other takes, and both make the same of it.
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { readJson } from '../../../src/sources/json.js'

vi.setConfig({ testTimeout: 60_000 })

type Verdict = { value: unknown } | 'refused'

function byParse(text: string): Verdict {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return 'refused'
  }
}

function byReader(text: string): Verdict {
  const { value, complaints } = readJson(text)
  return complaints.some(({ fault }) => fault.value === undefined) ? 'refused' : { value }
}

/** Agrees with JSON.parse, own `__proto__` members, order of members and -0 included. Returns whether the text was taken. */
function agrees(text: string): boolean {
  const expected = byParse(text)
  const seen = byReader(text)
  // Not toStrictEqual, which takes a member named constructor for a class.
  expect(isDeepStrictEqual(seen, expected), JSON.stringify(text)).toBe(true)
  if (expected === 'refused' || seen === 'refused') return false
  expect(JSON.stringify(seen.value)).toBe(JSON.stringify(expected.value))
  return true
}

const space = fc.stringMatching(/^[ \t\r\n]{0,3}$/)
const anyString = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 8 }),
  fc.string({
    unit: fc.constantFrom('\ud800', '\udc00', '\u2028', '"', '\\', '/', '\u0000', 'é', '\u{1f600}'),
    maxLength: 8,
  }),
  fc.constantFrom('__proto__', 'constructor', 'length', ''),
)
const anyNumber = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((x) => JSON.stringify(x)),
  fc.constantFrom('-0', '1e999', '-1E+999', '1e-999', '0.1e0', `1${'0'.repeat(400)}`, `0.${'0'.repeat(400)}1`),
  fc
    .tuple(fc.bigInt(), fc.bigInt({ min: 0n }), fc.integer({ min: -400, max: 400 }))
    .map(([a, b, e]) => `${a}.${b}e${e}`),
)
const literal = fc.oneof(
  anyNumber,
  fc.constantFrom('true', 'false', 'null'),
  anyString.map((text) => JSON.stringify(text)),
  anyString.map((text) => `"${[...text].map((c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')}"`),
)
/** Texts that are JSON, with white space anywhere and keys that repeat. */
const { json } = fc.letrec<{ json: string; list: string; object: string }>((tie) => ({
  json: fc
    .tuple(space, fc.oneof({ depthSize: 'small' }, literal, tie('list'), tie('object')), space)
    .map((parts) => parts.join('')),
  list: fc.tuple(space, fc.array(tie('json'), { maxLength: 4 })).map(([gap, items]) => `[${gap}${items.join(',')}]`),
  object: fc
    .tuple(space, fc.array(fc.tuple(space, anyString, space, tie('json')), { maxLength: 4 }))
    .map(([gap, members]) => `{${gap}${members.map(([a, k, b, v]) => `${a}${JSON.stringify(k)}${b}:${v}`).join(',')}}`),
}))
/** One piece of a text cut out, doubled or replaced: almost JSON. */
const nearJson = fc
  .tuple(json, fc.nat(), fc.nat(3), fc.constantFrom('', ...'{}[]",:\\/+-.eE01tfnu x\t\n\u0000\ufeff\ud800\u00a0'))
  .map(([text, from, length, put]) => {
    const at = from % (text.length + 1)
    return text.slice(0, at) + put + text.slice(at + length)
  })
const soup = fc.array(fc.constantFrom(...'{}[]",:\\-.e0a \n', 'true', 'null', '"a"', '\\u0061', '1', '\ufeff'), {
  maxLength: 12,
})

describe('readJson agrees with JSON.parse', () => {
  it('on texts that are JSON', () => {
    fc.assert(
      fc.property(json, (text) => {
        expect(agrees(text)).toBe(true)
      }),
      { numRuns: 1000 },
    )
  })

  it('on texts that are almost JSON, taken and refused ones', () => {
    const verdicts = { true: 0, false: 0 }
    fc.assert(
      fc.property(nearJson, (text) => {
        verdicts[`${agrees(text)}`]++
      }),
      { numRuns: 3000 },
    )
    expect(Math.min(verdicts.true, verdicts.false)).toBeGreaterThan(300)
  })

  it('on a soup of what JSON is made of', () => {
    let taken = 0
    fc.assert(
      fc.property(soup, (parts) => {
        if (agrees(parts.join(''))) taken++
      }),
      { numRuns: 4000 },
    )
    expect(taken).toBeGreaterThan(40)
  })

  it('on the edges of the grammar', () => {
    const taken = [
      '0',
      '-0',
      '1E5',
      '[]',
      '{}',
      '""',
      ' null ',
      '"\u007f\u2028"',
      '"\\ud800"',
      '"\ud800"',
      '{"__proto__": {}}',
    ]
    const refused = [
      ...[
        '',
        ' ',
        '\ufeff1',
        '1\ufeff',
        '\u00a01',
        '01',
        '+1',
        '.5',
        '1.',
        '-',
        '1e',
        '1e+',
        '0x1',
        'NaN',
        'Infinity',
        '-Infinity',
      ],
      ...[
        '[1,]',
        '[,1]',
        '[1 2]',
        '{,}',
        '{"a"}',
        '{"a":}',
        '{"a":1,}',
        '{a:1}',
        "{'a':1}",
        '{"a":1 "b":2}',
        '[',
        '{',
        ']',
        '{"a"',
      ],
      ...[
        '"',
        '"\n"',
        '"\\',
        '"\\a"',
        '"\\u00g0"',
        '"\\u00',
        "'a'",
        'True',
        'nul',
        'undefined',
        '1 1',
        '[]]',
        '{}//',
        '/**/1',
      ],
    ]
    for (const text of taken) expect(agrees(text), text).toBe(true)
    for (const text of refused) expect(agrees(text), text).toBe(false)
  })

  it('however deep a text nests', () => {
    const depth = 50_000
    const lists = '['.repeat(depth)
    const objects = '{"a":'.repeat(depth)
    expect(byReader(lists)).toBe('refused')
    let { value } = readJson(`${objects}${lists}${']'.repeat(depth)}${'}'.repeat(depth)}`)
    let seen = 0
    for (; value !== undefined; seen++) value = Object.values(value as object)[0]
    expect(seen).toBe(2 * depth)
  })
})

describe('a text that is not JSON', () => {
  it.each([
    ['', 0, 'not JSON: expected a value, got the end of the text'],
    ['{"a": [1,\n2}', 11, `not JSON: expected ',' or ']', got "}"`],
    ['{"a": 1,}', 8, 'not JSON: expected a key in double quotes, got "}"'],
    ['{"a" 1}', 5, `not JSON: expected ':', got "1"`],
    ['{} {}', 3, 'not JSON: expected the end of the text, got "{"'],
    ['["a\tb"]', 3, 'not JSON: expected no control character, got "\\t"'],
    ['["a\\x"]', 3, 'not JSON: expected an escape that JSON knows, got "\\\\"'],
    ['["a', 3, 'not JSON: expected a closing double quote, got the end of the text'],
    ['[\u{1f600}]', 1, 'not JSON: expected a value, got "\u{1f600}"'],
  ])('%j is complained of once, where it stops being JSON', (text, at, message) => {
    const { value, complaints } = readJson(text)
    expect(value).toBeUndefined()
    expect(complaints).toMatchObject([{ at, fault: { path: '', value: undefined, message } }])
  })
})

describe('a key that stands twice', () => {
  it('is complained of at its second place, with its path, and the last value holds', () => {
    const text = '{"a": [0, {"b": 1, "c": 2, "b": 3, "b": 4}], "a": [5], "d": {}}'
    const { value, complaints } = readJson(text)
    expect(value).toEqual({ a: [5], d: {} })
    expect(complaints.map(({ fault, at }) => [fault.path, fault.value, text.slice(at, at + 3)])).toEqual([
      ['a[1].b', 3, '"b"'],
      ['a[1].b', 4, '"b"'],
      ['a', [5], '"a"'],
    ])
    expect(complaints.map(({ at }) => at)).toEqual([27, 35, 45])
  })

  it('is told from the same key elsewhere, and written with an escape it is the same key', () => {
    expect(readJson('{"a": {"a": [{"a": 1}, {"a": 1}]}}').complaints).toEqual([])
    expect(readJson('{"a": 1, "\\u0061": 2, "__proto__": 3, "__proto__": 4}').complaints).toMatchObject([
      { fault: { path: 'a', value: 2 } },
      { fault: { path: '__proto__', value: 4 } },
    ])
  })
})

describe('places', () => {
  it('are those of keys and items, for every path of a text', () => {
    const members = fc.dictionary(fc.stringMatching(/^[a-z.[\]0-9]{1,3}$/), fc.integer(), { maxKeys: 4 })
    fc.assert(
      fc.property(fc.array(members), space, (list, gap) => {
        const text = `${gap}{"degrade":${gap}${JSON.stringify(list)}}`
        const { value, places } = readJson(text)
        const at = (path: string) => places.find(value, gap.length, path)
        expect(text.startsWith('{', at(''))).toBe(true)
        expect(text.startsWith('"degrade"', at('degrade'))).toBe(true)
        let from = text.indexOf('[')
        list.forEach((item, i) => {
          const place = at(`degrade[${i}]`)
          expect(place).toBe(from + 1)
          for (const key of Object.keys(item)) {
            const memberAt = at(`degrade[${i}].${key}`)
            expect(text.startsWith(`${JSON.stringify(key)}:`, memberAt)).toBe(true)
            expect(memberAt > place && memberAt < place + JSON.stringify(item).length).toBe(true)
          }
          from = place + JSON.stringify(item).length
        })
      }),
    )
  })

  it('of what is absent are those of what is around it', () => {
    const text = '  {"degrade": [{"a": 1}]}'
    const { value, places } = readJson(text)
    const seen = ['degrade[0].b', 'degrade[1]', 'degrade[0].a.c', 'flow[0]', 'degrade.x', 'degrade[0]'].map((path) =>
      places.find(value, 2, path),
    )
    expect(seen).toEqual([15, 3, 16, 2, 3, 15])
  })
})
