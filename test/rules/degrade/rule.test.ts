// Fields of a degrade rule: what is taken, what is refused, and what stands there where nothing was said.
import { describe, expect, it } from 'vitest'
import { check } from '../support.js'

const MAX = 2 ** 30
const ratio = { resource: 'r', strategy: 'error-ratio', threshold: 0.5 }
const slow = { resource: 'r', strategy: 'slow-call-ratio', threshold: 0.5, maxAllowedRtMs: 100 }
const count = { resource: 'r', strategy: 'error-count', threshold: 3 }
const row = { resource: 'r', strategy: 'consecutive-errors', threshold: 3 }
const above = { comparison: 'above' }

/** A good rule, one of its fields, what may stand there and what may not. */
const BOUNDS: readonly (readonly [string, object, string, readonly unknown[], readonly unknown[]])[] = [
  ['a ratio', ratio, 'threshold', [Number.MIN_VALUE, 0.5, 1], [0, -0, -0.1, 1 + Number.EPSILON]],
  ['a slow ratio', slow, 'threshold', [Number.MIN_VALUE, 1], [0, 1 + Number.EPSILON]],
  ['a ratio to be passed', { ...ratio, ...above }, 'threshold', [0, 0.5, 1], [-Number.MIN_VALUE, 1 + Number.EPSILON]],
  ['a slow ratio to be passed', { ...slow, ...above }, 'threshold', [0, 1], [-Number.MIN_VALUE, 1.5]],
  ['a count', count, 'threshold', [1, 2.5, 1e15], [0, 0.99, -1]],
  ['a count to be passed', { ...count, ...above }, 'threshold', [0, 0.5, 2], [-0.5]],
  ['a run', row, 'threshold', [1, 7], [0, 1.5, -1]],
  ['a run to be passed', { ...row, ...above }, 'threshold', [0, 1], [0.5, -1]],
  ['the slow limit', slow, 'maxAllowedRtMs', [0, 1, MAX], [-1, 0.5, MAX + 1]],
  ['the window', ratio, 'statIntervalMs', [1, 7, MAX], [0, -1, 1.5, MAX + 1]],
  ['the buckets', ratio, 'bucketCount', [1, 16, 10_000], [0, 3, 1.5, 10_001, 20_000]],
  ['the minimum', ratio, 'minRequestAmount', [1, 1e9], [0, -1, 1.5]],
  ['the minimum of a count', count, 'minRequestAmount', [1, 2], [0, 0.5]],
  ['the calls looked back over', ratio, 'statCallCount', [1, 20, 100_000], [0, -1, 1.5, 100_001]],
  ['their minimum', { ...ratio, statCallCount: 30 }, 'minRequestAmount', [1, 30], [0, 31, 1.5]],
  ['a count of them', { ...count, statCallCount: 30 }, 'threshold', [1, 2.5, 30], [0.99, 30.5, 31]],
  ['a count of them to be passed', { ...count, ...above, statCallCount: 30 }, 'threshold', [0, 29.5], [30, -1]],
  ['the cooldown', ratio, 'cooldownMs', [1, MAX], [0, -1, 0.5, MAX + 1]],
  ['its growth', ratio, 'cooldownMultiplier', [1, 1.5, 1e300], [0.999, 0, -2]],
  ['its cap', ratio, 'maxCooldownMs', [10_000, MAX], [9999, 10_000.5, MAX + 1]],
  ['its jitter', ratio, 'cooldownJitter', [0, 0.5, 1], [-0.01, 1.01]],
  ['the probes', ratio, 'probeCount', [1, 10_000], [0, 1.5, 10_001]],
  ['the successes', ratio, 'successThreshold', [1, MAX], [0, 1.5, MAX + 1]],
  ['the successes of three probes', { ...ratio, probeCount: 3 }, 'successThreshold', [3, 4], [2, 1]],
  ['the probe timeout', ratio, 'probeTimeoutMs', [1, MAX, null], [0, 1.5, MAX + 1]],
  ['the half-open time', ratio, 'maxHalfOpenMs', [null, 1, MAX], [0, 1.5, MAX + 1]],
  ['what comes after it', ratio, 'afterHalfOpen', ['open', 'closed'], ['half-open', 'Open', null]],
  ['the recovery', ratio, 'recoveryMs', [0, 1, MAX], [-1, 1.5, MAX + 1, null]],
  ['running calls', slow, 'countRunning', [true, false], [0, 'true', null]],
  ['late results', ratio, 'lateResults', ['ignore', 'at-arrival'], ['Ignore', 'never', null]],
  ['the comparison', ratio, 'comparison', ['at-or-above', 'above'], ['>=', 'ABOVE', null]],
  ['a dry run', ratio, 'dryRun', [true, false], [1, 'yes', null]],
  ['an id', ratio, 'id', ['x', ' ', 'a'.repeat(1e5), '__proto__'], ['', 5, null]],
  ['a resource', ratio, 'resource', ['x', ' ', '__proto__', 'constructor', 'a'.repeat(1e5)], ['', 5, null, undefined]],
  ['a way to match', ratio, 'match', ['exact', 'glob', 'regex'], ['Glob', 'all', '*', '', null, 1]],
  [
    'a glob',
    { ...ratio, match: 'glob' },
    'resource',
    ['r', '*', 'a{b,c}', '*'.repeat(1000)],
    ['', '[', '{a}', 5, null],
  ],
  ['a regular expression', { ...ratio, match: 'regex' }, 'resource', ['r', '^a|b$', 'a{1000}'], ['', '(', '(?=a)', 7]],
  ['a strategy', ratio, 'strategy', ['error-ratio'], ['errorRatio', '', null, undefined, 2]],
]
const NUMBERS = new Set(BOUNDS.filter(([, , , taken]) => typeof taken[0] === 'number').map(([, , field]) => field))

describe.each(BOUNDS)('%s', (_what, rule, field, taken, refused) => {
  it('takes what is within its bounds', () => {
    for (const value of taken) {
      const { rules, faults } = check([{ ...rule, [field]: value }])
      expect(faults).toEqual([])
      expect(rules[0]?.rule).toMatchObject({ ...rule, [field]: value })
    }
  })

  it('refuses what is beyond them, with one fault that says where, what and why', () => {
    for (const value of refused) {
      const { faults } = check([{ ...rule, [field]: value }])
      expect(faults).toHaveLength(1)
      const [fault] = faults
      expect(fault?.path).toBe(`degrade[0].${field}`)
      expect(Object.is(fault?.value, value)).toBe(true)
      expect(fault?.message).toContain(`degrade[0].${field}`)
      expect(fault?.message).toContain(fault?.bound)
    }
  })
})

const HOSTILE: readonly (readonly [string, unknown])[] = [
  ['NaN', Number.NaN],
  ['Infinity', Number.POSITIVE_INFINITY],
  ['-Infinity', Number.NEGATIVE_INFINITY],
  ['numeric text', '1'],
  ['a boolean', true],
  ['a bigint', 1n],
  ['a symbol', Symbol('1')],
  ['a function', () => 1],
  ['an object', { valueOf: () => 1 }],
  ['an object without prototype', Object.create(null)],
  ['a number object', Object(1)],
  ['a date', new Date(1)],
  ['a list', [1]],
  ['a nested list', [[1]]],
]

it.each(HOSTILE)('%s is no number, in any field that wants one', (_what, value) => {
  for (const [, rule, field] of BOUNDS) {
    if (!NUMBERS.has(field)) continue
    const { faults } = check([{ ...rule, [field]: value }])
    expect(faults.map((fault) => [fault.path, fault.value])).toEqual([[`degrade[0].${field}`, value]])
  }
})

it.each(HOSTILE.filter(([what]) => what !== 'numeric text'))('%s is no name and no choice', (_what, value) => {
  for (const field of ['resource', 'match', 'id', 'strategy', 'comparison', 'lateResults']) {
    const { faults } = check([{ ...ratio, [field]: value }])
    expect(faults.map((fault) => [fault.path, fault.value])).toContainEqual([`degrade[0].${field}`, value])
  }
})

it.each(['threshold', 'strategy', 'resource'])('a rule without %s says that it is required', (field) => {
  const { faults } = check([{ ...ratio, [field]: undefined }])
  expect(faults.map(({ path, bound }) => [path, bound])).toEqual([
    [`degrade[0].${field}`, expect.stringContaining('required')],
  ])
})

it('a slow-call rule must say its limit, and no other strategy may', () => {
  expect(check([{ ...slow, maxAllowedRtMs: undefined }]).faults).toMatchObject([
    { path: 'degrade[0].maxAllowedRtMs', bound: expect.stringContaining('required') },
  ])
  for (const rule of [ratio, count, row]) {
    expect(check([{ ...rule, maxAllowedRtMs: 100 }]).faults).toMatchObject([
      { path: 'degrade[0].maxAllowedRtMs', value: 100 },
    ])
    expect(check([{ ...rule, maxAllowedRtMs: undefined }]).faults).toEqual([])
  }
})

it('a run of errors has no minimum', () => {
  expect(check([{ ...row, minRequestAmount: 1 }]).faults).toMatchObject([{ path: 'degrade[0].minRequestAmount' }])
  expect(check([{ ...row, minRequestAmount: undefined }]).faults).toEqual([])
})

describe('a window of calls', () => {
  it('has no length and no buckets', () => {
    for (const rule of [ratio, slow, count]) {
      const { rules, faults } = check([{ ...rule, statCallCount: 50 }])
      expect(faults).toEqual([])
      expect(rules[0]?.rule).not.toHaveProperty('statIntervalMs')
      expect(rules[0]?.rule).not.toHaveProperty('bucketCount')
    }
    for (const field of ['statIntervalMs', 'bucketCount']) {
      expect(check([{ ...ratio, statCallCount: 50, [field]: 10 }]).faults).toMatchObject([
        { path: `degrade[0].${field}`, bound: expect.stringContaining('absent') },
      ])
    }
  })

  it('is asked for by nobody else: a rule of time has no such field', () => {
    expect(check([ratio]).rules[0]?.rule).not.toHaveProperty('statCallCount')
    expect(check([{ ...ratio, statCallCount: undefined, statIntervalMs: 500 }]).faults).toEqual([])
  })

  it('is none for a run of errors', () => {
    expect(check([{ ...row, statCallCount: 50 }]).faults).toMatchObject([
      { path: 'degrade[0].statCallCount', bound: expect.stringContaining('a run, not a window') },
    ])
  })

  it.each([
    [ratio, 5, 5],
    [ratio, 20, 20],
    [ratio, 500, 20],
    [slow, 7, 7],
    [{ ...count, threshold: 1 }, 1, 1],
    [count, 40, 1],
  ])('waits for the usual minimum or as many as there are: %j of %d', (rule, statCallCount, minRequestAmount) => {
    expect(check([{ ...rule, statCallCount }]).rules[0]?.rule.minRequestAmount).toBe(minRequestAmount)
  })

  it('of a wrong size leaves the minimum and the threshold alone', () => {
    for (const statCallCount of [0, '5', 1e6]) {
      const { faults } = check([{ ...count, threshold: 10, statCallCount, minRequestAmount: 9 }])
      expect(faults.map(({ path }) => path)).toEqual(['degrade[0].statCallCount'])
    }
  })

  it('says of a count it cannot hold that the rule would never open', () => {
    const { faults } = check([{ ...count, threshold: 4, statCallCount: 3 }])
    expect(faults).toMatchObject([{ path: 'degrade[0].threshold', value: 4 }])
    expect(faults[0]?.message).toContain('statCallCount (3), or it never opens')
  })
})

it.each([
  ['treshold', 'threshold'],
  ['Threshold', 'threshold'],
  ['cooldown', 'cooldownMs'],
  ['minRequests', 'minRequestAmount'],
  ['probes', 'probeCount'],
  ['statInterval', 'statIntervalMs'],
  ['maxRt', ''],
  ['timeoutInSeconds', ''],
])('the unknown field %s is refused, with the suggestion "%s"', (field, meant) => {
  const { faults } = check([{ ...ratio, [field]: 1 }])
  expect(faults).toMatchObject([{ path: `degrade[0].${field}`, value: 1 }])
  expect(faults[0]?.message).toContain('unknown')
  if (meant !== '') expect(faults[0]?.message).toContain(`'${meant}'`)
})

it('a __proto__ key from a file is an unknown field like any other', () => {
  const { faults } = check([
    JSON.parse('{"resource":"r","strategy":"error-ratio","threshold":0.5,"__proto__":{"x":1}}'),
  ])
  expect(faults).toMatchObject([{ path: 'degrade[0].__proto__', value: { x: 1 } }])
})

it('a very long unknown key is refused without much ado', () => {
  const key = 'k'.repeat(1e6)
  expect(check([{ ...ratio, [key]: 1 }]).faults).toMatchObject([{ path: `degrade[0].${key}` }])
})

it.each([
  [null, 'null'],
  [undefined, 'undefined'],
  ['error-ratio', '"error-ratio"'],
  [7, '7'],
  [ratio, 'an object'],
  [new Map(), 'an object'],
])('a list that is none is one fault: %s', (list, shown) => {
  const { rules, faults } = check(list)
  expect(rules).toEqual([])
  expect(faults).toMatchObject([{ path: 'degrade', value: list }])
  expect(faults[0]?.message).toContain(shown)
})

it.each([null, undefined, 7, 'x', true, [ratio], 1n])('%s in place of a rule is a fault at its place', (item) => {
  expect(check([ratio, item]).faults).toMatchObject([{ path: 'degrade[1]', value: item }])
})

it('a hole in the list is a fault at its place', () => {
  const list = [ratio, undefined, count]
  delete list[1]
  expect(check(list).faults).toMatchObject([{ path: 'degrade[1]', value: undefined }])
})

it('an empty list is no fault', () => {
  expect(check([])).toEqual({ rules: [], faults: [] })
})

describe('one wrong field does not make others look wrong', () => {
  it('a wrong cooldown leaves the cap alone', () => {
    const { faults } = check([{ ...ratio, cooldownMs: '2s', maxCooldownMs: 5000 }])
    expect(faults.map((fault) => fault.path)).toEqual(['degrade[0].cooldownMs'])
  })

  it('a wrong window leaves the buckets alone', () => {
    const { faults } = check([{ ...ratio, statIntervalMs: '700', bucketCount: 7 }])
    expect(faults.map((fault) => fault.path)).toEqual(['degrade[0].statIntervalMs'])
  })

  it('a wrong number of probes leaves the successes alone', () => {
    const { faults } = check([{ ...ratio, probeCount: 0, successThreshold: 2 }])
    expect(faults.map((fault) => fault.path)).toEqual(['degrade[0].probeCount'])
  })

  it('an unknown strategy leaves everything else to be judged by itself', () => {
    const { faults } = check([{ ...slow, strategy: 'slow', cooldownMs: 0 }])
    expect(faults.map((fault) => fault.path).sort()).toEqual(['degrade[0].cooldownMs', 'degrade[0].strategy'])
  })
})

describe('a name given from outside', () => {
  it('may be left out or repeated', () => {
    const { rules, faults } = check(
      [
        { ...ratio, resource: undefined },
        { ...count, resource: 'mine' },
      ],
      'mine',
    )
    expect(faults).toEqual([])
    expect(rules.map(({ rule }) => rule.resource)).toEqual(['mine', 'mine'])
  })

  it.each(['other', '', 5, null])('must not be %j', (resource) => {
    const { faults } = check([{ ...ratio, resource }], 'mine')
    expect(faults).toMatchObject([{ path: 'degrade[0].resource', value: resource }])
  })
})

describe('rules for many names', () => {
  const glob = { ...ratio, resource: 'a*', match: 'glob' }
  const regex = { ...ratio, resource: '^a', match: 'regex' }
  const rest = { ...ratio, resource: undefined, match: 'default' }

  it('say whom they are for, and bring their pattern', () => {
    const { rules, faults } = check([glob, regex, rest, ratio])
    expect(faults).toEqual([])
    expect(rules.map(({ rule: { resource, match }, pattern }) => [resource, match, pattern?.test('ab')])).toEqual([
      ['a*', 'glob', true],
      ['^a', 'regex', true],
      [undefined, 'default', undefined],
      ['r', 'exact', undefined],
    ])
    expect(rules[2]?.rule).not.toHaveProperty('resource')
  })

  it.each([
    ['glob', 'a[', "a glob: a '[' is not closed (at character 2)"],
    ['regex', 'a(?<!b)', 'a regular expression: lookahead and lookbehind are not supported (at character 2)'],
    [
      'regex',
      '(a{1000}){1000}',
      'a regular expression: the pattern is too large: written out it comes to more than 2000 instructions (at character 1)',
    ],
  ])('%s %s is refused with the reason', (match, resource, bound) => {
    const { faults } = check([{ ...ratio, match, resource }])
    expect(faults).toMatchObject([{ path: 'degrade[0].resource', value: resource, bound }])
    expect(faults[0]?.message).toBe(
      `degrade[0].resource (resource ${JSON.stringify(resource)}): must be ${bound}, got ${JSON.stringify(resource)}`,
    )
  })

  it('with a default rule that names a resource, the fault says why there is none', () => {
    expect(check([{ ...rest, resource: 'r' }]).faults).toMatchObject([
      { path: 'degrade[0].resource', bound: 'absent: a default rule is for every name that has no other' },
    ])
  })

  it('whoever misspells the match is not asked for a name too', () => {
    expect(check([{ ...rest, match: 'defualt' }]).faults).toMatchObject([
      { path: 'degrade[0].match', value: 'defualt', bound: "one of 'exact', 'glob', 'regex', 'default'" },
    ])
  })

  it('are no rules of one resource', () => {
    for (const rule of [glob, regex, rest]) {
      expect(check([{ ...rule, resource: undefined }], 'mine').faults).toMatchObject([
        { path: 'degrade[0].match', value: rule.match, bound: '\'exact\' or absent: these are rules of "mine" alone' },
      ])
    }
    expect(check([{ ...ratio, resource: undefined, match: 'exact' }], 'mine').faults).toEqual([])
  })

  it('share one set of ids, and exact rules have theirs', () => {
    const { rules, faults } = check([
      { ...glob, id: 'x' },
      { ...ratio, id: 'x' },
      regex,
      rest,
      { ...glob, id: 'error-ratio#1' },
      ratio,
    ])
    expect(faults).toEqual([])
    expect(rules.map(({ rule }) => rule.id)).toEqual([
      'x',
      'x',
      'error-ratio#2',
      'error-ratio#3',
      'error-ratio#1',
      'error-ratio#1',
    ])
    const twice = check([
      { ...glob, id: 'x' },
      { ...ratio, id: 'x' },
      { ...rest, id: 'x' },
      { ...regex, id: 'x' },
    ])
    expect(twice.faults.map(({ path, bound }) => [path, bound])).toEqual([
      ['degrade[2].id', 'unique among all pattern and default rules; rule 2 repeats it'],
      ['degrade[3].id', 'unique among all pattern and default rules; rule 3 repeats it'],
    ])
  })
})

describe('defaults', () => {
  const common = {
    resource: 'r',
    match: 'exact',
    comparison: 'at-or-above',
    statIntervalMs: 10_000,
    bucketCount: 10,
    cooldownMs: 10_000,
    cooldownMultiplier: 1,
    maxCooldownMs: MAX,
    cooldownJitter: 0,
    probeCount: 1,
    successThreshold: 1,
    probeTimeoutMs: 10_000,
    maxHalfOpenMs: null,
    afterHalfOpen: 'open',
    recoveryMs: 0,
    countRunning: true,
    lateResults: 'ignore',
    dryRun: false,
  }

  it.each([
    [ratio, { ...common, ...ratio, id: 'error-ratio#1', minRequestAmount: 20 }],
    [slow, { ...common, ...slow, id: 'slow-call-ratio#1', minRequestAmount: 20 }],
    [count, { ...common, ...count, id: 'error-count#1', minRequestAmount: 1 }],
    [row, { ...common, ...row, id: 'consecutive-errors#1' }],
  ])('are filled in, and forbidden fields stay absent: $strategy', (input, expected) => {
    const { rules } = check([input])
    expect(rules).toStrictEqual([{ rule: expected, named: false, pattern: undefined }])
    expect(Object.isFrozen(rules[0]?.rule)).toBe(true)
  })

  it.each([
    [1, 1],
    [7, 7],
    [10, 10],
    [13, 13],
    [15, 15],
    [18, 18],
    [19, 19],
    [22, 11],
    [23, 1],
    [36, 18],
    [46, 2],
    [999, 9],
    [1000, 10],
    [1024, 16],
    [1_000_003, 1],
    [MAX, 16],
  ])('divide a window of %d ms into %d buckets', (statIntervalMs, bucketCount) => {
    expect(check([{ ...ratio, statIntervalMs }]).rules[0]?.rule.bucketCount).toBe(bucketCount)
  })

  it('ask for as many successes as there are probes', () => {
    expect(check([{ ...ratio, probeCount: 4 }]).rules[0]?.rule.successThreshold).toBe(4)
  })

  it.each([
    ['the cooldown', { ...ratio, cooldownMs: 333 }, 333],
    [
      'the cooldown if that is longer than a slow probe needs',
      { ...slow, maxAllowedRtMs: 1000, cooldownMs: 1125 },
      1125,
    ],
    ['the slow limit and one bucket of starts', { ...slow, maxAllowedRtMs: 1000, cooldownMs: 1124 }, 1125],
    ['one millisecond for a limit of none', { ...slow, maxAllowedRtMs: 0, cooldownMs: 1 }, 1],
    ['never more than the longest time', { ...slow, maxAllowedRtMs: MAX }, MAX],
  ])('give a probe %s', (_what, rule, probeTimeoutMs) => {
    expect(check([rule]).rules[0]?.rule.probeTimeoutMs).toBe(probeTimeoutMs)
  })

  it('are used for fields that are there and undefined, as in JSON', () => {
    const fields = ['comparison', 'statIntervalMs', 'bucketCount', 'cooldownMs', 'probeTimeoutMs', 'dryRun', 'id']
    const { rules, faults } = check([{ ...ratio, ...Object.fromEntries(fields.map((field) => [field, undefined])) }])
    expect(faults).toEqual([])
    expect(rules[0]?.rule).toStrictEqual(check([ratio]).rules[0]?.rule)
  })
})

describe('ids', () => {
  it('are invented by strategy and place, for each resource by itself', () => {
    const { rules } = check([ratio, count, ratio, { ...ratio, resource: 'other' }, ratio])
    expect(rules.map(({ rule, named }) => [rule.resource, rule.id, named])).toEqual([
      ['r', 'error-ratio#1', false],
      ['r', 'error-count#1', false],
      ['r', 'error-ratio#2', false],
      ['other', 'error-ratio#1', false],
      ['r', 'error-ratio#3', false],
    ])
  })

  it('are invented around those that were chosen, wherever these stand', () => {
    const { rules, faults } = check([
      ratio,
      { ...ratio, id: 'error-ratio#2' },
      ratio,
      { ...count, id: 'error-ratio#1' },
    ])
    expect(faults).toEqual([])
    expect(rules.map(({ rule, named }) => [rule.id, named])).toEqual([
      ['error-ratio#3', false],
      ['error-ratio#2', false],
      ['error-ratio#4', false],
      ['error-ratio#1', true],
    ])
  })

  it('may not be chosen twice for one resource, whatever the strategies', () => {
    const { faults } = check([
      { ...ratio, id: 'x' },
      { ...count, id: 'x' },
      { ...row, id: 'x', resource: 'other' },
      { ...slow, id: 'x' },
    ])
    expect(faults.map(({ path, value }) => [path, value])).toEqual([
      ['degrade[1].id', 'x'],
      ['degrade[3].id', 'x'],
    ])
    expect(faults[0]?.bound).toContain('unique')
  })

  it('may be names of things every object has', () => {
    const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty']
    const { rules, faults } = check(names.flatMap((name) => names.map((id) => ({ ...ratio, resource: name, id }))))
    expect(faults).toEqual([])
    expect(rules).toHaveLength(16)
  })
})

it('rules that were checked pass again unchanged, and forget the object they came from', () => {
  const inputs = [
    ratio,
    slow,
    count,
    row,
    { ...ratio, statCallCount: 9 },
    { ...ratio, resource: '{a,b}?', match: 'glob' },
    { ...ratio, resource: undefined, match: 'default' },
    { ...slow, id: 'mine', probeTimeoutMs: null, maxAllowedRtMs: MAX },
  ]
  const first = check(inputs).rules.map(({ rule }) => rule)
  for (const input of inputs) Object.assign(input, { threshold: 1 })
  const { rules, faults } = check(JSON.parse(JSON.stringify(first)))
  expect(faults).toEqual([])
  expect(rules.map(({ rule }) => rule)).toStrictEqual(first)
  expect(first.map((rule) => rule.threshold)).toEqual([0.5, 0.5, 3, 3, 0.5, 0.5, 0.5, 0.5])
})

it('a getter that throws is the caller’s own error', () => {
  const rule = {
    ...ratio,
    get cooldownMs(): number {
      throw new Error('no cooldown today')
    },
  }
  expect(() => check([rule])).toThrow('no cooldown today')
})
