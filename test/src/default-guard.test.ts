// The default guard: one per process, and the functions of the module are its methods.
import { readFileSync } from 'node:fs'
import * as leapguard from 'leapguard'
import { afterEach, expect, it, vi } from 'vitest'
import { CODES } from '../../src/errors.js'
import { VERSION } from '../../src/version.js'
import { fail, HAIR, thrown } from './support.js'

const KEY = Symbol.for('leapguard.default-guards')
const guards = (globalThis as unknown as Record<symbol, Record<string, leapguard.Guard>>)[KEY] ?? {}
const SERIES = /^\d+\.\d+/.exec(VERSION)?.[0] ?? 'no series'
const { defaultGuard } = leapguard

afterEach(() => {
  leapguard.loadRules({ degrade: [] })
  leapguard.reset()
  vi.restoreAllMocks()
  vi.resetModules()
})

it('is kept under a symbol that every copy of the module knows', async () => {
  expect(guards).toEqual({ [SERIES]: defaultGuard })
  const warn = vi.spyOn(process, 'emitWarning').mockReturnValue()
  vi.resetModules()
  const copy = await import('leapguard')
  expect(copy.createGuard).not.toBe(leapguard.createGuard)
  expect(copy.defaultGuard).toBe(defaultGuard)
  expect(warn).not.toHaveBeenCalled()
})

it('is not that of a copy of another minor version, and one warning says so', async () => {
  const warn = vi.spyOn(process, 'emitWarning').mockReturnValue()
  delete guards[SERIES]
  guards['9.7'] = { entry: 'of another version' } as unknown as leapguard.Guard
  try {
    vi.resetModules()
    const copy = await import('leapguard')
    vi.resetModules()
    const another = await import('leapguard')
    expect(copy.defaultGuard).toBeInstanceOf(copy.Guard)
    expect(another.defaultGuard).toBe(copy.defaultGuard)
    expect(guards).toEqual({ '9.7': { entry: 'of another version' }, [SERIES]: copy.defaultGuard })
    expect(warn.mock.calls).toEqual([
      [
        `${CODES.LEAPGUARD_TWO_VERSIONS} (default guard: "${SERIES}.x beside 9.7.x")`,
        { type: 'LeapguardWarning', code: 'LEAPGUARD_TWO_VERSIONS' },
      ],
    ])
  } finally {
    delete guards['9.7']
    guards[SERIES] = defaultGuard
  }
})

it('is shared by the version that package.json tells', () => {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  expect(VERSION).toBe(version)
})

it('is another than those that are made', () => {
  const own = leapguard.createGuard()
  own.setRulesFor('default-guard', { degrade: [HAIR] })
  expect(leapguard.rules()).toEqual({ degrade: [] })
})

it('serves every function of the module, which need no this', async () => {
  const { entry, entrySync, enter, tryEnter, leave, wrap, loadRules, loadDegradeRules, setRulesFor, configure } =
    leapguard
  const { rules, stats, resources, on, forceOpen, forceClosed, auto, reset } = leapguard
  const r = 'default-guard'
  const told: string[] = []
  const off = on('state', ({ to }) => told.push(to))

  expect(await entry(r, () => 1)).toBe(1)
  expect(entrySync(r, () => 2)).toBe(2)
  expect(await wrap(r, (n: number) => n)(3)).toBe(3)
  enter(r).exit()
  leave(tryEnter(r), 'failure')
  expect(stats(r).totals).toMatchObject({ passed: 5, succeeded: 4, failed: 1, running: 0 })
  expect(defaultGuard.stats(r)).toEqual(stats(r))
  expect(resources()).toContain(r)

  loadRules({ degrade: [{ ...HAIR, resource: r, id: 'a' }] })
  loadDegradeRules([{ ...HAIR, resource: r, id: 'b' }])
  expect(rules().degrade.map(({ id }) => id)).toEqual(['b'])
  setRulesFor(r, { degrade: [{ ...HAIR, id: 'c' }] })
  expect(rules().degrade.map(({ id }) => id)).toEqual(['c'])
  configure(r, { fallbacks: [() => 'instead'] })
  fail(defaultGuard, r)
  expect(await entry<unknown>(r, () => 4)).toBe('instead')
  configure(r, { fallbacks: undefined })
  reset(r)
  forceOpen(r)
  expect(leapguard.isBlocked(thrown(() => enter(r)))).toBe(true)
  auto(r)
  forceClosed(r)
  enter(r).exit()
  auto(r)
  off()
  expect(told).toEqual(['open', 'closed', 'open', 'closed'])
})

it('has a function of the module for every method', () => {
  const methods = ['entry', 'entrySync', 'enter', 'tryEnter', 'leave', 'wrap', 'loadRules', 'loadDegradeRules']
  methods.push('setRulesFor', 'configure', 'rules', 'stats', 'resources', 'on', 'forceOpen', 'forceClosed', 'auto')
  methods.push('reset', 'dispose')
  const exported: Record<string, unknown> = { ...leapguard }
  for (const method of methods) {
    expect(exported[method]).toBeTypeOf('function')
    expect((defaultGuard as unknown as Record<string, unknown>)[method]).toBeTypeOf('function')
  }
})
