// Names that come from outside: a million of them, more than there is room for, and names that an object would stumble over.
import { createGuard, type Guard } from 'leapguard'
import { ManualClock } from 'leapguard/testing'
import { describe, expect, it, vi } from 'vitest'
import { ENTRANCES, FAILURE, flush, Scenario } from '../support/scenario.js'

// A million calls take a while on a slow machine.
vi.setConfig({ testTimeout: 60_000 })

const counts = (guard: Guard) => guard.snapshot().registry

it('F35 a million made-up names stay within the bound; busy, open and hot names stay', () => {
  const BOUND = 1000
  const HOT = 20
  const clock = new ManualClock(0)
  const guard = createGuard({ clock, maxResources: BOUND })
  guard.loadDegradeRules([{ resource: 'ill', strategy: 'error-count', threshold: 1, cooldownMs: 2 ** 30 }])
  guard.enter('ill').exit({ error: FAILURE })
  const running = guard.enter('running')
  guard.forceClosed('forced')
  guard.configure('configured', { ignore: [] })
  for (let i = 0; i < HOT; i++) guard.entrySync(`hot ${i}`, () => i)

  const made = (i: number) => `GET /a/${i.toString(36)}`
  let hot = 0
  for (let i = 0; i < 1_000_000; i++) {
    clock.advance(1)
    guard.entrySync(made(i), () => i)
    if (i % 10 === 0) guard.entrySync(`hot ${hot++ % HOT}`, () => i) // each of them once per 200 made-up names
  }

  expect(counts(guard)).toEqual({
    size: BOUND,
    maxResources: BOUND,
    evicted: 1_000_000 + 4 + HOT - BOUND,
    overflowed: 0,
  })
  expect(guard.resources()).toHaveLength(BOUND)
  expect(guard.stats('ill').rules[0]).toMatchObject({ state: 'open', openedAt: 0 })
  expect(guard.stats('running').totals.running).toBe(1)
  expect(guard.resources()).toEqual(expect.arrayContaining(['ill', 'running', 'forced', 'configured']))
  for (let i = 0; i < HOT; i++) expect(guard.stats(`hot ${i}`).totals.passed).toBe(1 + 100_000 / HOT)
  const oldest = Math.min(...guard.resources().map((name) => Number.parseInt(name.split('GET /a/')[1] ?? 'zzzz', 36)))
  expect(oldest).toBeGreaterThan(1_000_000 - 3 * BOUND) // what stays of the made-up names is the newest

  running.exit()
  expect(guard.stats('running').totals).toMatchObject({ running: 0, succeeded: 1 })
  expect(guard.remove(made(999_999))).toBe(true)
  expect(guard.resources()).toHaveLength(BOUND - 1)
})

describe.each(['unguarded', 'shared'] as const)('F36 past the limit of names, %s', (onRegistryFull) => {
  /** A guard with a hundred names, all of them busy. */
  function packed() {
    const s = new Scenario('entry', [], { maxResources: 100, onRegistryFull })
    for (let i = 0; i < 100; i++) s.guard.enter(`name ${i}`)
    return s
  }

  it.each(ENTRANCES)('the function of the 101st name runs, with one warning and a counter (%s)', async (entrance) => {
    const s = packed()
    for (let i = 0; i < 3; i++) {
      expect(await s.call('ok', 0, entrance, `late ${i}`)).toBe('ok')
      expect(await s.call('fail', 0, entrance, `late ${i}`)).toBe('fail')
    }
    expect(s.faults).toHaveLength(1)
    expect(counts(s.guard)).toEqual({ size: 100, maxResources: 100, evicted: 0, overflowed: 6 })
    expect(s.guard.resources()).toHaveLength(100)
    const shared = onRegistryFull === 'shared' ? { passed: 6, failed: 3, succeeded: 3 } : { passed: 0, failed: 0 }
    expect(s.totals('(overflow)')).toMatchObject(shared)
  })

  it('the code of the warning is documented, and a process without a listener hears it as a warning', async () => {
    const heard: { code?: string; message: string }[] = []
    const listen = (warning: Error) => heard.push(warning)
    process.on('warning', listen)
    const guard = createGuard({ maxResources: 1, onRegistryFull })
    guard.enter('a')
    for (const name of ['b', 'c', 'd']) guard.entrySync(name, () => 1)
    await new Promise((done) => process.nextTick(done))
    await flush()
    process.off('warning', listen)
    expect(heard.map(({ code }) => code)).toEqual(['LEAPGUARD_REGISTRY_FULL'])
  })

  it('a name finds room again once another has come to rest', async () => {
    const s = packed()
    await s.call('ok', 0, 'entry', 'late')
    s.guard.remove('name 7')
    await s.call('ok', 0, 'entry', 'late')
    expect(s.totals('late').passed).toBe(1)
    expect(counts(s.guard)).toMatchObject({ size: 100, evicted: 0, overflowed: 1 })
  })
})

const HOSTILE = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf', 'null', ' ', '\0', '💥', '\ud800']

describe('F37 names that an object would stumble over', () => {
  it.each(ENTRANCES)('each has statistics and rules of its own (%s)', async (entrance) => {
    const before = Object.getOwnPropertyNames(Object.prototype).sort()
    const s = new Scenario(entrance, [])
    s.guard.loadDegradeRules(
      HOSTILE.map((resource, i) => ({ resource, id: resource, strategy: 'error-count', threshold: i + 1 })),
    )
    for (const [i, name] of HOSTILE.entries()) {
      for (let n = 0; n <= i; n++) {
        expect(s.rule(0, name)).toMatchObject({ id: name, state: 'closed', bad: n })
        expect(await s.call('fail', 0, entrance, name)).toBe('fail')
      }
      expect(s.rule(0, name)).toMatchObject({ state: 'open' })
      expect(await s.call('ok', 0, entrance, name)).toBe('refused')
      expect(s.totals(name)).toMatchObject({ passed: i + 1, failed: i + 1, blocked: 1 })
    }
    expect(s.guard.resources()).toEqual(HOSTILE)
    expect(s.states.map(({ resource }) => resource)).toEqual(HOSTILE)
    const named = ({ resources }: { resources: readonly { resource: string }[] }) =>
      resources.map(({ resource }) => resource)
    expect(named(s.guard.snapshot())).toEqual(HOSTILE)
    const saved = JSON.parse(JSON.stringify(s.guard.save()))
    expect(named(saved)).toEqual(HOSTILE)
    const revived = createGuard({ clock: s.clock, restore: saved })
    revived.loadRules(s.guard.rules())
    expect(revived.resources()).toEqual(HOSTILE)
    for (const name of HOSTILE) expect(revived.stats(name).rules).toMatchObject([{ id: name, state: 'open' }])
    expect(s.faults).toEqual([])
    expect(Object.getOwnPropertyNames(Object.prototype).sort()).toEqual(before)
    expect({}.toString()).toBe('[object Object]')
  })

  it('each can be configured, forced, reset and removed by itself', () => {
    const s = new Scenario('entry', [])
    for (const name of HOSTILE) {
      s.guard.configure(name, { fallbacks: [] })
      s.guard.forceOpen(name)
      expect(s.guard.tryEnter(name)).toBe(-1)
      s.guard.auto(name)
      s.guard.reset(name)
      expect(s.totals(name)).toMatchObject({ blocked: 0 })
      expect(s.guard.resources()).toEqual([name])
      expect(s.guard.remove(name)).toBe(true)
      expect(s.guard.remove(name)).toBe(false)
    }
  })

  it('nobody who was never named is found', () => {
    const s = new Scenario('entry', [])
    for (const name of HOSTILE) {
      expect(s.guard.stats(name)).toMatchObject({ resource: name, totals: { passed: 0 }, rules: [] })
      expect(s.guard.remove(name)).toBe(false)
    }
    expect(s.guard.resources()).toEqual([])
  })

  it('the empty name is refused with a clear error', async () => {
    const s = new Scenario('entry', [])
    const said = /^a resource name must be a non-empty string, got ''$/
    expect(() => s.guard.entrySync('', () => 1)).toThrow(said)
    await expect(s.guard.entry('', () => 1)).rejects.toThrow(said)
    for (const act of ['enter', 'tryEnter', 'forceOpen', 'forceClosed', 'auto', 'remove'] as const) {
      expect(() => s.guard[act]('')).toThrow(said)
    }
    expect(() => s.guard.configure('', {})).toThrow(said)
    expect(() => s.guard.setRulesFor('', {})).toThrow(said)
    expect(() => s.guard.loadDegradeRules([{ resource: '', strategy: 'error-count', threshold: 1 }])).toThrow(
      /degrade\[0\]\.resource: must be a non-empty string/,
    )
    expect(s.guard.resources()).toEqual([])
  })
})
