// What a guard saves, what a new guard makes of it, and what it refuses to believe.
import {
  createGuard,
  type DegradeRuleInput,
  type Fault,
  type GuardOptions,
  RuleError,
  type SavedBreaker,
  type SavedState,
  StateError,
} from 'leapguard'
import { ManualClock } from 'leapguard/testing'
import { describe, expect, it } from 'vitest'
import { fail, HAIR, thrown, type Watched, watched } from './support.js'

const SLOW = { strategy: 'slow-call-ratio', threshold: 0.5, maxAllowedRtMs: 100, minRequestAmount: 4 } as const
const RATIO = { strategy: 'error-ratio', threshold: 0.5, minRequestAmount: 4 } as const
const STREAK = { strategy: 'consecutive-errors', threshold: 3, cooldownMs: 1000 } as const

const through = (state: SavedState): SavedState => JSON.parse(JSON.stringify(state))

/** The process after this one: what was saved came to it as text. */
function next({ guard }: Watched, nowMs: number, options: GuardOptions = {}): Watched {
  const w = watched({ restore: through(guard.save()), clock: new ManualClock(nowMs), ...options })
  return { ...w, clock: (options.clock as ManualClock | undefined) ?? w.clock }
}

function at(nowMs: number, options: GuardOptions = {}): Watched {
  const clock = new ManualClock(nowMs)
  return { ...watched({ ...options, clock }), clock }
}

/** A guard that goes on from `state` at `nowMs`, under `rules`. */
function revived(
  state: unknown,
  nowMs: number,
  rules: readonly DegradeRuleInput[],
  options: GuardOptions = {},
): Watched {
  const w = at(nowMs, { ...options, restore: state as SavedState })
  w.guard.loadDegradeRules(rules)
  return w
}

const ok = ({ guard }: Watched, resource = 'r') => guard.enter(resource).exit()

describe('save', () => {
  it('of a guard that has nothing to keep lists nobody', () => {
    const w = at(5000)
    w.guard.loadDegradeRules([{ ...HAIR, resource: 'r' }])
    w.guard.entrySync('free', () => 1)
    w.guard.configure('configured', { ignore: [] })
    expect(w.guard.save()).toEqual({ version: 1, savedAt: 5000, resources: [] })
  })

  it('lists states, live counts and forced states by name, in plain JSON', () => {
    const w = at(60_000)
    w.guard.loadDegradeRules([
      { ...HAIR, resource: 'open', id: 'mine' },
      { ...RATIO, resource: 'open' },
      { ...STREAK, resource: 'streak' },
      { ...HAIR, resource: 'calm' },
    ])
    fail(w.guard, 'open')
    fail(w.guard, 'streak')
    fail(w.guard, 'streak')
    w.guard.forceClosed('open')
    w.guard.forceOpen('forced')
    w.guard.forceClosed('forced') // open beats closed
    w.clock.advance(500)
    const window = { strategy: 'error-ratio', statIntervalMs: 10_000, bucketCount: 10 } as const
    const saved = w.guard.save()
    expect(saved).toMatchObject({
      version: 1,
      savedAt: 60_500,
      resources: [
        {
          resource: 'open',
          forced: 'closed',
          rules: [
            { id: 'mine', named: true, strategy: 'error-count', state: 'open', openedAt: 60_000, growth: 0 },
            { id: 'error-ratio#1', ...window, state: 'closed', window: [[60_000, 1, 1]] },
          ],
        },
        { resource: 'streak', rules: [{ id: 'consecutive-errors#1', state: 'closed', streak: 2 }] },
        { resource: 'forced', forced: 'open', rules: [] },
      ],
    })
    expect(saved.resources[1]?.rules[0]).not.toHaveProperty('named')
    expect(saved.resources[1]).not.toHaveProperty('forced')
    expect(through(saved)).toEqual(saved)
  })

  it('changes nothing', () => {
    const w = at(60_000)
    w.guard.loadDegradeRules([{ ...HAIR, resource: 'r' }])
    fail(w.guard)
    w.clock.advance(1000)
    const before = w.guard.stats('r')
    expect(w.guard.save()).toEqual(w.guard.save())
    expect(w.guard.stats('r')).toEqual(before)
    expect(w.guard.stats('r').rules[0]).toMatchObject({ state: 'open', retryAfterMs: 0 })
  })

  it('after dispose has nothing to keep', () => {
    const w = revived(opened().guard.save(), 0, [])
    w.guard.dispose()
    expect(w.guard.save().resources).toEqual([])
  })
})

/** A guard whose resource `r` is open since 60,000 for a second. */
function opened(): Watched {
  const w = at(60_000)
  w.guard.loadDegradeRules([{ ...HAIR, resource: 'r' }])
  fail(w.guard)
  return w
}

describe('restore', () => {
  it.each([null, undefined])('of %s makes an ordinary guard', (restore) => {
    const guard = createGuard({ restore })
    expect(guard.resources()).toEqual([])
    expect(guard.save().resources).toEqual([])
  })

  it('knows the names at once, in order', () => {
    const w = at(0)
    const names = ['b', 'a', '__proto__']
    w.guard.loadDegradeRules(names.map((resource) => ({ ...RATIO, resource })))
    for (const name of names) fail(w.guard, name)
    expect(next(w, 0).guard.resources()).toEqual(names)
  })

  it('lets an open breaker stay open to its end, from its first load on', () => {
    const before = opened()
    before.clock.advance(400)
    const w = revived(through(before.guard.save()), 60_700, [{ ...HAIR, resource: 'r' }])
    expect(w.guard.stats('r').rules[0]).toMatchObject({ state: 'open', openedAt: 60_000, retryAfterMs: 300 })
    w.clock.set(60_999)
    expect(w.guard.tryEnter('r')).toBe(-1)
    w.clock.set(61_000)
    expect(w.guard.tryEnter('r')).toBeGreaterThanOrEqual(0)
    expect(w.guard.stats('r').rules[0]?.state).toBe('half-open')
  })

  it.each([
    ['behind', 50_000, 50_000, 51_000],
    ['behind, but not before the opening', 60_100, 60_000, 61_000],
    ['ahead, within the cooldown', 60_999, 60_000, 61_000],
    ['ahead, past the cooldown', 70_000, 60_000, 70_000],
    ['years ahead', 10 ** 12, 60_000, 10 ** 12],
  ])('with a clock that is %s keeps it open at least for what is left', (_how, nowMs, openedAt, until) => {
    const before = opened()
    before.clock.advance(200)
    const w = revived(through(before.guard.save()), nowMs, [{ ...HAIR, resource: 'r' }])
    expect(w.guard.stats('r').rules[0]).toMatchObject({ state: 'open', openedAt, retryAfterMs: until - nowMs })
    if (until > nowMs) {
      w.clock.set(until - 1)
      expect(w.guard.tryEnter('r')).toBe(-1)
      w.clock.set(until)
    }
    expect(w.guard.tryEnter('r')).toBeGreaterThanOrEqual(0)
  })

  it('lets a half-open breaker go on with what its probes have earned, and none of them out', () => {
    const rule = { ...HAIR, resource: 'r', probeCount: 2, successThreshold: 3 }
    const before = at(0)
    before.guard.loadDegradeRules([rule])
    fail(before.guard)
    before.clock.set(1000)
    ok(before)
    before.guard.enter('r') // lost with its process
    const w = revived(through(before.guard.save()), 1000, [rule])
    expect(w.guard.stats('r').rules[0]).toMatchObject({ state: 'half-open', probesOut: 0 })
    const probes = [w.guard.enter('r'), w.guard.enter('r')]
    expect(w.guard.tryEnter('r')).toBe(-1)
    probes[0]?.exit()
    expect(w.guard.stats('r').rules[0]?.state).toBe('half-open')
    probes[1]?.exit()
    expect(w.guard.stats('r').rules[0]?.state).toBe('closed')
  })

  it('keeps the growth of cooldowns: a bad probe after the restart waits as long as it would have', () => {
    const rule = { ...HAIR, resource: 'r', cooldownMultiplier: 2 }
    const before = at(0)
    before.guard.loadDegradeRules([rule])
    fail(before.guard)
    before.clock.set(1000)
    fail(before.guard)
    const w = revived(through(before.guard.save()), 1000, [rule])
    expect(w.guard.stats('r').rules[0]?.retryAfterMs).toBe(2000)
    w.clock.set(3000)
    fail(w.guard)
    expect(w.guard.stats('r').rules[0]?.retryAfterMs).toBe(4000)
  })

  it('counts on where closed windows and runs were', () => {
    const rules = [
      { ...RATIO, resource: 'ratio' },
      { ...STREAK, resource: 'streak' },
      { ...RATIO, resource: 'last', statCallCount: 10, minRequestAmount: 4 },
      { ...SLOW, resource: 'slow' },
    ]
    const before = at(60_000)
    before.guard.loadDegradeRules(rules)
    for (const name of ['ratio', 'streak', 'last']) {
      fail(before.guard, name)
      fail(before.guard, name)
    }
    const calls = [1, 2, 3].map(() => before.guard.enter('slow'))
    before.clock.advance(101)
    for (const call of calls) call.exit()
    const w = revived(through(before.guard.save()), 62_000, rules)
    for (const name of ['ratio', 'streak', 'last', 'slow']) {
      expect(w.guard.stats(name).rules[0]).toMatchObject({ state: 'closed', total: name === 'slow' ? 3 : 2 })
    }
    fail(w.guard, 'streak')
    expect(w.guard.stats('streak').rules[0]?.state).toBe('open')
    for (const name of ['ratio', 'last']) {
      ok(w, name)
      expect(w.guard.stats(name).rules[0]?.state).toBe('closed')
      ok(w, name)
      expect(w.guard.stats(name).rules[0]).toMatchObject({ state: 'open', openedAt: 62_000 })
    }
    ok(w, 'slow')
    expect(w.guard.stats('slow').rules[0]?.state).toBe('open')
  })

  it('lets counts age out as if no time had been lost', () => {
    const before = at(60_000)
    before.guard.loadDegradeRules([{ ...RATIO, resource: 'r' }])
    fail(before.guard)
    before.clock.set(65_000)
    ok(before)
    const state = through(before.guard.save())
    const rules = [{ ...RATIO, resource: 'r' }]
    expect(revived(state, 69_999, rules).guard.stats('r').rules[0]).toMatchObject({ total: 2, bad: 1 })
    expect(revived(state, 70_000, rules).guard.stats('r').rules[0]).toMatchObject({ total: 1, bad: 0 })
    expect(revived(state, 75_000, rules).guard.stats('r').rules[0]).toMatchObject({ total: 0, bad: 0 })
  })

  it('brings forced states back at once, before and after the rules', () => {
    const before = at(0)
    before.guard.forceOpen('open')
    before.guard.forceClosed('closed')
    const w = next(before, 0)
    expect(w.guard.tryEnter('open')).toBe(-1)
    w.guard.loadDegradeRules([
      { ...HAIR, resource: 'open' },
      { ...HAIR, resource: 'closed' },
    ])
    expect(w.guard.stats('open').rules[0]).toMatchObject({ state: 'open', forced: 'open' })
    fail(w.guard, 'closed')
    expect(w.guard.stats('closed').rules[0]).toMatchObject({ state: 'closed', forced: 'closed' })
    w.guard.auto('open')
    w.guard.auto('closed')
    expect(w.guard.stats('open').rules[0]?.state).toBe('closed')
    expect(w.guard.stats('closed').rules[0]?.state).toBe('open')
  })

  it('under a forced state puts the breaker where it was, to be felt when given back', () => {
    const before = opened()
    before.guard.forceClosed('r')
    const w = revived(through(before.guard.save()), 60_000, [{ ...HAIR, resource: 'r' }])
    ok(w)
    w.guard.auto('r')
    expect(w.guard.stats('r').rules[0]).toMatchObject({ state: 'open', openedAt: 60_000 })
  })

  it('tells of breakers that are not closed, once the rules are loaded', () => {
    const w = next(opened(), 60_500)
    const told: unknown[] = []
    w.guard.on('state', ({ resource, from, to, reason, at }) => told.push([resource, from, to, reason, at]))
    expect(told).toEqual([])
    w.guard.loadDegradeRules([{ ...HAIR, resource: 'r' }])
    expect(told).toEqual([['r', 'closed', 'open', 'restored', 60_500]])
  })

  it('does not bring back totals', () => {
    const w = revived(opened().guard.save(), 60_000, [{ ...HAIR, resource: 'r' }])
    expect(w.guard.stats('r').totals).toMatchObject({ passed: 0, failed: 0 })
  })

  it('does not cling to the object it was given', () => {
    const state = through(opened().guard.save())
    const w = at(60_000, { restore: state })
    ;(state.resources as unknown[]).length = 0
    Object.assign(state.resources, [])
    w.guard.loadDegradeRules([{ ...HAIR, resource: 'r' }])
    expect(w.guard.stats('r').rules[0]?.state).toBe('open')
  })
})

describe('rules that changed between save and restore', () => {
  const state = () => through(opened().guard.save())

  it('apply their new cooldown to a breaker that is open', () => {
    const w = revived(state(), 60_000, [{ ...HAIR, resource: 'r', cooldownMs: 5000 }])
    expect(w.guard.stats('r').rules[0]).toMatchObject({ state: 'open', openedAt: 60_000, retryAfterMs: 5000 })
  })

  it.each([
    ['another strategy', STREAK],
    ['another window', { ...HAIR, statIntervalMs: 20_000 }],
    ['other buckets', { ...HAIR, bucketCount: 5 }],
    ['a window of calls', { ...HAIR, statCallCount: 5 }],
  ])('start anew with %s, even under the same id', (_what, rule) => {
    const before = at(0)
    before.guard.loadDegradeRules([{ ...HAIR, resource: 'r', id: 'x' }])
    fail(before.guard)
    const w = revived(through(before.guard.save()), 0, [{ ...rule, resource: 'r', id: 'x' }])
    expect(w.guard.stats('r').rules[0]).toMatchObject({ state: 'closed', total: 0 })
  })

  it('start anew with another slow limit', () => {
    const before = at(0)
    before.guard.loadDegradeRules([{ ...SLOW, resource: 'r' }])
    ok(before)
    const rules = [{ ...SLOW, resource: 'r', maxAllowedRtMs: 101 }]
    expect(revived(through(before.guard.save()), 0, rules).guard.stats('r').rules[0]?.total).toBe(0)
  })

  /** Saved: three rules of one shape, with 1, 2 and 3 calls in their windows. */
  function three(...ids: (string | undefined)[]): SavedState {
    let invented = 0
    const rules = ids.map((id, i): SavedBreaker => {
      const identity = id === undefined ? { id: `error-ratio#${++invented}` } : { id, named: true }
      const shape = { strategy: 'error-ratio', statIntervalMs: 10_000, bucketCount: 10 } as const
      return { ...identity, ...shape, state: 'closed', window: [[0, i + 1, 0]] }
    })
    return { version: 1, savedAt: 0, resources: [{ resource: 'r', rules }] }
  }

  it.each<[string, (string | undefined)[], (string | undefined)[], number[]]>([
    ['by the id the user gave, wherever it stands', ['a', 'b', 'c'], ['c', 'a', 'b'], [3, 1, 2]],
    ['not by place if the ids differ', ['a', 'b', 'c'], ['x', 'b', 'z'], [0, 2, 0]],
    ['by invented id where nobody named them', [undefined, undefined], [undefined, undefined], [1, 2]],
    ['whatever named rules stand before them', ['a', undefined, undefined], [undefined, undefined, 'a'], [2, 3, 1]],
    ['a named rule takes nothing of one that was not', [undefined], ['a'], [0]],
    ['a rule that is not named takes nothing of one that was', ['a'], [undefined], [0]],
  ])('are recognised: %s', (_how, saved, loaded, totals) => {
    const rules = loaded.map((id) => ({ ...RATIO, resource: 'r', ...(id === undefined ? {} : { id }) }))
    const w = revived(three(...saved), 0, rules)
    expect(w.guard.stats('r').rules.map(({ total }) => total)).toEqual(totals)
  })

  it('are recognised: in order by window where nobody named them and their places have changed', () => {
    const before = at(0)
    const [short, long] = [RATIO, { ...RATIO, statIntervalMs: 20_000 }].map((rule) => ({ ...rule, resource: 'r' }))
    before.guard.loadDegradeRules([short, long] as DegradeRuleInput[])
    fail(before.guard)
    before.clock.set(10_000)
    ok(before)
    expect(before.guard.stats('r').rules.map(({ total }) => total)).toEqual([1, 2])
    const w = revived(through(before.guard.save()), 10_000, [long, short, short] as DegradeRuleInput[])
    expect(w.guard.stats('r').rules.map(({ id, total }) => [id, total])).toEqual([
      ['error-ratio#1', 2],
      ['error-ratio#2', 1],
      ['error-ratio#3', 0],
    ])
  })

  it('may come in several loads: what fits none of the first waits for the next', () => {
    const w = revived(three('a', 'b'), 0, [{ ...RATIO, resource: 'r', id: 'b' }])
    expect(w.guard.stats('r').rules.map(({ total }) => total)).toEqual([2])
    ok(w)
    w.guard.loadDegradeRules([
      { ...RATIO, resource: 'r', id: 'a' },
      { ...RATIO, resource: 'r', id: 'b' },
    ])
    expect(w.guard.stats('r').rules.map(({ total }) => total)).toEqual([1, 3])
    w.guard.loadDegradeRules([])
    w.guard.loadDegradeRules([{ ...RATIO, resource: 'r', id: 'a' }])
    expect(w.guard.stats('r').rules.map(({ total }) => total)).toEqual([0]) // taken up once
  })
})

describe('a saved state that still waits for its rules', () => {
  it('is saved again as it is, without counts that have aged out', () => {
    const before = at(60_000)
    before.guard.loadDegradeRules([
      { ...HAIR, resource: 'open' },
      { ...RATIO, resource: 'counts' },
      { ...STREAK, resource: 'streak' },
    ])
    for (const name of ['open', 'counts', 'streak']) fail(before.guard, name)
    const first = before.guard.save()
    expect(next(before, 60_000).guard.save()).toEqual(first)
    const later = next(before, 70_000).guard.save()
    expect(later.savedAt).toBe(70_000)
    expect(later.resources).toEqual(first.resources.filter(({ resource }) => resource !== 'counts'))
  })

  it('keeps a recovery that has no counts yet', () => {
    const rule = { ...HAIR, resource: 'r', recoveryMs: 10_000, statIntervalMs: 1000 }
    const before = at(0)
    before.guard.loadDegradeRules([rule])
    fail(before.guard)
    before.clock.set(1000)
    ok(before)
    const again = next(before, 3000).guard.save()
    expect(again.resources).toMatchObject([{ resource: 'r', rules: [{ state: 'closed', closedAt: 1000 }] }])
    expect(revived(again, 3000, [rule]).guard.stats('r').rules[0]).toMatchObject({
      state: 'closed',
      admittedShare: 0.3,
    })
  })

  it.each([
    ['removed', (w: Watched) => expect(w.guard.remove('r')).toBe(true)],
    ['reset', (w: Watched) => w.guard.reset('r')],
    ['reset with all', (w: Watched) => w.guard.reset()],
  ])('is forgotten when it is %s', (_how, forget) => {
    const w = next(opened(), 60_000)
    forget(w)
    expect(w.guard.save().resources).toEqual([])
    w.guard.loadDegradeRules([{ ...HAIR, resource: 'r' }])
    expect(w.guard.stats('r').rules[0]?.state).toBe('closed')
  })

  it('outlives the eviction of its name', () => {
    const w = next(opened(), 60_000, { maxResources: 1 })
    expect(w.guard.resources()).toEqual(['r'])
    w.guard.entrySync('other', () => 1)
    expect(w.guard.resources()).toEqual(['other'])
    expect(w.guard.save().resources).toMatchObject([{ resource: 'r', rules: [{ state: 'open' }] }])
    w.guard.loadDegradeRules([{ ...HAIR, resource: 'r' }])
    expect(w.guard.tryEnter('r')).toBe(-1)
    expect(w.guard.remove('r')).toBe(true)
  })

  it('with more names than there is room for waits for them to be used; forced ones come first', () => {
    const before = at(0)
    const names = ['a', 'b', 'c', 'd']
    before.guard.loadDegradeRules(names.map((resource) => ({ ...RATIO, resource })))
    for (const name of names) fail(before.guard, name)
    before.guard.forceOpen('d')
    const w = next(before, 0, { maxResources: 2 })
    expect(w.guard.resources()).toEqual(['a', 'd'])
    expect(w.guard.save().resources.map(({ resource }) => resource)).toEqual(['a', 'd', 'b', 'c'])
    w.guard.loadDegradeRules(names.map((resource) => ({ ...RATIO, resource })))
    ok(w, 'c')
    expect(w.guard.stats('c').rules[0]).toMatchObject({ total: 2, bad: 1 })
  })
})

describe('what save never gave is refused', () => {
  const faultsOf = (restore: unknown, options: GuardOptions = {}): readonly Fault[] => {
    const error = thrown(() => createGuard({ ...options, restore: restore as SavedState }))
    expect(error).toBeInstanceOf(StateError)
    expect(error).toBeInstanceOf(TypeError)
    expect(error).not.toBeInstanceOf(RuleError)
    expect(error).toMatchObject({ name: 'StateError', code: 'ERR_STATE_INVALID' })
    const { faults, message } = error as StateError
    for (const fault of faults) expect(message).toContain(fault.message)
    return faults
  }
  const pathsOf = (restore: unknown, options: GuardOptions = {}) => faultsOf(restore, options).map(({ path }) => path)

  it.each(['', 'text', 0, 1, true, [], () => 1])('%o is no state', (value) => {
    expect(pathsOf(value)).toEqual(['restore'])
  })

  it.each([undefined, null, 0, 2, '1', 1.5, Number.NaN])('version %s is not judged any further', (version) => {
    const faults = faultsOf({ version, savedAt: 'never', resources: 5, more: 1 })
    expect(faults).toMatchObject([{ path: 'restore.version', bound: '1, the version this release knows' }])
  })

  it('every fault is told, with its path', () => {
    const shape = { strategy: 'error-ratio', statIntervalMs: 10_000, bucketCount: 10 }
    const state = {
      version: 1,
      savedAt: Number.POSITIVE_INFINITY,
      extra: 1,
      resources: [
        5,
        null,
        { resource: '', rules: [] },
        { resource: 'a', forced: 'ajar', rules: 'none' },
        { resource: 'a', rules: [null, [], { id: 'x', ...shape, state: 'closed', window: [[0, 0, 0]] }] },
        {
          resource: 'b',
          more: 1,
          rules: [
            { id: 'x', ...shape, state: 'open', openedAt: 'now', jitter: 2, growth: -1, takeovers: 0.5 },
            { id: 'x', ...shape, state: 'closed' },
          ],
        },
      ],
    }
    expect(pathsOf(state)).toEqual([
      'restore.extra',
      'restore.savedAt',
      'restore.resources[0]',
      'restore.resources[1]',
      'restore.resources[2].resource',
      'restore.resources[3].forced',
      'restore.resources[3].rules',
      'restore.resources[4].resource',
      'restore.resources[4].rules[0]',
      'restore.resources[4].rules[1]',
      'restore.resources[4].rules[2].window[0][1]',
      'restore.resources[5].more',
      'restore.resources[5].rules[0].growth',
      'restore.resources[5].rules[0].takeovers',
      'restore.resources[5].rules[0].openedAt',
      'restore.resources[5].rules[0].jitter',
      'restore.resources[5].rules[1].id',
    ])
  })

  it('a list that is none, or is absent', () => {
    expect(pathsOf({ version: 1, savedAt: 0 })).toEqual(['restore.resources'])
    expect(pathsOf({ version: 1, savedAt: 0, resources: {} })).toEqual(['restore.resources'])
    expect(pathsOf({ version: 1, resources: [] })).toEqual(['restore.savedAt'])
    expect(pathsOf({ version: 1, savedAt: 0, resources: [{ resource: 'a' }] })).toEqual(['restore.resources[0].rules'])
  })

  it('more forced names than there is room for', () => {
    const forced = (n: number) => ({
      version: 1,
      savedAt: 0,
      resources: Array.from({ length: n }, (_, i) => ({ resource: `${i}`, forced: 'open', rules: [] })),
    })
    expect(createGuard({ maxResources: 3, restore: forced(3) as SavedState }).resources()).toHaveLength(3)
    expect(faultsOf(forced(4), { maxResources: 3 })).toMatchObject([
      { path: 'restore.resources', bound: 'an array of at most 3 forced resources (maxResources)' },
    ])
  })

  it('a hostile key of JSON is an unknown field, and Object.prototype stays as it is', () => {
    const text =
      '{"version":1,"savedAt":0,"resources":[{"resource":"a","rules":[],"__proto__":{"forced":"open"}}],"__proto__":{"x":1}}'
    expect(pathsOf(JSON.parse(text))).toEqual(['restore.__proto__', 'restore.resources[0].__proto__'])
    expect(({} as { x?: number }).x).toBeUndefined()
  })
})
