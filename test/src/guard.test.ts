// A guard's registry, rules in force, configuration and switches.
import { createGuard, type DegradeRuleInput, Guard, isBlocked, RuleError } from 'leapguard'
import { describe, expect, it } from 'vitest'
import { deferred, flush } from '../support/scenario.js'
import { fail, HAIR, INVALID, thrown, watched } from './support.js'

const count = { strategy: 'error-count', threshold: 3 } as const
const ZEROS = { passed: 0, blocked: 0, succeeded: 0, failed: 0, ignored: 0, slow: 0, wouldBlock: 0, running: 0 }

describe('options', () => {
  it('may be absent or empty', () => {
    expect(createGuard()).toBeInstanceOf(Guard)
    expect(new Guard({})).toBeInstanceOf(Guard)
  })

  it.each([
    ['clock', 'fast'],
    ['clock', 5],
    ['clock', null],
    ['clock', {}],
    ['clock', { now: 5 }],
    ['onClockBack', 'ignore'],
    ['onClockBack', null],
    ['onRuleChange', 'drop'],
    ['onInternalError', 'log'],
    ['onInternalError', null],
    ['refusalStacks', 1],
    ['random', 0.5],
    ['maxResourcez', 5],
    ['__proto__x', 5],
  ])('%s: %o is refused, named in the message', (name, value) => {
    const error = thrown(() => createGuard({ [name]: value }))
    expect(error).toMatchObject(INVALID)
    expect((error as Error).message).toContain(name)
  })

  it.each([null, 5, 'clock', true])('%s is refused', (options) => {
    // @ts-expect-error options are an object
    expect(thrown(() => createGuard(options))).toMatchObject(INVALID)
  })

  it.each(['auto', 'adaptive', 'precise'] as const)('clock %s makes a guard that works', async (clock) => {
    expect(await createGuard({ clock }).entry('r', () => 1)).toBe(1)
  })
})

describe('the registry', () => {
  it('lists what was entered, configured, forced or named by a rule, in order', async () => {
    const { guard } = watched()
    guard.loadDegradeRules([{ ...count, resource: 'ruled' }])
    await guard.entry('entered', () => 1)
    guard.configure('configured', {})
    guard.forceOpen('forced')
    guard.tryEnter('tried')
    expect(guard.resources()).toEqual(['ruled', 'entered', 'configured', 'forced', 'tried'])
    guard.resources().push('mine')
    expect(guard.resources()).toHaveLength(5)
  })

  it('is not added to by reading, or by a load, configuration or call that was refused as wrong', async () => {
    const { guard } = watched()
    expect(guard.stats('unknown')).toEqual({ resource: 'unknown', totals: ZEROS, rules: [] })
    guard.reset('unknown')
    thrown(() => guard.loadDegradeRules([{ ...count, resource: 'bad', threshold: 0 }]))
    thrown(() => guard.setRulesFor('bad', { degrade: [{ ...count, threshold: 0 }] }))
    thrown(() => guard.configure('bad', { classify: 5 as never }))
    expect(guard.resources()).toEqual([])
  })

  it('takes any non-empty string as an ordinary name', () => {
    const { guard } = watched()
    const names = ['__proto__', 'constructor', ' ', '\0', 'x'.repeat(1e5), '💥', 'a\nb']
    for (const name of names) {
      guard.setRulesFor(name, { degrade: [HAIR] })
      fail(guard, name)
      expect(guard.stats(name)).toMatchObject({ resource: name, totals: { failed: 1 }, rules: [{ state: 'open' }] })
    }
    expect(guard.resources()).toEqual(names)
    expect(guard.rules().degrade).toHaveLength(names.length)
  })
})

describe('loading', () => {
  it('of a family replaces it for all resources, and an absent one is left alone', () => {
    const { guard } = watched()
    guard.loadRules({
      degrade: [
        { ...count, resource: 'a' },
        { ...count, resource: 'b' },
      ],
    })
    expect(guard.loadRules({})).toEqual({
      at: 0,
      added: [],
      removed: [],
      kept: [],
      updated: [],
      restarted: [],
      dropped: [],
    })
    guard.loadRules({ degrade: undefined as never })
    expect(guard.rules().degrade.map(({ resource }) => resource)).toEqual(['a', 'b'])
    const { kept, removed } = guard.loadDegradeRules([{ ...count, resource: 'b' }])
    expect([kept, removed]).toEqual([
      [{ resource: 'b', match: 'exact', rule: 'error-count#1' }],
      [{ resource: 'a', match: 'exact', rule: 'error-count#1' }],
    ])
    expect(guard.stats('a').rules).toEqual([])
  })

  it('for one resource leaves the others alone, fills in its name and refuses another', () => {
    const { guard } = watched()
    guard.loadDegradeRules([
      { ...count, resource: 'a' },
      { ...count, resource: 'b' },
    ])
    expect(
      guard.setRulesFor('a', {
        degrade: [
          { ...count, id: 'x' },
          { ...count, resource: 'a', threshold: 9 },
        ],
      }),
    ).toMatchObject({
      added: [{ resource: 'a', match: 'exact', rule: 'error-count#1' }],
      kept: [{ resource: 'a', match: 'exact', rule: 'x' }],
    })
    expect(guard.rules().degrade.map(({ resource, id }) => `${resource}: ${id}`)).toEqual([
      'a: x',
      'a: error-count#1',
      'b: error-count#1',
    ])
    const error = thrown(() => guard.setRulesFor('a', { degrade: [{ ...count, resource: 'b' }] })) as RuleError
    expect(error.faults).toMatchObject([{ path: 'degrade[0].resource', value: 'b' }])
    guard.setRulesFor('a', { degrade: [] })
    guard.setRulesFor('b', {})
    expect(guard.rules().degrade.map(({ resource }) => resource)).toEqual(['b'])
  })

  it.each([null, undefined, [], 'rules', 5])('of %o in place of families is one fault', (set) => {
    const { guard } = watched()
    for (const load of [
      // @ts-expect-error families are an object
      () => guard.loadRules(set),
      // @ts-expect-error the same
      () => guard.setRulesFor('r', set),
    ]) {
      const error = thrown(load)
      expect(error).toBeInstanceOf(RuleError)
      expect((error as RuleError).faults).toHaveLength(1)
    }
  })

  it('of an unknown family is a fault, and the known one beside it is not applied', () => {
    const { guard } = watched()
    const set = { degrade: [{ ...count, resource: 'r' }], flow: [] }
    const error = thrown(() => guard.loadRules(set)) as RuleError
    expect(error.faults).toMatchObject([{ path: 'flow', value: [] }])
    expect(guard.rules().degrade).toEqual([])
  })

  it('for a name that is none throws a TypeError', () => {
    const { guard } = watched()
    for (const name of ['', undefined, 5]) {
      // @ts-expect-error a name is text that is not empty
      expect(thrown(() => guard.setRulesFor(name, { degrade: [] }))).toMatchObject(INVALID)
    }
  })

  it('the report says when, by the clock of the guard', () => {
    const { guard, clock } = watched()
    clock.set(1234)
    expect(guard.loadDegradeRules([]).at).toBe(1234)
  })
})

describe('rules()', () => {
  it('shows every option, frozen, and loading it again keeps everything', () => {
    const { guard } = watched()
    guard.loadDegradeRules([
      { ...count, resource: 'a' },
      { ...count, resource: 'b', id: 'mine' },
      { strategy: 'consecutive-errors', threshold: 2, resource: 'a' },
    ])
    fail(guard, 'a')
    const shown = guard.rules()
    expect(shown.degrade.every((rule) => Object.isFrozen(rule))).toBe(true)
    const before = [guard.stats('a'), guard.stats('b')]
    const { at: _at, kept, ...changes } = guard.loadRules(JSON.parse(JSON.stringify(shown)))
    expect(kept).toHaveLength(3)
    expect(changes).toEqual({ added: [], removed: [], updated: [], restarted: [], dropped: [] })
    expect(guard.rules()).toEqual(shown)
    expect([guard.stats('a'), guard.stats('b')]).toEqual(before)
  })

  it('loaded again does not stand in the way of a later change of the original list', () => {
    const { guard } = watched()
    const list = (threshold: number): DegradeRuleInput[] => [{ ...count, resource: 'r', threshold }]
    guard.loadDegradeRules(list(3))
    fail(guard)
    guard.loadRules(guard.rules())
    expect(guard.loadDegradeRules(list(5)).updated).toHaveLength(1)
    expect(guard.stats('r').rules[0]).toMatchObject({ total: 1, bad: 1 })
  })

  it('gives lists that are one’s own', () => {
    const { guard } = watched()
    guard.loadDegradeRules([{ ...count, resource: 'r' }])
    ;(guard.rules().degrade as unknown[]).length = 0
    expect(guard.rules().degrade).toHaveLength(1)
  })
})

describe('configure', () => {
  const DOWN = new Error('down')
  const down = () => Promise.reject(DOWN)

  it('replaces what is given, removes what is undefined, and leaves the rest', async () => {
    const { guard } = watched()
    guard.configure('r', { ignore: (error) => error === DOWN, fallbacks: [() => 'first'], fallbackOnIgnored: true })
    expect(await guard.entry<unknown>('r', down)).toBe('first')
    guard.configure('r', {})
    guard.configure('r', { fallbacks: [() => 'second'] })
    expect(await guard.entry<unknown>('r', down)).toBe('second')
    guard.configure('r', { fallbackOnIgnored: undefined })
    await expect(guard.entry('r', down)).rejects.toBe(DOWN)
    guard.configure('r', { ignore: undefined })
    expect(await guard.entry<unknown>('r', down)).toBe('second')
    expect(guard.stats('r').totals).toMatchObject({ ignored: 3, failed: 1 })
  })

  it('forgets the object it was given', async () => {
    const { guard } = watched()
    const config = { fallbacks: [() => 'first'] }
    guard.configure('r', config)
    config.fallbacks = [() => 'second']
    guard.configure('r', { classify: undefined })
    expect(await guard.entry<unknown>('r', down)).toBe('first')
  })

  it.each(['fallback', 'Classify', 'degrade', 'retry'])('refuses the unknown option %s', (name) => {
    const { guard } = watched()
    const error = thrown(() => guard.configure('r', { [name]: [] }))
    expect(error).toMatchObject({ ...INVALID, message: expect.stringContaining(`'${name}'`) })
  })

  it.each([null, undefined, 5, 'classify'])('refuses %o', (config) => {
    const { guard } = watched()
    // @ts-expect-error a configuration is an object
    expect(thrown(() => guard.configure('r', config))).toMatchObject(INVALID)
  })
})

describe('stats', () => {
  it('are plain, show all there is, and change nothing by being read', () => {
    const { guard, clock } = watched()
    guard.setRulesFor('r', {
      degrade: [
        { ...HAIR, id: 'hair' },
        { ...count, dryRun: true },
      ],
    })
    fail(guard)
    clock.set(400)
    guard.tryEnter('r')
    expect(guard.stats('r')).toStrictEqual({
      resource: 'r',
      totals: { ...ZEROS, passed: 1, failed: 1, blocked: 1 },
      rules: [
        {
          id: 'hair',
          strategy: 'error-count',
          state: 'open',
          openedAt: 0,
          retryAfterMs: 600,
          total: 1,
          bad: 1,
          probesOut: 0,
          admittedShare: 1,
          dryRun: false,
          wouldBlock: 0,
          forced: undefined,
        },
        {
          id: 'error-count#1',
          strategy: 'error-count',
          state: 'closed',
          openedAt: undefined,
          retryAfterMs: undefined,
          total: 1,
          bad: 1,
          probesOut: 0,
          admittedShare: 1,
          dryRun: true,
          wouldBlock: 0,
          forced: undefined,
        },
      ],
    })
    clock.set(1e9)
    expect(guard.stats('r')).toEqual(guard.stats('r'))
    expect(guard.stats('r').rules[0]).toMatchObject({ state: 'open', retryAfterMs: 0 })
  })

  it('are a snapshot of then', () => {
    const { guard } = watched()
    const before = guard.stats('r')
    guard.enter('r')
    const during = guard.stats('r')
    fail(guard)
    expect([before.totals, during.totals]).toEqual([ZEROS, { ...ZEROS, passed: 1, running: 1 }])
  })

  it('count a call that two dry runs would have refused, or two slow rules counted, once', () => {
    const { guard, clock } = watched()
    const slow = { strategy: 'slow-call-ratio', threshold: 1, minRequestAmount: 9 } as const
    guard.setRulesFor('r', {
      degrade: [
        { ...HAIR, id: 'a', dryRun: true },
        { ...HAIR, id: 'b', dryRun: true },
        { ...slow, maxAllowedRtMs: 10 },
        { ...slow, maxAllowedRtMs: 20 },
      ],
    })
    const handle = guard.enter('r')
    clock.set(21)
    handle.exit({ error: 1 })
    guard.enter('r').exit()
    expect(guard.stats('r').totals).toEqual({ ...ZEROS, passed: 2, failed: 1, succeeded: 1, slow: 1, wouldBlock: 1 })
    expect(guard.stats('r').rules.map(({ wouldBlock }) => wouldBlock)).toEqual([1, 1, 0, 0])
  })
})

describe('reset', () => {
  it('of one resource leaves the others, rules, forced states and calls in flight', async () => {
    const { guard } = watched()
    for (const name of ['a', 'b']) {
      guard.setRulesFor(name, { degrade: [HAIR] })
    }
    const work = deferred<void>()
    const running = guard.entry('a', () => work.promise)
    for (const name of ['a', 'b']) fail(guard, name)
    guard.reset('a')
    expect(guard.stats('a')).toMatchObject({ totals: { ...ZEROS, running: 1 }, rules: [{ state: 'closed', total: 0 }] })
    expect(guard.stats('b')).toMatchObject({ totals: { failed: 1 }, rules: [{ state: 'open' }] })
    work.reject(new Error('late'))
    await running.catch(() => {})
    expect(guard.stats('a')).toMatchObject({
      totals: { failed: 1, running: 0 },
      rules: [{ state: 'closed', total: 0 }],
    })
    guard.forceOpen('b')
    guard.reset()
    expect(guard.stats('b')).toMatchObject({ totals: ZEROS, rules: [{ state: 'open', forced: 'open' }] })
    guard.auto('b')
    expect(guard.stats('b').rules[0]?.state).toBe('closed')
  })

  it('tells of breakers that close by it', () => {
    const { guard } = watched()
    guard.setRulesFor('r', { degrade: [HAIR] })
    fail(guard)
    const told: unknown[] = []
    guard.on('state', ({ from, to, reason }) => told.push([from, to, reason]))
    guard.reset()
    guard.reset()
    expect(told).toEqual([['open', 'closed', 'reset']])
  })
})

describe('forcing', () => {
  it('works on names without rules, and for rules that come later', () => {
    const { guard } = watched()
    guard.forceOpen('r')
    expect(guard.tryEnter('r')).toBe(-1)
    guard.setRulesFor('r', { degrade: [HAIR] })
    expect(guard.stats('r').rules[0]).toMatchObject({ state: 'open', forced: 'open', openedAt: undefined })
    guard.forceClosed('r')
    expect(guard.tryEnter('r')).toBe(-1)
    guard.auto('r')
    expect(guard.tryEnter('r')).toBeGreaterThanOrEqual(0)
    expect(guard.stats('r').rules[0]?.forced).toBeUndefined()
  })

  it('open holds dry runs and custom rules do not speak', () => {
    const { guard } = watched()
    guard.setRulesFor('r', { degrade: [{ ...HAIR, dryRun: true }] })
    guard.configure('r', { rules: [{ id: 'mine', check: () => -5 }] })
    guard.forceOpen('r')
    expect(thrown(() => guard.enter('r'))).toMatchObject({ rule: undefined, retryAfterMs: undefined, kind: 'degrade' })
  })

  it('closed does not silence custom rules', () => {
    const { guard } = watched()
    guard.configure('r', { rules: [{ check: () => 1 }] })
    guard.forceClosed('r')
    expect(guard.tryEnter('r')).toBe(-2)
  })

  it('announces what a reload drops: what was stored, not what was felt', () => {
    const { guard } = watched()
    guard.setRulesFor('closed', { degrade: [HAIR] })
    guard.forceOpen('closed')
    expect(guard.setRulesFor('closed', { degrade: [] }).dropped).toEqual([])
    guard.setRulesFor('open', { degrade: [HAIR] })
    fail(guard, 'open')
    guard.forceClosed('open')
    expect(guard.setRulesFor('open', { degrade: [] }).dropped).toEqual([
      { resource: 'open', match: 'exact', rule: 'error-count#1', state: 'open' },
    ])
  })

  it.each(['forceOpen', 'forceClosed', 'auto'] as const)('%s refuses a name that is none', (verb) => {
    const { guard } = watched()
    // @ts-expect-error a name is text
    for (const name of ['', undefined, 5]) expect(thrown(() => guard[verb](name))).toMatchObject(INVALID)
  })
})

describe('after dispose', () => {
  it('calls run unguarded, with one warning', async () => {
    const { guard, told } = watched()
    guard.setRulesFor('r', { degrade: [HAIR] })
    guard.configure('r', { fallbacks: [() => 'instead'] })
    fail(guard)
    guard.forceOpen('r')
    guard.dispose()
    guard.dispose()
    expect(told()).toEqual([])
    expect(await guard.entry('r', () => 'value')).toBe('value')
    expect(guard.entrySync('r', () => 'value')).toBe('value')
    guard.enter('r').exit({ error: 1 })
    guard.leave(guard.tryEnter('other'), 'failure')
    expect(await guard.wrap('r', () => 'value')()).toBe('value')
    await expect(guard.entry('r', () => Promise.reject(new Error('own')))).rejects.toThrow('own')
    expect(told()).toEqual([['LEAPGUARD_DISPOSED', 'entry']])
  })

  it('configuration throws ERR_GUARD_DISPOSED', () => {
    const { guard } = watched()
    guard.dispose()
    for (const act of [
      () => guard.loadRules({}),
      () => guard.loadDegradeRules([]),
      () => guard.setRulesFor('r', {}),
      () => guard.configure('r', {}),
      () => guard.forceOpen('r'),
      () => guard.forceClosed('r'),
      () => guard.auto('r'),
    ]) {
      const error = thrown(act)
      expect(error).toBeInstanceOf(Error)
      expect(error).toMatchObject({ code: 'ERR_GUARD_DISPOSED' })
    }
  })

  it('nothing is left to read: no resources, no statistics, no rules', () => {
    const { guard } = watched()
    guard.setRulesFor('r', { degrade: [HAIR] })
    fail(guard)
    guard.dispose()
    guard.reset()
    guard.reset('r')
    expect(guard.resources()).toEqual([])
    expect(guard.stats('r')).toEqual({ resource: 'r', totals: ZEROS, rules: [] })
    expect(guard.rules()).toEqual({ degrade: [] })
  })

  it('calls in flight end normally, and no listener hears of them', async () => {
    const { guard, faults } = watched()
    guard.setRulesFor('r', { degrade: [HAIR] })
    const told: unknown[] = []
    guard.on('state', (event) => told.push(event))
    const [good, bad] = [deferred<string>(), deferred<string>()]
    const calls = [guard.entry('r', () => good.promise), guard.entry('r', () => bad.promise)]
    const handle = guard.enter('r')
    guard.dispose()
    good.resolve('value')
    bad.reject(new Error('own'))
    handle.exit({ error: 1 })
    expect(await Promise.allSettled(calls)).toMatchObject([{ value: 'value' }, { reason: new Error('own') }])
    await flush()
    expect([told, faults]).toEqual([[], []])
  })

  it('a clock that steps back refuses nobody any more', () => {
    const { guard, clock } = watched({ onClockBack: 'refuse' })
    guard.enter('r').exit()
    clock.set(-100)
    expect(isBlocked(thrown(() => guard.enter('r')))).toBe(true)
    guard.dispose()
    expect(guard.entrySync('r', () => 'value')).toBe('value')
  })
})
