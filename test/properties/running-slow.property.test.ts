// Running slow calls against a naive model that keeps the start of every call: never early, at most one start bucket late,
// never twice. The bounds say nothing of where a start bucket begins.
import fc from 'fast-check'
import { createGuard, type DegradeRuleInput } from 'leapguard'
import { ManualClock } from 'leapguard/testing'
import { describe, expect, it, vi } from 'vitest'
import { anyStart } from '../support/model-arbitraries.js'
import { startBucketMs } from '../support/model-breaker.js'

// Thousands of random schedules; more than enough on a slow machine.
vi.setConfig({ testTimeout: 60_000 })

const RESOURCE = 'slow'
const LONGEST = 2 ** 30

const limits = fc.oneof(
  fc.integer({ min: 0, max: 30 }),
  fc.integer({ min: 0, max: 300 }),
  fc.constantFrom(1000, 7, 8, 9, 15, 16, 17),
)

type Move =
  | { readonly kind: 'enter'; readonly times: number }
  | { readonly kind: 'end'; readonly pick: number; readonly outcome: 'success' | 'failure' }
  | { readonly kind: 'cancel'; readonly pick: number }
  | { readonly kind: 'wait'; readonly quarters: number }
  | { readonly kind: 'wait for the limit'; readonly eighths: number; readonly plus: number }

const move: fc.Arbitrary<Move> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('enter' as const), times: fc.integer({ min: 1, max: 3 }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('end' as const),
      pick: fc.nat(20),
      outcome: fc.constantFrom<('success' | 'failure')[]>('success', 'failure'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('cancel' as const), pick: fc.nat(20) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('wait' as const), quarters: fc.nat(120) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('wait for the limit' as const),
      eighths: fc.constantFrom(1, 2, 4, 7, 8, 8, 9, 10, 17, 100),
      plus: fc.constantFrom(-1, -0.25, 0, 0.25, 1),
    }),
  },
)

const withoutCancel = move.filter(({ kind }) => kind !== 'cancel')

interface Call {
  readonly start: number
  readonly permit: number
  /** It may have been booked while running, it must have been, or neither. */
  maybe: boolean
  surely: boolean
}

class Bench {
  readonly clock: ManualClock
  readonly guard
  out: Call[] = []
  ended: (Call & { readonly slow: boolean; readonly ignored: boolean })[] = []
  now: number

  constructor(
    readonly limit: number,
    start: number,
    rule: Partial<DegradeRuleInput> = {},
  ) {
    this.now = start
    this.clock = new ManualClock(start)
    this.guard = createGuard({ clock: this.clock })
    // Nothing ages out of this window and nothing trips, so every booking stays in sight.
    const silent = { threshold: 1, minRequestAmount: 1e6, statIntervalMs: LONGEST, bucketCount: 1 } as const
    this.guard.loadDegradeRules([
      { resource: RESOURCE, strategy: 'slow-call-ratio', maxAllowedRtMs: limit, ...silent, ...rule },
    ])
  }

  wait(ms: number): void {
    this.now += ms
    this.clock.set(this.now)
  }

  enter(): number {
    for (const call of this.out) {
      const age = this.now - call.start
      if (age > this.limit) call.maybe = true
      if (age >= this.limit + startBucketMs(this.limit)) call.surely = true
    }
    const permit = this.guard.tryEnter(RESOURCE)
    if (permit >= 0) this.out.push({ start: this.now, permit, maybe: false, surely: false })
    return permit
  }

  end(pick: number, outcome: 'success' | 'failure' | 'ignored'): Call | undefined {
    const [call] = this.out.splice(pick % Math.max(1, this.out.length), 1)
    if (call === undefined) return undefined
    this.guard.leave(call.permit, outcome)
    this.ended.push({ ...call, slow: this.now - call.start > this.limit, ignored: outcome === 'ignored' })
    return call
  }

  counts(): { total: number; bad: number } {
    const [rule] = this.guard.stats(RESOURCE).rules
    return { total: rule?.total ?? -1, bad: rule?.bad ?? -1 }
  }

  check(): void {
    const { total, bad } = this.counts()
    const finished = this.ended.filter((call) => !call.ignored)
    const slow = finished.filter((call) => call.slow).length
    const others = [...this.out, ...this.ended.filter((call) => call.ignored)]
    const least = others.filter((call) => call.surely).length
    const most = others.filter((call) => call.maybe).length
    expect(bad).toBeGreaterThanOrEqual(slow + least)
    expect(bad).toBeLessThanOrEqual(slow + most)
    // Booked while running means booked as slow: both counts grow by the same calls.
    expect(total - bad).toBe(finished.length - slow)
  }

  play(moves: readonly Move[]): void {
    for (const move of moves) {
      if (move.kind === 'enter') for (let i = 0; i < move.times; i++) this.enter()
      else if (move.kind === 'wait') this.wait(move.quarters / 4)
      else if (move.kind === 'wait for the limit') this.wait(Math.max(0, (this.limit * move.eighths) / 8 + move.plus))
      else {
        const before = this.counts()
        const call = this.end(move.pick, move.kind === 'cancel' ? 'ignored' : move.outcome)
        if (call?.surely) expect(this.counts()).toEqual(before)
      }
      this.check()
    }
  }
}

/** Before the era of one window of 2^30 ms could pass, wherever it is aligned. */
const startInWindow = anyStart.map((start) => Math.floor(start / LONGEST) * LONGEST + 1000)

describe('running slow calls against a list of their starts', () => {
  it('are noticed at an entry: never before the limit, never later than one start bucket after it, never twice', () => {
    fc.assert(
      fc.property(limits, startInWindow, fc.array(move, { maxLength: 60, size: 'max' }), (limit, start, moves) => {
        new Bench(limit, start).play(moves)
      }),
      { numRuns: 400 },
    )
  })

  it('are counted exactly once each when all have come back, wherever they were noticed', () => {
    fc.assert(
      fc.property(
        limits,
        startInWindow,
        fc.array(withoutCancel, { maxLength: 60, size: 'max' }),
        (limit, start, moves) => {
          const bench = new Bench(limit, start)
          bench.play(moves)
          while (bench.out.length > 0) bench.end(0, 'success')
          const slow = bench.ended.filter((call) => call.slow).length
          expect(bench.counts()).toEqual({ total: bench.ended.length, bad: slow })
          expect(bench.guard.stats(RESOURCE).totals.slow).toBe(slow)
        },
      ),
      { numRuns: 400 },
    )
  })

  it('are not booked by reading, by waiting or by the end of another call, only by an entry', () => {
    fc.assert(
      fc.property(limits, startInWindow, fc.integer({ min: 1, max: 5 }), (limit, start, hung) => {
        const bench = new Bench(limit, start)
        bench.enter()
        for (let i = 0; i < hung; i++) bench.enter()
        bench.end(0, 'success')
        bench.wait(limit * 3 + 10)
        expect(bench.counts()).toEqual({ total: 1, bad: 0 })
        bench.enter()
        expect(bench.counts()).toEqual({ total: 1 + hung, bad: hung })
        bench.enter()
        expect(bench.counts()).toEqual({ total: 1 + hung, bad: hung })
      }),
      { numRuns: 200 },
    )
  })

  it('open the breaker at the entry that notices enough of them, and that entry is refused', () => {
    let opened = 0
    fc.assert(
      fc.property(
        limits,
        startInWindow,
        fc.array(fc.nat(80), { minLength: 1, maxLength: 6, size: 'max' }),
        fc.integer({ min: 1, max: 6 }),
        fc.array(fc.integer({ min: 0, max: 40 }), { minLength: 1, maxLength: 20, size: 'max' }),
        (limit, start, gaps, min, looks) => {
          const bench = new Bench(limit, start, { minRequestAmount: min })
          for (const gap of gaps) {
            bench.wait(gap / 4)
            const noticed = bench.out.filter((call) => bench.now - call.start > limit).length
            if (noticed >= min) return
            bench.enter()
          }
          for (const look of looks) {
            bench.wait((look * Math.max(1, limit)) / 32)
            const permit = bench.enter()
            const hung = permit >= 0 ? bench.out.slice(0, -1) : bench.out
            const state = bench.guard.stats(RESOURCE).rules[0]
            if (permit < 0) {
              expect(hung.filter((call) => call.maybe).length).toBeGreaterThanOrEqual(min)
              expect([state?.state, state?.openedAt]).toEqual(['open', bench.now])
              opened += 1
              return
            }
            expect(hung.filter((call) => call.surely).length).toBeLessThan(min)
            expect(state?.state).toBe('closed')
            bench.end(bench.out.length - 1, 'ignored')
          }
        },
      ),
      { numRuns: 400 },
    )
    expect(opened).toBeGreaterThan(100)
  })

  it('are left out of the count while they run if the rule says so', () => {
    fc.assert(
      fc.property(
        limits,
        startInWindow,
        fc.array(withoutCancel, { maxLength: 40, size: 'max' }),
        (limit, start, moves) => {
          const bench = new Bench(limit, start, { countRunning: false })
          for (const move of moves) {
            if (move.kind === 'enter') bench.enter()
            else if (move.kind === 'wait') bench.wait(move.quarters / 4)
            else if (move.kind === 'wait for the limit') bench.wait(Math.max(0, (limit * move.eighths) / 8 + move.plus))
            else if (move.kind === 'end') bench.end(move.pick, move.outcome)
            const slow = bench.ended.filter((call) => call.slow).length
            expect(bench.counts()).toEqual({ total: bench.ended.length, bad: slow })
          }
        },
      ),
      { numRuns: 300 },
    )
  })
})
