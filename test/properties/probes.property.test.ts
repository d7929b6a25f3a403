// Probes, refusals and permits: never too many out, no trace of a refused call, each permit settled once.
import fc from 'fast-check'
import { type CustomRule, createGuard, type EntryHandle, type Guard, isBlocked, type ResourceStats } from 'leapguard'
import { ManualClock } from 'leapguard/testing'
import { describe, expect, it, vi } from 'vitest'
import { anyMove, anyRule, anyStart, play, type Strategy, shortWait } from '../support/model-arbitraries.js'
import { CHANCE } from '../support/model-breaker.js'
import { type RuleDraft, Twin } from '../support/model-guard.js'

// Thousands of random schedules; more than enough on a slow machine.
vi.setConfig({ testTimeout: 60_000 })

const R = 'r'

const strategies = fc.constantFrom<Strategy[]>('slow-call-ratio', 'error-ratio', 'error-count', 'consecutive-errors')

/** Trips at the first bad call, so that schedules spend their time around probes. */
const nervous = (draft: RuleDraft): RuleDraft => ({
  ...draft,
  threshold: 1,
  comparison: 'at-or-above',
  ...(draft.strategy === 'consecutive-errors' ? {} : { minRequestAmount: 1 }),
  dryRun: false,
})

/** Nothing in it is decided by time alone, so an entry that is refused may change nothing at all. */
const timeless = (draft: RuleDraft): RuleDraft => ({
  ...nervous(draft),
  probeTimeoutMs: null,
  maxHalfOpenMs: null,
  recoveryMs: 0,
  ...(draft.strategy === 'slow-call-ratio' ? { countRunning: false } : {}),
})

/** Without steps back to full traffic: there each refusal moves on the turn of who passes. */
const unmoved = (draft: RuleDraft): RuleDraft => ({ ...draft, recoveryMs: 0 })

const guardWith = (clock: ManualClock, drafts: readonly RuleDraft[], custom: readonly CustomRule[] = []): Guard => {
  const guard = createGuard({ clock, random: () => CHANCE })
  guard.setRulesFor(R, { degrade: drafts.map((draft, i) => ({ ...draft, id: `rule ${i}` })) })
  guard.configure(R, { rules: custom })
  return guard
}

type Outcome = 'success' | 'failure' | 'ignored'

type Move =
  | { readonly kind: 'enter' }
  | { readonly kind: 'end'; readonly pick: number; readonly outcome: Outcome }
  | { readonly kind: 'wait'; readonly ms: number }

const outcomes = fc.constantFrom<Outcome[]>('success', 'success', 'failure', 'ignored')
const move: fc.Arbitrary<Move> = fc.oneof(
  { weight: 5, arbitrary: fc.constant<Move>({ kind: 'enter' }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('end' as const), pick: fc.nat(9), outcome: outcomes }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: shortWait }) },
)
const moves = fc.array(move, { maxLength: 80, size: 'max' })

const withoutBlocked = (stats: ResourceStats): ResourceStats => ({
  ...stats,
  totals: { ...stats.totals, blocked: 0 },
})

const stateOf = (guard: Guard): string | undefined => guard.stats(R).rules[0]?.state

describe('probes', () => {
  it('are never out in greater number than probeCount, counted by those who hold them', () => {
    let most = 0
    let full = 0
    fc.assert(
      fc.property(strategies.chain(anyRule), anyStart, moves, (draft, start, moves) => {
        const rule = timeless({ ...draft, lateResults: 'ignore' })
        const clock = new ManualClock(start)
        const guard = guardWith(clock, [rule])
        const limit = rule.probeCount as number
        let out: { permit: number; isProbe: boolean }[] = []
        guard.on('state', ({ to }) => {
          // A breaker that opens or closes has no probe out any more: those still running decide nothing.
          if (to !== 'half-open') out = out.map(({ permit }) => ({ permit, isProbe: false }))
        })
        for (const move of moves) {
          if (move.kind === 'wait') clock.advance(move.ms)
          else if (move.kind === 'enter') {
            const permit = guard.tryEnter(R)
            if (permit >= 0) out.push({ permit, isProbe: stateOf(guard) === 'half-open' })
          } else if (out.length > 0) {
            const [ended] = out.splice(move.pick % out.length, 1)
            if (ended !== undefined) guard.leave(ended.permit, move.outcome)
          }
          const probes = out.filter(({ isProbe }) => isProbe).length
          expect(probes).toBeLessThanOrEqual(limit)
          expect(guard.stats(R).rules[0]?.probesOut).toBe(probes)
          most = Math.max(most, probes)
          if (probes === limit) {
            full += 1
            expect(guard.tryEnter(R)).toBeLessThan(0)
          }
        }
      }),
      { numRuns: 400 },
    )
    expect(most).toBe(3)
    expect(full).toBeGreaterThan(100)
  })

  it('never exceed probeCount whatever is judged late, taken over or noticed as slow, on each of several rules', () => {
    fc.assert(
      fc.property(
        fc.array(strategies.chain(anyRule), { minLength: 1, maxLength: 4, size: 'max' }),
        anyStart,
        moves,
        (drafts, start, moves) => {
          const clock = new ManualClock(start)
          const guard = guardWith(clock, drafts)
          const out: number[] = []
          for (const move of moves) {
            if (move.kind === 'wait') clock.advance(move.ms)
            else if (move.kind === 'enter') {
              const permit = guard.tryEnter(R)
              if (permit >= 0) out.push(permit)
            } else if (out.length > 0) {
              const [permit] = out.splice(move.pick % out.length, 1)
              guard.leave(permit as number, move.outcome)
            }
            for (const [i, rule] of guard.stats(R).rules.entries()) {
              expect(rule.probesOut).toBeGreaterThanOrEqual(0)
              expect(rule.probesOut).toBeLessThanOrEqual(drafts[i]?.probeCount as number)
              if (rule.state !== 'half-open') expect(rule.probesOut).toBe(0)
            }
          }
          for (const permit of out) guard.leave(permit, 'ignored')
          expect(guard.stats(R).rules.map((rule) => rule.probesOut)).toEqual(drafts.map(() => 0))
        },
      ),
      { numRuns: 300 },
    )
  })

  it('agree with the model under rules that trip at the first bad call', () => {
    fc.assert(
      fc.property(
        strategies.chain(anyRule).map(nervous),
        anyStart,
        fc.array(anyMove, { maxLength: 60, size: 'max' }),
        (draft, start, moves) => play(new Twin([draft], start), moves),
      ),
      { numRuns: 400 },
    )
  })
})

describe('a refused call', () => {
  it('changes nothing but the count of refusals where time alone decides nothing', () => {
    let refused = 0
    fc.assert(
      fc.property(
        fc.array(strategies.chain(anyRule).map(timeless), { minLength: 1, maxLength: 3, size: 'max' }),
        anyStart,
        moves,
        fc.integer({ min: 0, max: 3 }),
        (drafts, start, moves, customBlocks) => {
          const clock = new ManualClock(start)
          let asked = 0
          const custom = { id: 'moody', check: () => (customBlocks > 0 && ++asked % 4 < customBlocks ? 2 : 0) }
          const guard = guardWith(clock, drafts, [custom])
          const out: number[] = []
          for (const move of moves) {
            if (move.kind === 'wait') clock.advance(move.ms)
            else if (move.kind === 'end') {
              const [permit] = out.splice(move.pick % Math.max(1, out.length), 1)
              if (permit !== undefined) guard.leave(permit, move.outcome)
            } else {
              const before = guard.stats(R)
              const permit = guard.tryEnter(R)
              if (permit >= 0) {
                out.push(permit)
                continue
              }
              refused += 1
              const after = guard.stats(R)
              expect(withoutBlocked(after)).toEqual(withoutBlocked(before))
              expect(after.totals.blocked).toBe(before.totals.blocked + 1)
            }
          }
        },
      ),
      { numRuns: 300 },
    )
    expect(refused).toBeGreaterThan(1000)
  })

  it('changes nothing when it is the second at the same instant, whatever time had to say at the first', () => {
    fc.assert(
      fc.property(
        fc.array(strategies.chain(anyRule).map(unmoved), { minLength: 1, maxLength: 3, size: 'max' }),
        anyStart,
        moves,
        (drafts, start, moves) => {
          const clock = new ManualClock(start)
          const guard = guardWith(clock, drafts)
          const out: number[] = []
          for (const move of moves) {
            if (move.kind === 'wait') clock.advance(move.ms)
            else if (move.kind === 'end') {
              const [permit] = out.splice(move.pick % Math.max(1, out.length), 1)
              if (permit !== undefined) guard.leave(permit, move.outcome)
            } else {
              const permit = guard.tryEnter(R)
              if (permit >= 0) {
                out.push(permit)
                continue
              }
              const before = guard.stats(R)
              expect(guard.tryEnter(R)).toBe(permit)
              expect(() => guard.enter(R)).toThrow()
              const after = guard.stats(R)
              expect(withoutBlocked(after)).toEqual(withoutBlocked(before))
              expect(after.totals.blocked).toBe(before.totals.blocked + 2)
            }
          }
        },
      ),
      { numRuns: 300 },
    )
  })

  it('leaves no hidden trace: a guard that refused a hundred more calls goes on exactly as its twin', () => {
    fc.assert(
      fc.property(
        fc.array(strategies.chain(anyRule).map(timeless), { minLength: 1, maxLength: 3, size: 'max' }),
        anyStart,
        moves,
        (drafts, start, moves) => {
          const clock = new ManualClock(start)
          const plain = guardWith(clock, drafts)
          let extra = false
          const pestered = guardWith(clock, drafts, [{ check: () => (extra ? 2 : 0) }])
          const out: (readonly [number, number])[] = []
          for (const move of moves) {
            extra = true
            for (let i = 0; i < 5; i++) expect(pestered.tryEnter(R)).toBeLessThan(0)
            extra = false
            if (move.kind === 'wait') clock.advance(move.ms)
            else if (move.kind === 'end') {
              const [pair] = out.splice(move.pick % Math.max(1, out.length), 1)
              if (pair !== undefined) {
                plain.leave(pair[0], move.outcome)
                pestered.leave(pair[1], move.outcome)
              }
            } else {
              const pair = [plain.tryEnter(R), pestered.tryEnter(R)] as const
              expect(pair[1] >= 0).toBe(pair[0] >= 0)
              if (pair[0] >= 0) out.push(pair)
            }
            expect(withoutBlocked(pestered.stats(R))).toEqual(withoutBlocked(plain.stats(R)))
          }
        },
      ),
      { numRuns: 200 },
    )
  })
})

type Ending =
  | 'exit'
  | 'exit with an error'
  | 'cancel'
  | 'dispose'
  | 'success'
  | 'failure'
  | 'ignored'
  | 'resolve'
  | 'reject'
  | 'abort'

const ENDINGS: readonly Ending[] = [
  'exit',
  'exit with an error',
  'cancel',
  'dispose',
  'success',
  'failure',
  'ignored',
  'resolve',
  'reject',
  'abort',
]

/** One admitted call that can be ended in every way its form allows; ways of another form fall to a near one. */
interface Held {
  readonly end: (ending: Ending) => void
  settled: boolean
}

const heldHandle = (handle: EntryHandle): Held => ({
  settled: false,
  end: (ending) => {
    if (ending === 'cancel' || ending === 'abort' || ending === 'ignored') handle.cancel()
    else if (ending === 'dispose') handle[Symbol.dispose]()
    else if (ending === 'exit' || ending === 'success' || ending === 'resolve') handle.exit()
    else handle.exit({ error: new Error('bad') })
  },
})

const heldPermit = (guard: Guard, permit: number): Held => ({
  settled: false,
  end: (ending) => {
    if (ending === 'exit' || ending === 'success' || ending === 'resolve') guard.leave(permit)
    else if (ending === 'exit with an error' || ending === 'failure' || ending === 'reject')
      guard.leave(permit, 'failure')
    else guard.leave(permit, 'ignored')
  },
})

/** Admitted at once, so a refusal shows in the totals before the promise tells of it. */
const heldPromise = (guard: Guard): Held | undefined => {
  const abort = new AbortController()
  let resolve: (value: number) => void = () => {}
  let reject: (reason: Error) => void = () => {}
  const blocked = guard.stats(R).totals.blocked
  const promise = guard.entry(
    R,
    () =>
      new Promise<number>((yes, no) => {
        resolve = yes
        reject = no
      }),
    { signal: abort.signal },
  )
  promise.catch(() => {})
  if (guard.stats(R).totals.blocked > blocked) return undefined
  return {
    settled: false,
    end: (ending) => {
      if (ending === 'resolve' || ending === 'success' || ending === 'exit') resolve(1)
      else if (ending === 'abort' || ending === 'cancel' || ending === 'ignored' || ending === 'dispose') abort.abort()
      else reject(new Error('bad'))
    },
  }
}

const turn = async (): Promise<void> => {
  for (let i = 0; i < 6; i++) await Promise.resolve()
}

type Use =
  | { readonly kind: 'begin'; readonly form: 'handle' | 'permit' | 'promise' }
  | { readonly kind: 'end'; readonly pick: number; readonly endings: Ending[] }
  | { readonly kind: 'wait'; readonly ms: number }

const use: fc.Arbitrary<Use> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('begin' as const),
      form: fc.constantFrom<('handle' | 'permit' | 'promise')[]>('handle', 'permit', 'promise'),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('end' as const),
      // Far enough to reach calls that ended long ago and whose slot has been used again.
      pick: fc.nat(60),
      endings: fc.array(fc.constantFrom(...ENDINGS), { minLength: 1, maxLength: 3, size: 'max' }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: shortWait }) },
)

describe('a permit', () => {
  it('settles exactly once, however it is held and in whatever ways and how often it is ended', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(strategies.chain(anyRule), { minLength: 0, maxLength: 2, size: 'max' }),
        fc.array(use, { maxLength: 60, size: 'max' }),
        async (drafts, uses) => {
          const clock = new ManualClock(1000)
          const guard = guardWith(clock, drafts)
          const held: Held[] = []
          const begin = (form: 'handle' | 'permit' | 'promise'): Held | undefined => {
            if (form === 'promise') return heldPromise(guard)
            const permit = form === 'permit' ? guard.tryEnter(R) : -1
            if (form === 'permit') return permit < 0 ? undefined : heldPermit(guard, permit)
            try {
              return heldHandle(guard.enter(R))
            } catch (error) {
              expect(isBlocked(error)).toBe(true)
              return undefined
            }
          }
          const check = (): void => {
            const { passed, succeeded, failed, ignored, running } = guard.stats(R).totals
            const settled = held.filter((call) => call.settled).length
            expect({ passed, running, sum: succeeded + failed + ignored }).toEqual({
              passed: held.length,
              running: held.length - settled,
              sum: settled,
            })
          }
          for (const use of uses) {
            if (use.kind === 'wait') clock.advance(use.ms)
            else if (use.kind === 'begin') {
              const call = begin(use.form)
              if (call !== undefined) held.push(call)
            } else if (held.length > 0) {
              const call = held[use.pick % held.length] as Held
              for (const ending of use.endings) call.end(ending)
              await turn()
              call.settled = true
            }
            check()
          }
          for (const call of held) call.end('success')
          await turn()
          for (const call of held) call.settled = true
          check()
          expect(guard.stats(R).rules.map((rule) => rule.probesOut)).toEqual(drafts.map(() => 0))
        },
      ),
      { numRuns: 300 },
    )
  })

  it('counts by its first end: the second, of whatever kind, changes nothing', () => {
    for (const first of ENDINGS) {
      for (const second of ENDINGS) {
        const guard = createGuard({ clock: new ManualClock(0) })
        for (const call of [heldHandle(guard.enter(R)), heldPermit(guard, guard.tryEnter(R))]) {
          call.end(first)
          const once = guard.stats(R)
          call.end(second)
          expect(guard.stats(R), `${first}, then ${second}`).toEqual(once)
        }
      }
    }
  })

  it('that ended long ago does not end the call which has its slot now', () => {
    const guard = createGuard({ clock: new ManualClock(0) })
    const stale: number[] = []
    for (let i = 0; i < 200; i++) {
      const permit = guard.tryEnter(R)
      guard.leave(permit)
      stale.push(permit)
    }
    const now = [guard.tryEnter(R), guard.tryEnter(R)]
    for (const permit of stale) guard.leave(permit, 'failure')
    expect(guard.stats(R).totals).toMatchObject({ passed: 202, succeeded: 200, failed: 0, running: 2 })
    for (const permit of now) guard.leave(permit)
    expect(guard.stats(R).totals).toMatchObject({ succeeded: 202, running: 0 })
  })
})
