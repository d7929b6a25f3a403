// Rules for many names: which level a name gets, what happens when that changes, and what is told of it.
import { createGuard, type DegradeRuleInput, type Guard, isBlocked, RuleError, type StateChangeEvent } from 'leapguard'
import { ManualClock } from 'leapguard/testing'
import { describe, expect, it, vi } from 'vitest'
import { Program } from '../../rules/pattern/program.js'
import { fail, HAIR, thrown, watched } from './support.js'

const exact: DegradeRuleInput = { ...HAIR, resource: 'GET /a', id: 'exact' }
const glob: DegradeRuleInput = { ...HAIR, resource: 'GET /*', match: 'glob', id: 'glob' }
const regex: DegradeRuleInput = { ...HAIR, resource: '/a$', match: 'regex', id: 'regex' }
const rest: DegradeRuleInput = { ...HAIR, match: 'default', id: 'default' }
const NAME = 'GET /a'

const idsOf = (guard: Guard, name = NAME): string[] => guard.stats(name).rules.map(({ id }) => id)

/** Every choice of these rules, in their order. */
function choices(...rules: DegradeRuleInput[]): DegradeRuleInput[][] {
  const [first, ...others] = rules
  if (first === undefined) return [[]]
  return choices(...others).flatMap((list) => [list, [first, ...list]])
}

/** The table of precedence. */
function expectedFor(rules: readonly DegradeRuleInput[]): string[] {
  const ids = (...wanted: DegradeRuleInput[]) =>
    rules.filter((rule) => wanted.includes(rule)).map(({ id }) => id as string)
  if (rules.includes(exact)) return ['exact']
  const patterns = ids(glob, regex)
  return patterns.length > 0 ? patterns : ids(rest)
}

const ALL = choices(rest, regex, exact, glob)

describe('a name gets its exact rules, else those of all patterns, else the default ones', () => {
  it.each(ALL.map((rules) => [rules.map(({ id }) => id).join(' ') || 'none', rules] as const))(
    'of %s, whether it was used before the load or after',
    (_what, rules) => {
      const before = createGuard({ clock: new ManualClock() })
      before.leave(before.tryEnter(NAME))
      before.loadDegradeRules(rules)
      const after = createGuard({ clock: new ManualClock() })
      after.loadDegradeRules(rules)
      after.leave(after.tryEnter(NAME))
      expect([idsOf(before), idsOf(after)]).toEqual([expectedFor(rules), expectedFor(rules)])
    },
  )

  it('and gets them by any reload from any other choice; a rule that stays keeps its open breaker', () => {
    for (const first of ALL) {
      for (const second of ALL) {
        const guard = createGuard({ clock: new ManualClock() })
        guard.loadDegradeRules(first)
        fail(guard, NAME)
        const report = guard.loadDegradeRules(second)
        const [old, now] = [expectedFor(first), expectedFor(second)]
        const states = guard.stats(NAME).rules.map(({ id, state }) => [id, state])
        expect(states).toEqual(now.map((id) => [id, old.includes(id) ? 'open' : 'closed']))
        const gone = old.filter((id) => !now.includes(id))
        expect(report.dropped.map(({ resource, rule }) => [resource, rule]).sort()).toEqual(
          gone.map((id) => [NAME, id]).sort(),
        )
        expect(report.kept.map(({ rule }) => rule).sort()).toEqual(
          first
            .filter((rule) => second.includes(rule))
            .map(({ id }) => id)
            .sort(),
        )
      }
    }
  })

  it('and with setRulesFor too, which gives it back to the others when its list is empty', () => {
    const guard = createGuard({ clock: new ManualClock() })
    guard.loadDegradeRules([rest, glob])
    expect(guard.setRulesFor(NAME, { degrade: [{ ...HAIR, id: 'own' }] })).toMatchObject({
      added: [{ resource: NAME, match: 'exact', rule: 'own' }],
      removed: [],
    })
    expect(idsOf(guard)).toEqual(['own'])
    expect(guard.rules().degrade.map(({ id }) => id)).toEqual(['default', 'glob', 'own'])
    guard.setRulesFor(NAME, { degrade: [] })
    expect(idsOf(guard)).toEqual(['glob'])
  })
})

describe('state', () => {
  it('belongs to the name, though many names share a rule', () => {
    const { guard } = watched()
    guard.loadDegradeRules([glob, rest])
    for (const name of ['GET /1', 'other']) fail(guard, name)
    for (const name of ['GET /2', 'another']) guard.leave(guard.tryEnter(name))
    expect(['GET /1', 'GET /2', 'other', 'another'].map((name) => guard.stats(name).rules[0]?.state)).toEqual([
      'open',
      'closed',
      'open',
      'closed',
    ])
  })

  it('goes along when a name gets rules of its own that nobody named, of the same window', () => {
    const { guard } = watched()
    guard.loadDegradeRules([{ ...HAIR, match: 'default' }])
    fail(guard)
    expect(guard.setRulesFor('r', { degrade: [{ ...HAIR, threshold: 5 }] }).dropped).toEqual([])
    expect(guard.stats('r').rules).toMatchObject([{ state: 'open' }])
    const report = guard.setRulesFor('r', { degrade: [{ ...HAIR, statIntervalMs: 500 }] })
    expect(report.dropped).toEqual([{ resource: 'r', match: 'exact', rule: 'error-count#1', state: 'open' }])
  })

  it('is each pattern’s own: when one goes, the other goes on with its breaker', () => {
    const { guard } = watched()
    const a = { ...HAIR, threshold: 100, resource: 'r*', match: 'glob' } as const
    const b = { ...HAIR, resource: '*r', match: 'glob' } as const
    guard.loadDegradeRules([a, b])
    fail(guard)
    const report = guard.loadDegradeRules([{ ...b, cooldownMs: 5000 }])
    expect(guard.stats('r').rules).toMatchObject([{ state: 'open', retryAfterMs: 5000 }])
    expect(report).toMatchObject({ updated: [{ resource: '*r' }], removed: [{ resource: 'r*' }], dropped: [] })
  })

  it('of a name that a changed pattern no longer matches is dropped aloud, of the others it stays', () => {
    const { guard } = watched()
    const states: StateChangeEvent[] = []
    guard.loadDegradeRules([{ ...glob, resource: '{a,b}' }])
    fail(guard, 'a')
    fail(guard, 'b')
    guard.on('state', (event) => states.push(event))
    expect(guard.loadDegradeRules([{ ...glob, resource: '[b-c]' }])).toMatchObject({
      updated: [{ resource: '[b-c]', match: 'glob', rule: 'glob' }],
      removed: [],
      dropped: [{ resource: 'a', match: 'glob', rule: 'glob', state: 'open' }],
    })
    expect(states).toMatchObject([
      { resource: 'a', rule: { id: 'glob', resource: '{a,b}' }, to: 'closed', reason: 'reload' },
    ])
    expect([guard.stats('a').rules, guard.stats('b').rules[0]?.state]).toEqual([[], 'open'])
  })
})

it('events and refusals name the name, and the rule its pattern', () => {
  const { guard } = watched()
  const events: unknown[] = []
  guard.loadDegradeRules([glob])
  guard.on('state', ({ resource, rule }) => events.push([resource, rule.match, rule.resource]))
  guard.on('blocked', ({ resource, rule }) => events.push([resource, rule?.id]))
  fail(guard, NAME)
  const error = thrown(() => guard.enter(NAME))
  expect(isBlocked(error) && [error.resource, error.rule]).toEqual([NAME, guard.rules().degrade[0]])
  expect(events).toEqual([
    [NAME, 'glob', 'GET /*'],
    [NAME, 'glob'],
  ])
})

it('rules in force are shown in the order of loading, and loading them again changes nothing', () => {
  const { guard } = watched()
  guard.loadDegradeRules([rest, exact, regex, glob])
  const shown = guard.rules()
  expect(shown.degrade.map(({ id, match }) => [id, match])).toEqual([
    ['default', 'default'],
    ['exact', 'exact'],
    ['regex', 'regex'],
    ['glob', 'glob'],
  ])
  expect(guard.loadRules(JSON.parse(JSON.stringify(shown))).kept).toHaveLength(4)
  expect(guard.rules()).toEqual(shown)
})

describe('names', () => {
  it.each([
    '__proto__',
    'constructor',
    'toString',
    ' ',
    '\n',
    '\ud800',
    '😀',
    '*',
    '[',
    '(overflow)',
    'x'.repeat(2048),
  ])('that are odd are matched like any other: %#', (name) => {
    const { guard } = watched()
    guard.loadDegradeRules([{ ...glob, resource: '**' }, rest])
    fail(guard, name)
    expect(guard.stats(name).rules).toMatchObject([{ id: 'glob', state: 'open' }])
  })

  it('of more than 2,048 characters match no pattern, and get the default rules', () => {
    const { guard } = watched()
    const name = 'x'.repeat(2049)
    guard.loadDegradeRules([{ ...glob, resource: '**' }, { ...regex, resource: '^x' }, rest])
    fail(guard, name)
    expect(idsOf(guard, name)).toEqual(['default'])
  })

  it('that were evicted get the rules of their pattern again, fresh, when they come back', () => {
    const { guard } = watched({ maxResources: 1 })
    guard.loadDegradeRules([{ ...glob, threshold: 2 }])
    fail(guard, 'GET /1')
    expect(guard.stats('GET /1').rules[0]?.total).toBe(1)
    guard.leave(guard.tryEnter('GET /2'))
    expect(guard.resources()).toEqual(['GET /2'])
    guard.leave(guard.tryEnter('GET /1'))
    expect(guard.stats('GET /1').rules).toMatchObject([{ id: 'glob', state: 'closed', total: 1, bad: 0 }])
  })

  it('without room share the default rules, not those of a pattern', () => {
    const { guard } = watched({ maxResources: 1, onRegistryFull: 'shared' })
    guard.loadDegradeRules([{ ...glob, resource: '**' }, rest])
    guard.forceClosed('busy')
    fail(guard, 'GET /1')
    expect(idsOf(guard, '(overflow)')).toEqual(['default'])
    guard.loadDegradeRules([{ ...rest, id: 'another' }])
    expect(idsOf(guard, '(overflow)')).toEqual(['another'])
  })
})

it('an unchanged load with many names and patterns matches nothing and keeps everything', { timeout: 60_000 }, () => {
  const { guard } = watched()
  const patterns = Array.from({ length: 50 }, (_, i): DegradeRuleInput => {
    return { ...HAIR, resource: `${i}-*`, match: 'glob', id: `p${i}` }
  })
  guard.loadDegradeRules([...patterns, rest])
  const test = vi.spyOn(Program.prototype, 'test')
  try {
    for (let i = 0; i < 10_000; i++) guard.leave(guard.tryEnter(`${i % 60}-${i}`))
    expect(test).toHaveBeenCalledTimes(10_000 * 50)
    test.mockClear()
    fail(guard, '7-7')
    const before = guard.stats('7-7')
    const report = guard.loadDegradeRules([...patterns, rest])
    expect(report.kept).toHaveLength(51)
    expect(test).not.toHaveBeenCalled()
    expect(guard.stats('7-7')).toEqual(before)
    guard.loadDegradeRules([...patterns.slice(1), { ...glob, resource: '0-*' }, rest])
    expect(test).not.toHaveBeenCalled() // a known pattern under another id
    guard.loadDegradeRules([...patterns, { ...glob, resource: '5?-*' }])
    expect(test).toHaveBeenCalledTimes(10_000)
    expect(idsOf(guard, '55-55')).toEqual(['glob'])
  } finally {
    test.mockRestore()
  }
})

it('a load with one bad pattern changes nothing, and says where it is wrong', () => {
  const { guard } = watched()
  guard.loadDegradeRules([rest])
  const error = thrown(() => guard.loadDegradeRules([glob, { ...regex, resource: '(a' }]))
  expect(error).toBeInstanceOf(RuleError)
  expect((error as RuleError).faults).toMatchObject([
    { path: 'degrade[1].resource', value: '(a', bound: 'a regular expression: a group is not closed (at character 1)' },
  ])
  expect(guard.rules().degrade.map(({ id }) => id)).toEqual(['default'])
})

it('an expression that makes backtracking matchers stall does not', () => {
  const { guard } = watched()
  guard.loadDegradeRules([{ ...regex, resource: '^(a+)+$' }, rest])
  const name = `${'a'.repeat(2000)}!`
  fail(guard, name)
  expect(idsOf(guard, name)).toEqual(['default'])
})
