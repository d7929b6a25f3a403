// What of YAML is taken, what is refused, and where in the text it stands.
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import * as yaml from 'yaml'
import type { Yaml } from '../../../src/sources/peer.js'
import { readYaml } from '../../../src/sources/yaml.js'

vi.setConfig({ testTimeout: 60_000 })

/** Complaints as `line:column path: message`. */
function complaintsOf(text: string): string[] {
  return readYaml(text, yaml).complaints.map(({ fault, at }) => {
    const before = text.slice(0, at).split('\n')
    return `${before.length}:${(before.at(-1) as string).length + 1} ${fault.message}`
  })
}

function read(text: string): unknown {
  const { value, complaints } = readYaml(text, yaml)
  expect(complaints).toEqual([])
  return value
}

describe('readYaml', () => {
  it('reads what is written of JSON values as they are, in any style', () => {
    const style = fc.record({
      collectionStyle: fc.constantFrom('any' as const, 'block' as const, 'flow' as const),
      defaultStringType: fc.constantFrom('PLAIN' as const, 'QUOTE_DOUBLE' as const, 'QUOTE_SINGLE' as const),
      indent: fc.integer({ min: 1, max: 8 }),
    })
    const key = fc.oneof(fc.string(), fc.constantFrom('<<', '__proto__', 'yes', '1', 'null', '', 'a: b', '# a'))
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        fc.oneof(fc.string(), key, fc.integer(), fc.double({ noNaN: true }), fc.boolean(), fc.constant(null)),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(key, tie('value'), { maxKeys: 3 }),
      ),
    }))
    fc.assert(
      fc.property(value, style, (expected, { collectionStyle, defaultStringType, indent }) => {
        const text = yaml.stringify(expected, {
          collectionStyle,
          defaultStringType,
          defaultKeyType: 'QUOTE_DOUBLE',
          indent,
          aliasDuplicateObjects: false,
        })
        expect(JSON.stringify(read(text))).toBe(JSON.stringify(expected))
      }),
      { numRuns: 500 },
    )
  })

  it('takes the core schema of YAML 1.2: no dates, no yes and no, no octal by a zero', () => {
    const text = '[2001-01-01, yes, off, 010, 0o10, 0x10, 1e3, .5, ~, null, True, 1_000, 12:30, ! 5, !!str 5, !!int 5]'
    expect(read(text)).toEqual([
      ...['2001-01-01', 'yes', 'off', 10, 8, 16, 1000, 0.5, null, null, true, '1_000', '12:30', '5', '5', 5],
    ])
    expect(read('[.inf, -.inf, 1e999]')).toEqual([Infinity, -Infinity, Infinity]) // the rules refuse them
  })

  it('takes an absent value for null', () => {
    expect(read('')).toBeNull()
    expect(read('# only a comment\n')).toBeNull()
    expect(read('a:\nb: [{c}]\nd:\n  -\n')).toEqual({ a: null, b: [{ c: null }], d: [null] })
  })

  it('refuses every other tag, and a tag that does not fit', () => {
    const text = '- !!timestamp 2001-01-01\n- !!binary aGk=\n- {a: !mine {b: 1}}\n- !!set {a}\n- !!int x\n- !!map [1]\n'
    expect(complaintsOf(text)).toEqual([
      '1:15 [0]: must be of the core schema of YAML, got the tag tag:yaml.org,2002:timestamp',
      '2:12 [1]: must be of the core schema of YAML, got the tag tag:yaml.org,2002:binary',
      '3:13 [2].a: must be of the core schema of YAML, got the tag !mine',
      '4:9 [3]: must be of the core schema of YAML, got the tag tag:yaml.org,2002:set',
      '5:9 [4]: must be of the core schema of YAML, got the tag tag:yaml.org,2002:int',
      '6:9 [5]: must be of the core schema of YAML, got the tag tag:yaml.org,2002:map',
    ])
  })

  it('wants strings as keys', () => {
    expect(complaintsOf('a:\n  5: x\n  true: x\n  ~: x\n  ? [b]\n  : x\n  !!int 7: x\n  !!str 8: x\n')).toEqual([
      '2:3 a: must be a map with strings as keys, got the key 5',
      '3:3 a: must be a map with strings as keys, got the key true',
      '4:3 a: must be a map with strings as keys, got the key null',
      '5:5 a: must be a map with strings as keys, got another key',
      '7:9 a: must be a map with strings as keys, got the key 7',
    ])
    expect(read('{"5": 1, !!str 8: 2, __proto__: {a: 3}}')).toEqual(JSON.parse('{"5":1,"8":2,"__proto__":{"a":3}}'))
  })

  it('complains of a key that stands twice, at its second place; the last value holds', () => {
    const { value } = readYaml('a: 1\nb: {c: 1, "c": 2}\na: 3\n', yaml)
    expect(value).toEqual({ a: 3, b: { c: 2 } })
    expect(complaintsOf('a: 1\nb: {c: 1, "c": 2}\na: 3\n')).toEqual([
      '2:11 b.c: must be given once: this key stands above already, got 2',
      '3:1 a: must be given once: this key stands above already, got 3',
    ])
  })

  it('takes one document of version 1.2', () => {
    expect(read('%YAML 1.2\n---\na: 1\n...\n')).toEqual({ a: 1 })
    expect(complaintsOf('a: 1\n---\nb: 2\n')).toEqual(['2:1 the rules must be one YAML document, got a second one'])
    expect(complaintsOf('%YAML 1.1\n---\na: yes\n')).toEqual([
      '1:1 the rules must be YAML 1.2, got a directive for another version',
    ])
  })

  it('complains once of a text that is not YAML, where the peer says', () => {
    expect(complaintsOf('a: 1\n b: 2\nc: [\n')).toHaveLength(1)
    expect(complaintsOf('a:\n\t- b\n')).toEqual(['2:1 not YAML: Tabs are not allowed as indentation'])
    expect(complaintsOf('a: "b')).toEqual([expect.stringMatching(/^1:6 not YAML: .*"/)])
  })

  it('survives a peer that throws', () => {
    const Parser = class {
      parse() {
        throw new RangeError('Maximum call stack size exceeded')
      }
    }
    const { value, complaints } = readYaml('a: 1', { ...yaml, Parser } as unknown as Yaml)
    expect(value).toBeUndefined()
    expect(complaints).toMatchObject([{ at: 0, fault: { message: 'not YAML: Maximum call stack size exceeded' } }])
  })
})

describe('anchors and aliases', () => {
  it('are copied out: no two places are one object', () => {
    const value = read('a: &x {b: [1]}\nc: *x\nd: &y text\ne: *y\n') as Record<string, unknown>
    expect(value).toEqual({ a: { b: [1] }, c: { b: [1] }, d: 'text', e: 'text' })
    expect(value.c).not.toBe(value.a)
    expect((value.c as { b: unknown }).b).not.toBe((value.a as { b: unknown }).b)
  })

  it('mean the nearest anchor before them', () => {
    const text = '- &x 1\n- *x\n- &y [*x]\n- &x 2\n- [*x, *y]\n- {&x k: *x}\n'
    expect(read(text)).toEqual([1, 1, [1], 2, [2, [1]], { k: 'k' }])
  })

  it('are refused where nothing ends before them: unknown ones, and ones that hold themselves', () => {
    const refusal = (name: string) => `must be an alias of a value that ends before it, got *${name}`
    expect(complaintsOf('a: *x\nb: &x 1\n')).toEqual([`1:4 a: ${refusal('x')}`])
    expect(complaintsOf('a: &x [1, {b: *x}]\n')).toEqual([`1:15 a[1].b: ${refusal('x')}`])
    expect(complaintsOf('a: &x {b: &x {c: *x}}\n')).toEqual([`1:18 a.b.c: ${refusal('x')}`])
  })

  it('keep the place of what they copy, where the copy has none of its own', () => {
    const text = 'a: &x\n  b: 1\nc: *x\n'
    const { value, places } = readYaml(text, yaml)
    expect([places.find(value, 0, 'c'), places.find(value, 0, 'c.b')]).toEqual([text.indexOf('c:'), text.indexOf('b:')])
  })

  it('add no more than 100,000 values, however they multiply', () => {
    const lines = ['a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]']
    for (let i = 1; i < 20; i++)
      lines.push(
        `a${i}: &a${i} [${Array(10)
          .fill(`*a${i - 1}`)
          .join(', ')}]`,
      )
    const { complaints } = readYaml(lines.join('\n'), yaml)
    expect(complaints.map(({ fault }) => fault.bound)).toEqual(['one of 100000 values that aliases may add'])
    const thousand = `a: &a [${Array(999).fill(1).join(',')}]`
    const copies = (count: number) => `${thousand}\nb: [${Array(count).fill('*a').join(',')}]`
    expect((read(copies(100)) as { b: unknown[] }).b).toHaveLength(100)
    expect(readYaml(copies(101), yaml).complaints).toHaveLength(1)
  })
})

describe('merge keys', () => {
  it('fill in what a map does not say itself, the earlier of several first', () => {
    const text =
      'a: &a {x: 1, y: 1}\nb: &b {y: 2, z: 2}\nc: {<<: *a, y: 3}\nd: {<<: [*b, *a], w: 4}\ne: {y: 5, <<: {y: 6, v: 6}}\n'
    expect(read(text)).toMatchObject({
      c: { x: 1, y: 3 },
      d: { w: 4, x: 1, y: 2, z: 2 },
      e: { y: 5, v: 6 },
    })
    expect(read('{"<<": {a: 1}}')).toEqual({ '<<': { a: 1 } }) // quoted, it is a name
  })

  it('leave what they bring in the place where it is written', () => {
    const text = 'a: &x\n  b: 1\nc:\n  <<: *x\n  d: 2\n'
    const { value, places } = readYaml(text, yaml)
    expect(places.find(value, 0, 'c.b')).toBe(text.indexOf('b: 1'))
    expect(places.find(value, 0, 'c.d')).toBe(text.indexOf('d: 2'))
  })

  it('want maps', () => {
    expect(complaintsOf('a: {<<: 5}\nb: {<<: [{}, x]}\nc: {<<: }\n')).toEqual([
      '1:5 a.<<: must be a map or a list of maps, got number',
      '2:5 b.<<: must be a map or a list of maps, got array',
      '3:5 c.<<: must be a map or a list of maps, got null',
    ])
    expect(complaintsOf('a: {<<: *none}')).toHaveLength(1)
  })
})

describe('depth', () => {
  const DEEP = ['[', '{a: ', '- ', '? '] as const

  it.each(DEEP)('of %j beyond 100 is refused before the peer recurses', (opener) => {
    for (const depth of [150, 20_000]) {
      expect(complaintsOf(opener.repeat(depth))).toEqual([
        expect.stringMatching(/^1:\d+ the rules must be nested at most 100 deep, got something deeper$/),
      ])
    }
  })

  it('of 100 is taken', () => {
    let value = read(`${'['.repeat(100)}${']'.repeat(100)}`)
    let depth = 0
    for (; Array.isArray(value); depth++) value = value[0]
    expect(depth).toBe(100)
    expect(complaintsOf(`${'['.repeat(101)}${']'.repeat(101)}`)).toHaveLength(1)
  })

  it('is bounded through aliases too', () => {
    const lines = ['a0: &a0 [1]']
    for (let i = 1; i < 3000; i++) lines.push(`a${i}: &a${i} [*a${i - 1}]`)
    const bounds = new Set(readYaml(lines.join('\n'), yaml).complaints.map(({ fault }) => fault.bound))
    expect([...bounds].sort()).toEqual(['nested at most 100 deep', 'one of 100000 values that aliases may add'])
  })
})

it('finds the place of every path in block style', () => {
  const text = 'degrade:\n  - resource: a\n    threshold: 1\n  -\n    threshold: 2\n  - {resource: b}\n'
  const { value, places } = readYaml(text, yaml)
  const placeOf = (path: string) => {
    const before = text.slice(0, places.find(value, 0, path)).split('\n')
    return [before.length, (before.at(-1) as string).length + 1]
  }
  expect(placeOf('degrade')).toEqual([1, 1])
  expect(placeOf('degrade[0]')).toEqual([2, 5])
  expect(placeOf('degrade[0].threshold')).toEqual([3, 5])
  expect(placeOf('degrade[1].threshold')).toEqual([5, 5])
  expect(placeOf('degrade[1].resource')).toEqual([5, 5])
  expect(placeOf('degrade[2].resource')).toEqual([6, 6])
  expect(placeOf('degrade[3]')).toEqual([1, 1])
})
