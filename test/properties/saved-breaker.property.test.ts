// A breaker that is saved and taken up again, at any moment, against one whose callers merely gave up at that moment.
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { type BreakerSnapshot, checkSavedBreaker, type Fault, type Permit, STATE_NAMES } from '../../rules/index.js'
import { FakeHost, type OutcomeName, Rig } from '../rules/support.js'
import { anyRule, anyStart, type Strategy, shortWait } from '../support/model-arbitraries.js'
import type { RuleDraft } from '../support/model-guard.js'

// Thousands of random schedules; more than enough on a slow machine.
vi.setConfig({ testTimeout: 60_000 })

type Move =
  | { readonly kind: 'enter' }
  | { readonly kind: 'end'; readonly pick: number; readonly outcome: OutcomeName }
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'restart' }

const move: fc.Arbitrary<Move> = fc.oneof(
  { weight: 6, arbitrary: fc.constant<Move>({ kind: 'enter' }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('end' as const),
      pick: fc.nat(9),
      outcome: fc.constantFrom<OutcomeName[]>('success', 'success', 'failure', 'failure', 'ignored'),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: shortWait }) },
  { weight: 1, arbitrary: fc.constant<Move>({ kind: 'restart' }) },
)

/** What a restart must not change. The counts that opened a breaker are not kept, and decide nothing until it closes. */
const lasting = ({ wouldBlock: _, total, bad, ...seen }: BreakerSnapshot) =>
  STATE_NAMES[seen.state] === 'closed' ? { ...seen, total, bad } : seen

describe.each<Strategy>(['slow-call-ratio', 'error-ratio', 'error-count', 'consecutive-errors'])('%s', (strategy) => {
  it('goes on after a restart as if all calls in flight had been given up', () => {
    const restartedIn = new Set<string>()
    fc.assert(
      fc.property(
        anyRule(strategy).map((draft): RuleDraft => ({ ...draft, lateResults: 'ignore' })),
        anyStart,
        fc.array(move, { maxLength: 80, size: 'max' }),
        (fields, start, moves) => {
          const kept = new Rig(fields, new FakeHost(0, [0.5]), start)
          let resumed = new Rig(fields, new FakeHost(0, [0.5]), start)
          let out: { readonly kept: Permit; readonly resumed: Permit }[] = []
          for (const move of moves) {
            if (move.kind === 'wait') {
              kept.now += move.ms
              resumed.now = kept.now
            } else if (move.kind === 'enter') {
              const pair = { kept: kept.enter(), resumed: resumed.enter() }
              expect(pair.resumed === undefined).toBe(pair.kept === undefined)
              if (pair.kept !== undefined && pair.resumed !== undefined)
                out.push({ kept: pair.kept, resumed: pair.resumed })
            } else if (move.kind === 'end') {
              const [pair] = out.splice(move.pick % Math.max(1, out.length), 1)
              if (pair === undefined) continue
              kept.end(pair.kept, move.outcome)
              resumed.end(pair.resumed, move.outcome)
            } else {
              for (const pair of out) kept.end(pair.kept, 'ignored')
              out = []
              const saved = JSON.parse(JSON.stringify(resumed.breaker.saved(resumed.now) ?? null))
              const host = new FakeHost(99, [0.5])
              host.offered = resumed.host.offered
              resumed = new Rig(fields, host, resumed.now)
              restartedIn.add(saved === null ? 'nothing' : saved.closedAt === undefined ? saved.state : 'recovering')
              if (saved !== null) {
                const faults: Fault[] = []
                checkSavedBreaker(saved, 'saved', faults)
                expect(faults).toEqual([])
                resumed.breaker.restore(saved, resumed.now)
              }
            }
            expect(lasting(resumed.seen)).toEqual(lasting(kept.seen))
          }
        },
      ),
      { numRuns: 500 },
    )
    expect([...restartedIn].sort()).toEqual(['closed', 'half-open', 'nothing', 'open', 'recovering'])
  })
})
