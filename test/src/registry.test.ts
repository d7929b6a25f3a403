// The bound on names: who goes when a guard is full, who never goes, and what a dropped resource still does.
import { type CallContext, type CustomRule, createGuard, type Guard, type GuardOptions } from 'leapguard'
import { describe, expect, it } from 'vitest'
import { Registry } from '../../src/registry.js'
import type { Resource } from '../../src/resource.js'
import { Runtime } from '../../src/runtime.js'
import { deferred, flush } from '../support/scenario.js'
import { fail, HAIR, INVALID, thrown, type Watched, watched } from './support.js'

/** A guard with room for so many names. */
const full = (maxResources: number, options: GuardOptions = {}): Watched => watched({ maxResources, ...options })

/** One call each, a millisecond apart. */
function visit({ guard, clock }: Watched, ...names: string[]): void {
  for (const name of names) {
    clock.advance(1)
    guard.entrySync(name, () => name)
  }
}

const counts = (guard: Guard) => guard.snapshot().registry
const kept = (guard: Guard): string => guard.resources().sort().join('')

describe('options', () => {
  it.each([0, -1, 1.5, 1_000_001, Number.NaN, Number.POSITIVE_INFINITY, '100', null])(
    'maxResources %s is refused with its bounds',
    (maxResources) => {
      const error = thrown(() => createGuard({ maxResources: maxResources as number }))
      expect(error).toMatchObject(INVALID)
      expect((error as Error).message).toMatch(/^maxResources must be an integer >= 1 and <= 1000000, got /)
    },
  )

  it.each(['refuse', null, true])('onRegistryFull %s is refused', (onRegistryFull) => {
    const error = thrown(() => createGuard({ onRegistryFull: onRegistryFull as 'shared' }))
    expect(error).toMatchObject(INVALID)
    expect((error as Error).message).toBe("onRegistryFull must be one of 'unguarded', 'shared'")
  })

  it('the bounds themselves are accepted, and 10,000 is the default', () => {
    expect(counts(createGuard({ maxResources: 1 })).maxResources).toBe(1)
    expect(counts(createGuard({ maxResources: 1_000_000 })).maxResources).toBe(1_000_000)
    expect(counts(createGuard())).toEqual({ size: 0, maxResources: 10_000, evicted: 0, overflowed: 0 })
  })
})

describe('a full registry', () => {
  it('gives the place of the name used longest ago to a new one', () => {
    const w = full(3)
    visit(w, 'a', 'b', 'c', 'a')
    expect(counts(w.guard)).toMatchObject({ size: 3, evicted: 0 })
    visit(w, 'd')
    expect(w.guard.resources()).toEqual(['a', 'c', 'd'])
    visit(w, 'e')
    expect(w.guard.resources()).toEqual(['a', 'd', 'e'])
    expect(counts(w.guard)).toEqual({ size: 3, maxResources: 3, evicted: 2, overflowed: 0 })
    expect(w.told()).toEqual([])
  })

  it.each(['entry', 'entrySync', 'enter', 'tryEnter'] as const)('counts %s as a use', async (entrance) => {
    const w = full(2)
    const { guard } = w
    visit(w, 'a', 'b')
    w.clock.advance(1)
    if (entrance === 'enter') guard.enter('a').exit()
    else if (entrance === 'tryEnter') guard.leave(guard.tryEnter('a'))
    else await guard[entrance]('a', () => 1)
    visit(w, 'c')
    expect(kept(guard)).toBe('ac')
  })

  it('counts a refused call as a use', () => {
    const w = full(2)
    w.guard.configure('a', { rules: [{ check: () => 1 }] })
    visit(w, 'b')
    expect(w.guard.tryEnter('a')).toBe(-2)
    visit(w, 'c')
    expect(kept(w.guard)).toBe('ac')
  })

  it('does not count reading as a use', () => {
    const w = full(2)
    visit(w, 'a', 'b')
    w.clock.advance(1)
    w.guard.stats('a')
    visit(w, 'c')
    expect(kept(w.guard)).toBe('bc')
  })

  it('keeps names that call themselves anything', () => {
    const w = full(4)
    visit(w, '__proto__', 'constructor', 'toString', 'x', 'y', 'hasOwnProperty')
    expect(w.guard.resources()).toEqual(['toString', 'x', 'y', 'hasOwnProperty'])
    expect(w.guard.remove('toString')).toBe(true)
    expect(w.guard.remove('valueOf')).toBe(false)
  })

  it('goes on with one place', () => {
    const w = full(1)
    visit(w, 'a', 'b', 'c', 'c')
    expect(w.guard.resources()).toEqual(['c'])
    expect(w.guard.stats('c').totals.passed).toBe(2)
    expect(counts(w.guard)).toMatchObject({ size: 1, evicted: 2 })
  })
})

/** What keeps a name, and what lets it go. */
const HOLDS: Record<string, (guard: Guard) => () => unknown> = {
  'a call made by entry runs': (guard) => {
    const work = deferred<void>()
    const call = guard.entry('a', () => work.promise)
    return async () => {
      work.resolve()
      await call
    }
  },
  'a handle of enter is out': (guard) => {
    const handle = guard.enter('a')
    return () => handle.exit()
  },
  'a permit of tryEnter is out': (guard) => {
    const permit = guard.tryEnter('a')
    return () => guard.leave(permit)
  },
  'one of its breakers is open': (guard) => {
    guard.setRulesFor('a', { degrade: [{ ...HAIR, threshold: 9 }, HAIR] })
    fail(guard, 'a')
    return () => guard.reset('a')
  },
  'it is forced open': (guard) => {
    guard.forceOpen('a')
    return () => guard.auto('a')
  },
  'it is forced closed': (guard) => {
    guard.forceClosed('a')
    return () => guard.auto('a')
  },
  'it is configured': (guard) => {
    guard.configure('a', {})
    return () => guard.remove('a')
  },
}

describe.each(Object.keys(HOLDS))('a name stays while %s', (what) => {
  it('and goes when that is over', async () => {
    const w = full(1)
    const release = HOLDS[what]?.(w.guard) as () => unknown
    visit(w, 'b', 'c')
    expect(w.guard.resources()).toEqual(['a'])
    expect(counts(w.guard)).toMatchObject({ size: 1, evicted: 0, overflowed: 2 })
    await release()
    visit(w, 'b')
    expect(w.guard.resources()).toEqual(['b'])
  })
})

it('a name stays while half-open with a probe out, and after the probe was given back', () => {
  const w = full(1)
  w.guard.setRulesFor('a', { degrade: [HAIR] })
  fail(w.guard, 'a')
  w.clock.advance(1000)
  const probe = w.guard.enter('a')
  visit(w, 'b')
  probe.cancel()
  visit(w, 'b')
  expect(w.guard.stats('a').rules[0]).toMatchObject({ state: 'half-open', probesOut: 0 })
  visit(w, 'a', 'b')
  expect(w.guard.resources()).toEqual(['b'])
})

it('a name stays while it recovers, until the recovery is over', () => {
  const w = full(1)
  w.guard.setRulesFor('a', { degrade: [{ ...HAIR, recoveryMs: 1000 }] })
  fail(w.guard, 'a')
  w.clock.advance(1000)
  w.guard.enter('a').exit()
  expect(w.guard.stats('a').rules[0]).toMatchObject({ state: 'closed', admittedShare: 0.1 })
  w.clock.advance(998)
  visit(w, 'b')
  expect(w.guard.resources()).toEqual(['a'])
  visit(w, 'b')
  expect(w.guard.resources()).toEqual(['b'])
})

describe('a name that was evicted', () => {
  it('comes back under its loaded rules, with counts of zero', () => {
    const w = full(1)
    w.guard.setRulesFor('a', { degrade: [{ ...HAIR, threshold: 2 }] })
    fail(w.guard, 'a')
    visit(w, 'b')
    expect(w.guard.stats('a')).toMatchObject({ totals: { passed: 0 }, rules: [] })
    fail(w.guard, 'a')
    expect(w.guard.stats('a')).toMatchObject({ totals: { failed: 1 }, rules: [{ state: 'closed', total: 1 }] })
    fail(w.guard, 'a')
    expect(w.guard.stats('a').rules[0]?.state).toBe('open')
  })

  it('comes back under the rules that were loaded meanwhile', () => {
    const w = full(1)
    w.guard.setRulesFor('a', { degrade: [HAIR] })
    visit(w, 'b')
    w.guard.setRulesFor('a', { degrade: [{ ...HAIR, id: 'new' }] })
    expect(w.guard.resources()).toEqual(['b'])
    visit(w, 'a')
    expect(w.guard.stats('a').rules.map(({ id }) => id)).toEqual(['new'])
  })

  it('tells no event, since nothing but counts was lost', () => {
    const w = full(1)
    const told: unknown[] = []
    w.guard.on('state', (event) => told.push(event))
    w.guard.setRulesFor('a', { degrade: [HAIR] })
    visit(w, 'a', 'b')
    expect(told).toEqual([])
  })

  it('is guarded by wrap as before, with arguments for custom rules only where there are some', async () => {
    const w = full(1)
    const seen: unknown[] = []
    const double = w.guard.wrap('a', (n: number) => n * 2)
    expect(await double(2)).toBe(4)
    visit(w, 'b')
    expect(await double(3)).toBe(6)
    expect(w.guard.resources()).toEqual(['a'])
    w.guard.configure('a', { rules: [{ check: () => 0, take: (_now, permit) => seen.push(permit.args) }] })
    expect(await double(4)).toBe(8)
    expect(seen).toEqual([[4]])
  })
})

/** A registry of `size` names, all busy, named by their place. */
function busy(size: number): { registry: Registry; at: (place: number) => Resource } {
  const registry = new Registry(new Runtime({ maxResources: size, onInternalError: () => {} }), () => {})
  for (let i = 0; i < size; i++) registry.admit(`n${i}`).running = 1
  return { registry, at: (place) => registry.get(`n${place}`) as Resource }
}

describe('the hand', () => {
  it('looks at one name in each sixteenth', () => {
    const { registry, at } = busy(160)
    for (let i = 0; i < 160; i++) if (i % 10 !== 0) Object.assign(at(i), { running: 0, lastUsed: 1 })
    registry.admit('new')
    expect(registry.stats()).toMatchObject({ evicted: 0, overflowed: 1 }) // places 0, 10, ... 150 were all busy
    registry.admit('new')
    expect(registry.stats()).toMatchObject({ evicted: 1, overflowed: 1 }) // then 1, 11, ...
    expect(at(1)).toBeUndefined()
  })

  it('takes the one used longest ago among those it looks at, not among all', () => {
    const { registry, at } = busy(160)
    for (const place of [0, 30, 31, 150]) Object.assign(at(place), { running: 0, lastUsed: 1000 - place })
    at(31).lastUsed = -5
    registry.admit('new')
    expect(at(150)).toBeUndefined()
    expect(registry.stats()).toMatchObject({ size: 160, evicted: 1 })
  })

  it.each([1, 2, 15, 16, 17, 31, 33, 100, 1000])('finds the one idle name among %i in time', (size) => {
    for (const idle of [0, Math.floor(size / 2), size - 1]) {
      const { registry, at } = busy(size)
      at(idle).running = 0
      let looks = 0
      while (registry.stats().evicted === 0 && looks <= size) {
        registry.admit('new')
        looks++
      }
      expect(at(idle)).toBeUndefined()
      expect(looks).toBeLessThanOrEqual(Math.ceil(size / Math.min(16, size)) + (size % 16))
    }
  })

  it('keeps its places right through any order of removing and adding', () => {
    const registry = new Registry(new Runtime({ maxResources: 5 }), () => {})
    for (const name of ['a', 'b', 'c', 'd', 'e']) registry.admit(name)
    for (const name of ['c', 'e', 'a', 'd', 'b']) {
      expect(registry.remove(name)).toBe(true)
      expect(registry.get(name)).toBeUndefined()
    }
    expect(registry.stats().size).toBe(0)
    for (const name of ['f', 'g', 'h']) registry.admit(name)
    registry.remove('f')
    registry.remove('h')
    expect([...registry.names()]).toEqual(['g'])
    expect([...registry.each()].map(({ name, place }) => [name, place])).toEqual([['g', 0]])
  })
})

describe('a call without room', () => {
  /** A guard with one place, which is taken for good. */
  function crowded(options: GuardOptions = {}): Watched {
    const w = full(1, options)
    w.guard.configure('a', {})
    return w
  }

  it('runs unguarded by default, by every entrance, and leaves nothing behind', async () => {
    const { guard } = crowded()
    guard.loadDegradeRules([{ ...HAIR, resource: 'b' }])
    for (let i = 0; i < 3; i++) {
      await expect(guard.entry('b', () => Promise.reject(new Error('own')))).rejects.toThrow('own')
      expect(guard.entrySync('b', () => 'value')).toBe('value')
      guard.enter('b').exit({ error: new Error('own') })
      guard.leave(guard.tryEnter('b'), 'failure')
      expect(await guard.wrap('b', (n: number) => n + i)(1)).toBe(1 + i)
    }
    expect(guard.stats('b')).toMatchObject({ totals: { passed: 0 }, rules: [] })
    expect(guard.resources()).toEqual(['a'])
    expect(counts(guard)).toEqual({ size: 1, maxResources: 1, evicted: 0, overflowed: 15 })
  })

  it('keeps fallbacks of its own, its context and its name', async () => {
    const { guard } = crowded()
    const failing = ({ resource }: CallContext) => Promise.reject(new Error(resource))
    const answer = (reason: unknown, { resource }: { resource: string }) => [(reason as Error).message, resource]
    expect(await guard.entry('b', failing, { fallbacks: [answer] })).toEqual(['b', 'b'])
    expect(guard.enter('b').resource).toBe('b')
  })

  it('warns once for all names, with what can be done in the message', () => {
    const { guard, faults } = crowded()
    for (const name of ['b', 'c', 'b']) guard.entrySync(name, () => 1)
    expect(faults).toMatchObject([{ code: 'LEAPGUARD_REGISTRY_FULL', where: 'entry', resource: undefined }])
    expect(faults[0]?.error).toMatchObject({ message: expect.stringMatching(/^of 1 names 1 were looked at, /) })
  })

  it('is a call of the one overflow resource if they are to share', async () => {
    const w = crowded({ onRegistryFull: 'shared' })
    const { guard } = w
    const seen: string[] = []
    guard.entrySync('b', ({ resource }) => seen.push(resource))
    await guard.entry('c', async ({ resource }) => seen.push(resource))
    const handle = guard.enter('d')
    seen.push(handle.resource)
    expect(seen).toEqual(['(overflow)', '(overflow)', '(overflow)'])
    expect(guard.stats('(overflow)')).toMatchObject({ resource: '(overflow)', totals: { passed: 3, running: 1 } })
    expect(guard.stats('b').totals.passed).toBe(0)
    expect(guard.resources()).toEqual(['a'])
    expect(counts(guard)).toMatchObject({ size: 1, overflowed: 3 })
    handle.exit()
    guard.reset('(overflow)')
    expect(guard.stats('(overflow)').totals.passed).toBe(0)
    visit(w, 'b')
    guard.reset()
    expect(guard.stats('(overflow)').totals.passed).toBe(0)
  })

  it('shares under no exact rule, not even one that names the overflow', () => {
    const { guard } = crowded({ onRegistryFull: 'shared' })
    guard.loadDegradeRules([
      { ...HAIR, resource: 'b' },
      { ...HAIR, resource: '(overflow)' },
    ])
    for (let i = 0; i < 3; i++) fail(guard, 'b')
    expect(guard.stats('(overflow)')).toMatchObject({ totals: { failed: 3 }, rules: [] })
  })

  it('lets the overflow be removed, and hides it behind a name of the user that is the same', () => {
    const { guard } = crowded({ onRegistryFull: 'shared' })
    expect(guard.remove('(overflow)')).toBe(false)
    guard.entrySync('b', () => 1)
    expect(guard.remove('(overflow)')).toBe(true)
    expect(guard.stats('(overflow)').totals.passed).toBe(0)
    guard.entrySync('b', () => 1)
    guard.remove('a')
    guard.configure('(overflow)', {})
    expect(guard.stats('(overflow)').totals.passed).toBe(0)
    guard.entrySync('(overflow)', () => 1)
    guard.entrySync('(overflow)', () => 1)
    expect(guard.stats('(overflow)').totals.passed).toBe(2)
  })

  it('still refuses a name that is none', async () => {
    const { guard } = crowded({ onRegistryFull: 'shared' })
    for (const name of ['', undefined, 5] as string[]) {
      expect(thrown(() => guard.entrySync(name, () => 1))).toMatchObject(INVALID)
      await expect(guard.entry(name, () => 1)).rejects.toMatchObject(INVALID)
    }
    expect(counts(guard).overflowed).toBe(0)
  })
})

describe('what the operator asks for', () => {
  const asks: Record<string, (guard: Guard, name: string) => void> = {
    configure: (guard, name) => guard.configure(name, {}),
    forceOpen: (guard, name) => guard.forceOpen(name),
    forceClosed: (guard, name) => guard.forceClosed(name),
  }

  it.each(Object.keys(asks))('%s takes the place of an idle name', (verb) => {
    const w = full(3)
    visit(w, 'a', 'b')
    w.guard.enter('c')
    asks[verb]?.(w.guard, 'd')
    asks[verb]?.(w.guard, 'e')
    expect(kept(w.guard)).toBe('cde')
    expect(counts(w.guard)).toMatchObject({ size: 3, evicted: 2, overflowed: 0 })
  })

  it('finds the one idle name among all, wherever it is', () => {
    for (const idle of [0, 1, 15, 16, 57, 98, 99]) {
      const { registry, at } = busy(100)
      at(idle).running = 0
      registry.claim('mine')
      expect(at(idle)).toBeUndefined()
      expect(registry.stats()).toMatchObject({ size: 100, evicted: 1, overflowed: 0 })
    }
  })

  it.each(Object.keys(asks))('%s throws ERR_REGISTRY_FULL if there is none, and changes nothing', (verb) => {
    const w = full(2)
    w.guard.forceOpen('a')
    w.guard.configure('b', {})
    const error = thrown(() => asks[verb]?.(w.guard, 'mine')) as Error
    expect(error).toBeInstanceOf(Error)
    expect(error).toMatchObject({ code: 'ERR_REGISTRY_FULL' })
    expect(error.message).toMatch(/^no room for "mine": all 2 names are /)
    expect(kept(w.guard)).toBe('ab')
    asks[verb]?.(w.guard, 'a') // a known name needs no room
    expect(counts(w.guard)).toMatchObject({ size: 2, evicted: 0, overflowed: 0 })
    expect(w.told()).toEqual([])
  })

  it('auto on an unknown name asks for no place', () => {
    const w = full(1)
    w.guard.auto('a')
    expect(w.guard.resources()).toEqual([])
    visit(w, 'b')
    w.guard.auto('a')
    expect(w.guard.resources()).toEqual(['b'])
  })
})

describe('rules', () => {
  const named = (...names: string[]) => names.map((resource) => ({ ...HAIR, resource }))

  it('register their names while there is room, and evict nobody', () => {
    const w = full(3)
    visit(w, 'x')
    w.guard.loadDegradeRules(named('a', 'b', 'c', 'd'))
    expect(w.guard.resources()).toEqual(['x', 'a', 'b'])
    expect(w.guard.rules().degrade.map(({ resource }) => resource)).toEqual(['a', 'b', 'c', 'd'])
    expect(counts(w.guard)).toMatchObject({ size: 3, evicted: 0, overflowed: 0 })
    fail(w.guard, 'd')
    expect(w.guard.stats('d').rules).toMatchObject([{ state: 'open' }])
  })

  it('are compiled into a resource before its first call is asked about', () => {
    const w = full(1)
    w.guard.loadDegradeRules(named('a', 'b'))
    w.clock.advance(5)
    const running = w.guard.enter('b')
    running.exit({ error: 1 })
    expect(w.guard.stats('b').rules).toMatchObject([{ state: 'open', openedAt: 5 }])
  })
})

describe('remove', () => {
  it('forgets state, counts, configuration and forced state; loaded rules stay', async () => {
    const { guard } = watched()
    guard.setRulesFor('r', { degrade: [HAIR] })
    guard.configure('r', { fallbacks: [() => 'instead'], rules: [{ id: 'mine', check: () => 0 }] })
    fail(guard)
    guard.forceOpen('r')
    expect(await guard.entry('r', () => 'value')).toBe('instead')
    expect(guard.remove('r')).toBe(true)
    expect(guard.resources()).toEqual([])
    expect(guard.stats('r')).toMatchObject({ totals: { passed: 0, blocked: 0 }, rules: [] })
    expect(guard.rules().degrade).toHaveLength(1)
    expect(guard.remove('r')).toBe(false)
    expect(await guard.entry('r', () => 'value')).toBe('value')
    expect(guard.stats('r')).toMatchObject({ totals: { passed: 1 }, rules: [{ state: 'closed', forced: undefined }] })
  })

  it.each([
    ['open', 'open'],
    ['half-open', 'half-open'],
    ['forced open', 'open'],
  ])('tells of a breaker that was %s', (how, from) => {
    const { guard, clock } = watched()
    guard.setRulesFor('r', { degrade: [HAIR, { ...HAIR, threshold: 9, id: 'calm' }] })
    if (how === 'forced open') guard.forceOpen('r')
    else fail(guard)
    clock.advance(1000)
    if (how === 'half-open') guard.tryEnter('r')
    const told: unknown[] = []
    guard.on('state', ({ rule, from, to, reason, at }) => told.push([rule.id, from, to, reason, at]))
    guard.remove('r')
    const first = ['error-count#1', from, 'closed', 'removed', 1000]
    expect(told).toEqual(how === 'forced open' ? [first, ['calm', 'open', 'closed', 'removed', 1000]] : [first])
  })

  it('tells nothing of one that nobody felt to be open', () => {
    const { guard } = watched()
    guard.setRulesFor('r', { degrade: [HAIR] })
    fail(guard)
    guard.forceClosed('r')
    const told: unknown[] = []
    guard.on('state', (event) => told.push(event))
    guard.remove('r')
    expect(told).toEqual([])
  })

  it('refuses a name that is none', () => {
    const { guard } = watched()
    // @ts-expect-error a name is text
    for (const name of ['', undefined, 5]) expect(thrown(() => guard.remove(name))).toMatchObject(INVALID)
  })

  it('is harmless after dispose', () => {
    const { guard } = watched({ onRegistryFull: 'shared' })
    guard.entrySync('r', () => 1)
    guard.dispose()
    expect(guard.remove('r')).toBe(false)
    expect(counts(guard).size).toBe(0)
  })
})

describe('a dropped resource whose calls still run', () => {
  it('lets them end: each gets its result, nobody counts them, no breaker moves, no event is told', async () => {
    const { guard, clock, told } = watched()
    guard.setRulesFor('r', { degrade: [HAIR, { ...HAIR, strategy: 'slow-call-ratio', maxAllowedRtMs: 10 }] })
    const good = deferred<string>()
    const bad = deferred<string>()
    const calls = [guard.entry('r', () => good.promise), guard.entry('r', () => bad.promise)]
    const handle = guard.enter('r')
    const permit = guard.tryEnter('r')
    expect(guard.remove('r')).toBe(true)
    const events: unknown[] = []
    guard.on('state', (event) => events.push(event))
    clock.advance(5000)
    good.resolve('good')
    bad.reject(new Error('bad'))
    expect(await calls[0]).toBe('good')
    await expect(calls[1]).rejects.toThrow('bad')
    handle.exit({ error: new Error('bad') })
    handle.exit()
    guard.leave(permit, 'failure')
    guard.leave(permit, 'failure')
    expect(guard.stats('r')).toMatchObject({ totals: { passed: 0, failed: 0, running: 0 }, rules: [] })
    expect(events).toEqual([])
    expect(told()).toEqual([])
  })

  it('does not mix them up with calls of the name that came back', async () => {
    const { guard } = watched()
    guard.setRulesFor('r', { degrade: [{ ...HAIR, threshold: 2 }] })
    const old = guard.enter('r')
    guard.remove('r')
    const young = guard.enter('r')
    old.exit({ error: new Error('old') })
    expect(guard.stats('r')).toMatchObject({ totals: { passed: 1, running: 1, failed: 0 }, rules: [{ total: 0 }] })
    young.exit({ error: new Error('young') })
    expect(guard.stats('r')).toMatchObject({ totals: { failed: 1 }, rules: [{ total: 1, state: 'closed' }] })
  })

  it('lets the custom rules that took them hear of their end', () => {
    const { guard } = watched()
    let out = 0
    const rule: CustomRule = {
      check: () => (out >= 2 ? 1 : 0),
      take: () => {
        out++
      },
      settle: () => {
        out--
      },
    }
    guard.configure('r', { rules: [rule] })
    const handles = [guard.enter('r'), guard.enter('r')]
    guard.remove('r')
    guard.configure('r', { rules: [rule] })
    expect(guard.tryEnter('r')).toBe(-2)
    for (const handle of handles) handle.exit()
    expect(out).toBe(0)
    guard.leave(guard.tryEnter('r'))
    expect(out).toBe(0)
  })

  it('judges them by the configuration they were made under', async () => {
    const { guard } = watched()
    guard.configure('r', { classify: () => 'failure', fallbacks: [() => 'instead'] })
    const work = deferred<string>()
    const call = guard.entry('r', () => work.promise)
    guard.remove('r')
    work.resolve('value')
    expect(await call).toBe('instead')
  })

  it('gives back the probes that are out', async () => {
    const { guard, clock, told } = watched()
    guard.setRulesFor('r', { degrade: [HAIR] })
    fail(guard)
    clock.advance(1000)
    const work = deferred<string>()
    const probe = guard.entry('r', () => work.promise)
    const runtime = (guard as unknown as { runtime: Runtime }).runtime
    expect(runtime.probesOut).toBe(1)
    guard.remove('r')
    expect(runtime.probesOut).toBe(0)
    work.reject(new Error('bad'))
    await probe.catch(() => {})
    expect(runtime.probesOut).toBe(0)
    expect(guard.tryEnter('r')).toBeGreaterThanOrEqual(0)
    expect(told()).toEqual([])
  })
})

describe('re-entrance', () => {
  const runtimeOf = (guard: Guard): Runtime => (guard as unknown as { runtime: Runtime }).runtime

  it('a function may remove its own resource', async () => {
    const { guard, told } = watched()
    guard.setRulesFor('r', { degrade: [HAIR] })
    const failing = () => {
      guard.remove('r')
      throw new Error('own')
    }
    expect(() => guard.entrySync('r', failing)).toThrow('own')
    await expect(guard.entry('r', failing)).rejects.toThrow('own')
    expect(guard.resources()).toEqual([])
    expect(guard.tryEnter('r')).toBeGreaterThanOrEqual(0)
    expect(told()).toEqual([])
  })

  it.each(['check', 'take', 'settle', 'advance'] as const)('so may %s of its custom rule', (verb) => {
    const { guard, clock, told } = watched()
    guard.setRulesFor('r', { degrade: [{ ...HAIR, strategy: 'consecutive-errors' }] })
    let armed = false
    const removes = () => {
      if (armed) guard.remove('r')
      return 0
    }
    guard.configure('r', { rules: [{ check: () => 0, [verb]: removes }, { check: () => 0 }] })
    fail(guard)
    clock.advance(1000)
    armed = true
    let ran = 0
    guard.entrySync('r', () => ran++) // would be the probe
    expect(ran).toBe(1)
    expect(guard.resources()).toEqual([])
    expect(runtimeOf(guard).probesOut).toBe(0)
    expect(told()).toEqual([])
    guard.entrySync('r', () => ran++)
    expect(guard.stats('r')).toMatchObject({ totals: { passed: 1, running: 0 }, rules: [{ state: 'closed' }] })
  })

  it('so may a listener, in the middle of a delivery; the queue goes on', () => {
    const { guard } = watched()
    guard.setRulesFor('r', { degrade: [HAIR, { ...HAIR, id: 'second' }] })
    const told: string[] = []
    guard.on('state', ({ rule, reason }) => {
      told.push(`${rule.id} ${reason}`)
      guard.remove('r')
    })
    fail(guard)
    expect(told).toEqual(['error-count#1 threshold', 'second threshold', 'error-count#1 removed', 'second removed'])
    expect(guard.resources()).toEqual([])
  })

  it('so may the source of jitter, while a breaker opens', () => {
    const told: unknown[] = []
    const w = watched({
      random: () => {
        w.guard.remove('r')
        return 0
      },
    })
    w.guard.on('state', (event) => told.push(event))
    w.guard.setRulesFor('r', { degrade: [{ ...HAIR, cooldownJitter: 0.5 }] })
    fail(w.guard)
    expect(told).toEqual([])
    expect(w.guard.tryEnter('r')).toBeGreaterThanOrEqual(0)
  })

  it('a call that removes the resource of the call around it ends like any other', async () => {
    const { guard, told } = watched()
    const outer = guard.entry('r', async () => {
      await flush()
      return guard.entry('r', async () => guard.remove('r'))
    })
    expect(await outer).toBe(true)
    expect(guard.stats('r').totals).toMatchObject({ passed: 0, running: 0 })
    expect(told()).toEqual([])
  })

  it('a name evicted between being found and being asked for runs, and disturbs nobody', () => {
    const w = full(1)
    const { guard } = w
    guard.setRulesFor('a', { degrade: [HAIR] })
    const options = {
      get count() {
        guard.entrySync('b', () => 1)
        return 1
      },
    }
    expect(thrown(() => guard.entrySync('a', () => Promise.reject(new Error('x')) as never, options))).toBeDefined()
    guard.enter('a', options).exit({ error: new Error('own') })
    expect(guard.resources()).toEqual(['b'])
    expect(w.told()).toEqual([])
    guard.entrySync('a', () => 1)
    expect(guard.stats('a').rules[0]?.state).toBe('closed')
  })

  it('a clock that calls the guard while a name is made does no harm', () => {
    let nested = false
    const guard = createGuard({
      maxResources: 1,
      clock: {
        now: () => {
          if (nested) {
            nested = false
            guard.entrySync('b', () => 1)
          }
          return 5
        },
        setTimer: () => undefined,
        clearTimer: () => {},
      },
    })
    guard.loadDegradeRules([{ ...HAIR, resource: 'a' }])
    guard.remove('a')
    nested = true
    fail(guard, 'a')
    expect(guard.resources()).toEqual(['b'])
    expect(counts(guard).size).toBe(1)
    fail(guard, 'a')
    expect(guard.stats('a').rules[0]?.state).toBe('open')
  })
})
