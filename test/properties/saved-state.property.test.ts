// Any guard at rest, saved, sent through JSON and restored, saves the same again, and goes on as the first one would have.
import fc from 'fast-check'
import { createGuard, type DegradeRuleInput, type Guard, type SavedState, StateError } from 'leapguard'
import { ManualClock } from 'leapguard/testing'
import { expect, it, vi } from 'vitest'
import { anyRule } from '../support/model-arbitraries.js'

// Thousands of random schedules; more than enough on a slow machine.
vi.setConfig({ testTimeout: 60_000 })

const NAMES = ['a', '__proto__', 'constructor'] as const

type Step =
  | { readonly do: 'wait'; readonly ms: number }
  | { readonly do: 'call'; readonly name: string; readonly ms: number; readonly bad: boolean }
  | { readonly do: 'forceOpen' | 'forceClosed' | 'auto' | 'reset'; readonly name: string }

const anyName = fc.constantFrom(...NAMES)
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('wait' as const),
      ms: fc.oneof(fc.integer({ min: 1, max: 60 }), fc.constant(400)),
    }),
  },
  {
    weight: 10,
    arbitrary: fc.record({
      do: fc.constant('call' as const),
      name: anyName,
      ms: fc.constantFrom(0, 0, 1, 60),
      bad: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constantFrom('forceOpen', 'forceClosed', 'auto', 'reset'), name: anyName }),
  },
)
const anySteps = fc.array(anyStep, { maxLength: 40, size: 'max' })

const anyNamedRule = fc
  .tuple(
    anyName,
    fc
      .constantFrom('slow-call-ratio', 'error-ratio', 'error-count', 'consecutive-errors')
      .chain((strategy) => anyRule(strategy)),
    fc.boolean(),
  )
  .map(([resource, draft, isNamed]): DegradeRuleInput & { isNamed: boolean } => ({ ...draft, resource, isNamed }))
const anyRules = fc
  .array(anyNamedRule, { maxLength: 6 })
  .map((rules) =>
    rules.map(
      ({ isNamed, id: _id, ...rule }, i): DegradeRuleInput => ({ ...rule, ...(isNamed ? { id: `rule ${i}` } : {}) }),
    ),
  )

function make(clock: ManualClock, restore?: SavedState): Guard {
  return createGuard({ clock, random: () => 0.5, restore })
}

/** One step; what a caller sees of it. */
function take(guard: Guard, clock: ManualClock, step: Step): number {
  if (step.do === 'wait') clock.advance(step.ms)
  else if (step.do !== 'call') guard[step.do](step.name)
  else {
    const permit = guard.tryEnter(step.name)
    if (permit < 0) return permit
    clock.advance(step.ms)
    guard.leave(permit, step.bad ? 'failure' : 'success')
  }
  return 0
}

/** What can be seen of the breakers, but for what ends with a process: refusals of dry runs, and counts that closing will empty anyway. */
const seen = (guard: Guard) =>
  NAMES.map((name) =>
    guard.stats(name).rules.map(({ wouldBlock: _, total, bad, ...rule }) => {
      return rule.state === 'closed' && rule.forced === undefined ? { ...rule, total, bad } : rule
    }),
  )

it('saves the same again, before its rules are loaded and after, and goes on as the first would have', () => {
  const states = new Set<string>()
  fc.assert(
    fc.property(anyRules, fc.boolean(), anySteps, anySteps, (drafts, recovers, before, after) => {
      const rules = recovers ? drafts : drafts.map((rule) => ({ ...rule, recoveryMs: 0 }))
      const clock = new ManualClock(1_000_000)
      const first = make(clock)
      first.loadDegradeRules(rules)
      for (const step of before) take(first, clock, step)

      const text = JSON.stringify(first.save())
      const saved: SavedState = JSON.parse(text)
      expect(saved).toEqual(first.save())
      for (const { rules } of saved.resources) for (const { state } of rules) states.add(state)

      const laterClock = new ManualClock(clock.now())
      const second = make(laterClock, saved)
      expect(second.save()).toEqual(saved)
      second.loadDegradeRules(rules)
      expect([...second.save().resources].sort(byName)).toEqual([...saved.resources].sort(byName))
      expect(seen(second)).toEqual(seen(first))

      if (recovers) return // which calls a recovery lets in hangs on how many were offered before, and totals are not saved
      for (const step of after) {
        expect(take(second, laterClock, step)).toBe(take(first, clock, step))
        expect(seen(second)).toEqual(seen(first))
      }
    }),
    { numRuns: 500 },
  )
  expect([...states].sort()).toEqual(['closed', 'half-open', 'open'])
})

it('no open breaker lets anybody through before its end, whatever the clock of the next process shows', () => {
  const anyTime = fc.integer({ min: -2_000_000, max: 2_000_000 })
  fc.assert(
    fc.property(anyNamedRule, anyTime, fc.integer({ min: 0, max: 5000 }), (rule, skew, pause) => {
      const { isNamed: _, ...hair } = rule
      const name = rule.resource as string
      const clock = new ManualClock(3_000_000)
      const first = make(clock)
      first.loadDegradeRules([{ ...hair, dryRun: false }])
      for (let i = 0; i < 200 && first.stats(name).rules[0]?.state === 'closed'; i++) {
        take(first, clock, { do: 'call', name, ms: 60, bad: true })
      }
      fc.pre(first.stats(name).rules[0]?.state === 'open')
      const left = first.stats(name).rules[0]?.retryAfterMs as number
      const state = JSON.parse(JSON.stringify(first.save()))

      const laterClock = new ManualClock(clock.now() + pause + skew)
      const second = make(laterClock, state)
      second.loadDegradeRules([{ ...hair, dryRun: false }])
      const wait = second.stats(name).rules[0]?.retryAfterMs as number
      expect(wait).toBeGreaterThanOrEqual(Math.max(0, left - pause - Math.max(0, skew)))
      if (wait === 0) return
      laterClock.advance(wait - 1)
      expect(second.tryEnter(name)).toBe(-1)
      laterClock.advance(1)
      expect(second.tryEnter(name)).toBeGreaterThanOrEqual(0)
    }),
    { numRuns: 300 },
  )
})

it('whatever field is replaced by whatever, it is refused with that field named, or it can be used', () => {
  const clock = new ManualClock(1_000_000)
  const base = make(clock)
  base.loadDegradeRules(
    NAMES.flatMap((resource): DegradeRuleInput[] => [
      { resource, strategy: 'error-count', threshold: 2, cooldownMs: 1000 },
      { resource, strategy: 'error-ratio', threshold: 1, minRequestAmount: 100 },
      { resource, strategy: 'consecutive-errors', threshold: 9 },
      { resource, strategy: 'error-ratio', threshold: 1, minRequestAmount: 5, statCallCount: 5 },
    ]),
  )
  for (const name of NAMES) for (let i = 0; i < 2; i++) take(base, clock, { do: 'call', name, ms: 0, bad: true })
  clock.advance(1000)
  base.enter('a') // half-open
  base.forceClosed('constructor')
  const text = JSON.stringify(base.save())
  const paths = pathsIn(JSON.parse(text))
  expect(paths.length).toBeGreaterThan(80)

  let refused = 0
  const garbage = fc.oneof(
    fc.anything(),
    fc.double(),
    fc.integer(),
    fc.string(),
    fc.constantFrom('open', 'closed', -1, 1e300),
  )
  fc.assert(
    fc.property(fc.constantFrom(...paths), garbage, (path, value) => {
      const state = JSON.parse(text)
      put(state, path, value)
      const was = structuredClone(get(JSON.parse(text), path))
      try {
        const guard = make(new ManualClock(1_000_000), state)
        guard.loadRules(base.rules())
        for (const name of NAMES) guard.tryEnter(name)
        guard.save()
      } catch (error) {
        if (!(error instanceof StateError)) throw error
        refused++
        expect(error.faults.length).toBeGreaterThan(0)
        expect(value).not.toEqual(was)
        const near = error.faults.map(({ path: p }) => p.replace(/^restore\.?/, ''))
        const named = path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`)).join('')
        // The fault is in the field, in what it holds, in what holds it, or in a sibling that no longer fits.
        const parent = named.replace(/(\.\w+|\[\d+\])$/, '').slice(1)
        expect(near.some((p) => p.startsWith(parent) || parent.startsWith(p))).toBe(true)
      }
    }),
    { numRuns: 2000 },
  )
  expect(refused).toBeGreaterThan(1000)
})

type Path = readonly (string | number)[]

function pathsIn(value: unknown, path: Path = []): Path[] {
  const own = path.length > 0 ? [path] : []
  if (typeof value !== 'object' || value === null) return own
  const inner = Array.isArray(value) ? [...value.entries()] : Object.entries(value)
  return [...own, ...inner.flatMap(([key, part]) => pathsIn(part, [...path, key]))]
}

function get(root: unknown, path: Path): unknown {
  return path.reduce((at, key) => (at as Record<string | number, unknown>)[key], root)
}

function put(root: unknown, path: Path, value: unknown): void {
  const holder = get(root, path.slice(0, -1)) as Record<string | number, unknown>
  holder[path.at(-1) as string | number] = value
}

const byName = (a: { resource: string }, b: { resource: string }) => (a.resource < b.resource ? -1 : 1)
