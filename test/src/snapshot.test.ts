// snapshot(): everything a guard counts, as plain JSON, whatever the names are.
import assert from 'node:assert/strict'
import { createGuard, defaultGuard, type Guard, type GuardOptions, snapshot } from 'leapguard'
import { describe, expect, it } from 'vitest'
import { fail, HAIR, INVALID, thrown, type Watched, watched } from './support.js'

/** Breakers in every state, a forced resource, one that is only named by a rule, statistics with and without response times. */
function busy(options: GuardOptions = {}): Watched {
  const setup = watched({ statistics: true, name: 'gateway', ...options })
  const { guard, clock } = setup
  for (const name of ['closed', 'open', 'half-open', 'unused']) guard.setRulesFor(name, { degrade: [HAIR] })
  guard.setRulesFor('dry', { degrade: [{ ...HAIR, dryRun: true }] })
  guard.configure('bare', { statistics: false })
  guard.enter('closed').exit()
  fail(guard, 'half-open')
  clock.set(1000.5)
  fail(guard, 'open')
  fail(guard, 'dry')
  guard.enter('half-open')
  guard.tryEnter('open')
  guard.enter('bare').cancel()
  guard.forceOpen('forced')
  guard.tryEnter('forced')
  return setup
}

/** The names in the order in which they were made. */
const NAMES = ['closed', 'open', 'half-open', 'unused', 'dry', 'bare', 'forced']

const find = (guard: Guard, name: string) => guard.snapshot().resources.find(({ resource }) => resource === name)

describe('a snapshot', () => {
  it('is exactly what its JSON says', () => {
    const { guard } = busy()
    const taken = guard.snapshot()
    assert.deepStrictEqual(JSON.parse(JSON.stringify(taken)), taken)
    expect(JSON.stringify(taken)).not.toContain('null')
  })

  it('says of which guard it is, of when, and lists all names in order', () => {
    const { guard } = busy()
    const { resources, ...rest } = guard.snapshot()
    expect(rest).toStrictEqual({
      version: 1,
      guard: 'gateway',
      at: 1000.5,
      registry: { size: 7, maxResources: 10_000, evicted: 0, overflowed: 0 },
    })
    expect(resources.map(({ resource }) => resource)).toEqual(NAMES)
    expect(guard.resources()).toEqual(NAMES)
  })

  it('says of each name what stats says, without what is undefined', () => {
    const { guard } = busy()
    for (const taken of guard.snapshot().resources) expect(taken).toEqual(guard.stats(taken.resource))
    expect(find(guard, 'open')?.rules).toStrictEqual([
      {
        id: 'error-count#1',
        strategy: 'error-count',
        dryRun: false,
        state: 'open',
        openedAt: 1000.5,
        retryAfterMs: 1000,
        total: 1,
        bad: 1,
        probesOut: 0,
        admittedShare: 1,
        wouldBlock: 0,
      },
    ])
    expect(find(guard, 'closed')?.rules[0]).not.toHaveProperty('openedAt')
    expect(find(guard, 'closed')?.window?.rt?.count).toBe(1)
    expect(find(guard, 'unused')?.window).toStrictEqual({
      intervalMs: 10_000,
      passed: 0,
      blocked: 0,
      succeeded: 0,
      failed: 0,
      ignored: 0,
      slow: 0,
    })
    expect(find(guard, 'bare')).not.toHaveProperty('window')
  })

  it('changes nothing: two in a row are equal, nothing is told, no state moves', () => {
    const { guard, clock, faults } = busy()
    const told: unknown[] = []
    guard.on('state', (event) => told.push(event))
    guard.on('blocked', (event) => told.push(event))
    expect(guard.snapshot()).toStrictEqual(guard.snapshot())
    clock.set(50_000) // cooldowns and probe timeouts are long over
    const late = guard.snapshot()
    expect(guard.snapshot()).toStrictEqual(late)
    expect(late.resources[1]?.rules[0]).toMatchObject({ state: 'open', retryAfterMs: 0 })
    expect([told, faults]).toEqual([[], []])
  })

  it('is a copy: nobody can reach the guard through it', () => {
    const { guard } = busy()
    const taken = guard.snapshot()
    const before = structuredClone(taken)
    ;(taken.resources as unknown[]).length = 0
    ;(taken.registry as { size: number }).size = -1
    expect(guard.snapshot()).toStrictEqual(before)
  })

  it('has the resource of names without room last', () => {
    const { guard } = watched({ maxResources: 1, onRegistryFull: 'shared' })
    guard.forceOpen('kept')
    guard.enter('a').exit()
    guard.enter('b').exit()
    const { resources, registry } = guard.snapshot()
    expect(resources.map(({ resource, totals }) => [resource, totals.passed])).toEqual([
      ['kept', 0],
      ['(overflow)', 2],
    ])
    expect(registry).toStrictEqual({ size: 1, maxResources: 1, evicted: 0, overflowed: 2 })
  })

  it('of a guard without names, or after dispose, is empty', () => {
    const { guard } = watched()
    expect(guard.snapshot()).toStrictEqual({
      version: 1,
      guard: 'guard',
      at: 0,
      resources: [],
      registry: { size: 0, maxResources: 10_000, evicted: 0, overflowed: 0 },
    })
    const used = busy()
    used.guard.dispose()
    expect(used.guard.snapshot().resources).toEqual([])
  })
})

it('F37 names that objects inherit are listed like any other, with their own counts', () => {
  const hostile = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'toJSON', '\ud800', '0', ' ', '"\u0000']
  const { guard } = watched({ statistics: true })
  hostile.forEach((name, i) => {
    guard.setRulesFor(name, { degrade: [HAIR] })
    for (let n = 0; n <= i; n++) guard.enter(name).exit()
  })
  const taken = guard.snapshot()
  assert.deepStrictEqual(JSON.parse(JSON.stringify(taken)), taken)
  expect(taken.resources.map(({ resource, totals, window }) => [resource, totals.passed, window?.passed])).toEqual(
    hostile.map((name, i) => [name, i + 1, i + 1]),
  )
  expect(Object.keys(Object.prototype)).toEqual([])
  expect(Reflect.ownKeys({})).toEqual([])
})

describe('the name of a guard', () => {
  it("is its own, 'guard' without one, and 'default' for the default guard", () => {
    expect(createGuard().name).toBe('guard')
    expect(createGuard({ name: 'a b' }).name).toBe('a b')
    expect([defaultGuard.name, snapshot().guard]).toEqual(['default', 'default'])
  })

  it.each(['', null, 5, {}])('cannot be %j', (name) => {
    const error = thrown(() => createGuard({ name: name as string }))
    expect(error).toMatchObject(INVALID)
    expect((error as Error).message).toMatch(/^name must be a non-empty string, got /)
  })
})
