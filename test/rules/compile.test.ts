// Which breaker survives a reload: matching by id, by equality, in order, and what starts anew.
import { describe, expect, it } from 'vitest'
import { type Compiled, compileDegrade, type Fate, fatesOf, State } from '../../rules/index.js'
import { checked, FakeHost, type Fields } from './support.js'

const ratio = { strategy: 'error-ratio', threshold: 0.5 } as const
const count = { strategy: 'error-count', threshold: 3 } as const
const slow = { strategy: 'slow-call-ratio', threshold: 0.5, maxAllowedRtMs: 100 } as const

interface Outcome {
  /** For each new rule, the position of the old rule whose breaker it has. */
  from: (number | undefined)[]
  fates: [string, Fate][]
  compiled: Compiled[]
}

function reload(before: readonly Fields[], after: readonly Fields[], restart = false): Outcome {
  const host = new FakeHost()
  const old = compileDegrade(checked(...before), [], host, 0, false).compiled
  const fates = fatesOf(checked(...after), old, restart)
  const { compiled } = compileDegrade(checked(...after), old, host, 0, restart)
  return {
    from: compiled.map(({ breaker }) => {
      const index = old.findIndex((other) => other.breaker === breaker)
      return index < 0 ? undefined : index
    }),
    fates: fates.map(({ fate, rule }) => [rule.id, fate]),
    compiled,
  }
}

it('a first load adds all rules in order', () => {
  const { from, fates } = reload([], [ratio, { ...count, id: 'c' }, ratio])
  expect(from).toEqual([undefined, undefined, undefined])
  expect(fates).toEqual([
    ['error-ratio#1', 'added'],
    ['c', 'added'],
    ['error-ratio#2', 'added'],
  ])
})

it.each<[string, Fields[], Fields[], (number | undefined)[]]>([
  [
    'named rules by id, in any order',
    [
      { ...ratio, id: 'a' },
      { ...count, id: 'b' },
    ],
    [
      { ...count, id: 'b' },
      { ...ratio, id: 'a' },
    ],
    [1, 0],
  ],
  [
    'a named rule by id, whatever its numbers',
    [
      { ...ratio, id: 'a' },
      { ...ratio, id: 'b', threshold: 0.9 },
    ],
    [
      { ...ratio, id: 'b' },
      { ...ratio, id: 'a', threshold: 0.9 },
    ],
    [1, 0],
  ],
  [
    'unnamed rules by equality, in any order',
    [ratio, { ...ratio, threshold: 0.9 }, count],
    [count, { ...ratio, threshold: 0.9 }, ratio],
    [2, 1, 0],
  ],
  [
    'an equal rule first and the rest in order',
    [ratio, { ...ratio, threshold: 0.9 }],
    [{ ...ratio, threshold: 0.1 }, ratio],
    [1, 0],
  ],
  [
    'unnamed changed rules by how many calls they look back over',
    [{ ...ratio, statCallCount: 30 }, ratio, { ...ratio, statCallCount: 40 }],
    [
      { ...ratio, statCallCount: 40, threshold: 0.9 },
      { ...ratio, statCallCount: 50 },
      { ...ratio, cooldownMs: 5 },
    ],
    [2, undefined, 1],
  ],
  [
    'unnamed changed rules in order by strategy and window',
    [ratio, { ...ratio, statIntervalMs: 5000 }, ratio],
    [
      { ...ratio, threshold: 0.1 },
      { ...ratio, threshold: 0.2, statIntervalMs: 5000 },
      { ...ratio, threshold: 0.3 },
    ],
    [0, 1, 2],
  ],
  ['an unnamed rule that is given a name', [ratio], [{ ...ratio, id: 'a' }], [0]],
  ['a named rule that loses its name', [{ ...ratio, id: 'a' }], [ratio], [0]],
  ['identical rules one to one', [ratio, ratio], [ratio, ratio, ratio], [0, 1, undefined]],
])('keeps %s', (_what, before, after, from) => {
  expect(reload(before, after).from).toEqual(from)
})

it.each<[string, Fields[], Fields[]]>([
  ['a rule whose id is another', [{ ...ratio, id: 'a' }], [{ ...ratio, id: 'b' }]],
  ['an unnamed rule of another strategy', [ratio], [count]],
  ['an unnamed rule of another window', [ratio], [{ ...ratio, statIntervalMs: 5000 }]],
])('adds and removes %s', (_what, before, after) => {
  const { from, fates } = reload(before, after)
  expect(from).toEqual([undefined])
  expect(fates.map(([, fate]) => fate)).toEqual(['added', 'removed'])
})

it.each<[string, Fields, Fields]>([
  ['window', { ...ratio, id: 'a' }, { ...ratio, id: 'a', statIntervalMs: 5000 }],
  ['number of buckets', { ...ratio, id: 'a' }, { ...ratio, id: 'a', bucketCount: 5 }],
  ['slow limit', { ...slow, id: 'a' }, { ...slow, id: 'a', maxAllowedRtMs: 200 }],
  ['strategy', { ...ratio, id: 'a' }, { ...count, id: 'a' }],
])('restarts a rule of the same id with another %s', (_what, before, after) => {
  const { from, fates } = reload([before], [after])
  expect(from).toEqual([undefined])
  expect(fates).toEqual([['a', 'restarted']])
})

describe('a changed number', () => {
  it.each<[string, Partial<Fields>]>([
    ['threshold', { threshold: 0.9 }],
    ['comparison', { comparison: 'above' }],
    ['minRequestAmount', { minRequestAmount: 1 }],
    ['cooldownMs', { cooldownMs: 1 }],
    ['cooldownMultiplier', { cooldownMultiplier: 2 }],
    ['maxCooldownMs', { maxCooldownMs: 20_000 }],
    ['cooldownJitter', { cooldownJitter: 1 }],
    ['probeCount', { probeCount: 2, successThreshold: 2 }],
    ['successThreshold', { successThreshold: 2 }],
    ['probeTimeoutMs', { probeTimeoutMs: null }],
    ['countRunning', { countRunning: false }],
    ['lateResults', { lateResults: 'at-arrival' }],
    ['dryRun', { dryRun: true }],
  ])('of %s updates the breaker in place, or restarts it if so asked', (_what, change) => {
    const before = { ...slow, id: 'a' }
    const after = { ...before, ...change }
    const kept = reload([before], [after])
    expect([kept.from, kept.fates]).toEqual([[0], [['a', 'updated']]])
    expect(kept.compiled[0]?.breaker.rule).toMatchObject(change)
    const anew = reload([before], [after], true)
    expect([anew.from, anew.fates]).toEqual([[undefined], [['a', 'restarted']]])
    expect(anew.compiled[0]?.breaker.rule).toMatchObject(change)
  })

  it('restarts nothing that is equal, whatever its id has become', () => {
    const { from, fates } = reload([{ ...ratio, threshold: 0.9 }, ratio], [ratio], true)
    expect(from).toEqual([1])
    expect(fates).toEqual([
      ['error-ratio#1', 'kept'],
      ['error-ratio#1', 'removed'],
    ])
  })
})

it('a kept breaker answers to its new id', () => {
  const { compiled } = reload([ratio], [{ ...ratio, id: 'mine' }])
  expect(compiled[0]?.breaker.rule).toBe(compiled[0]?.rule)
  expect(compiled[0]?.rule.id).toBe('mine')
})

it('an unnamed equal rule keeps its breaker although another rule now chooses its invented id', () => {
  const { from } = reload([ratio], [{ ...ratio, id: 'error-ratio#1', threshold: 0.9 }, ratio])
  expect(from[1]).toBe(0)
})

it('dropped states are told, of restarted and of removed rules', () => {
  const host = new FakeHost()
  const before = checked(
    { ...count, id: 'a', threshold: 1 },
    { ...count, id: 'b', threshold: 1 },
    { ...count, id: 'c' },
  )
  const old = compileDegrade(before, [], host, 0, false).compiled
  const permit = {
    resource: 'r',
    seq: 1,
    start: 0,
    count: 1,
    parents: null,
    args: undefined,
    origin: undefined,
    flags: 0,
  }
  for (const { breaker } of old) {
    breaker.take({ now: 0 }, permit)
    breaker.settle({ now: 0 }, permit, 1)
  }
  const after = checked({ ...count, id: 'a', threshold: 1, statIntervalMs: 500 })
  expect(fatesOf(after, old, false).map(({ fate, rule }) => [rule.id, fate])).toEqual([
    ['a', 'restarted'],
    ['b', 'removed'],
    ['c', 'removed'],
  ])
  const { dropped } = compileDegrade(after, old, host, 7, false)
  expect(dropped.map(({ rule, state }) => [rule.id, state])).toEqual([
    ['a', State.OPEN],
    ['b', State.OPEN],
    ['c', State.CLOSED],
  ])
  expect(host.changes.slice(2)).toEqual(['7 open > closed: reload', '7 open > closed: reload'])
})

describe('rules for many names', () => {
  const a = { ...ratio, resource: 'a*', match: 'glob' } as const
  const b = { ...ratio, resource: '*b', match: 'glob' } as const
  const rest = { ...ratio, match: 'default' } as const

  it.each<[string, Fields[], Fields[], (number | undefined)[], Fate[]]>([
    ['of one pattern go on with its own breaker, though another is equal', [a, b], [b], [1], ['kept', 'removed']],
    ['of one pattern do so with another number too', [a, b], [{ ...b, threshold: 0.9 }], [1], ['updated', 'removed']],
    ['change places', [a, b, rest], [rest, b, a], [2, 1, 0], ['kept', 'kept', 'kept']],
    ['give their breaker to an equal rule elsewhere', [rest], [ratio], [0], ['added', 'removed']],
    ['give it to a changed rule elsewhere', [a], [{ ...rest, threshold: 0.9 }], [0], ['added', 'removed']],
    ['give it to none of another window', [a], [{ ...b, statIntervalMs: 500 }], [undefined], ['added', 'removed']],
    [
      'give it to an equal one first',
      [rest],
      [{ ...ratio, threshold: 0.9 }, ratio],
      [undefined, 0],
      ['added', 'added', 'removed'],
    ],
    ['of the same id are one rule, whatever the pattern', [{ ...a, id: 'x' }], [{ ...b, id: 'x' }], [0], ['updated']],
    [
      'of the same id with another window are not',
      [{ ...a, id: 'x' }],
      [{ ...b, id: 'x', bucketCount: 5 }],
      [undefined],
      ['restarted'],
    ],
    [
      'of other ids have nothing in common',
      [{ ...a, id: 'x' }],
      [{ ...a, id: 'y' }],
      [undefined],
      ['added', 'removed'],
    ],
  ])('%s', (_what, before, after, from, fates) => {
    const seen = reload(before, after)
    expect([seen.from, seen.fates.map(([, fate]) => fate)]).toEqual([from, fates])
  })

  it('that only change the names they are for start nothing anew, though changed rules should', () => {
    const named = reload([{ ...a, id: 'x' }], [{ ...b, id: 'x' }], true)
    expect([named.from, named.fates]).toEqual([[0], [['x', 'updated']]])
    expect(reload([rest], [ratio], true).from).toEqual([0])
    expect(reload([rest], [{ ...ratio, threshold: 0.9 }], true).from).toEqual([undefined])
  })

  it('hand on a breaker that answers to its new rule', () => {
    const { compiled } = reload([rest], [ratio])
    expect(compiled[0]?.breaker.rule).toMatchObject({ resource: 'r', match: 'exact' })
  })
})
