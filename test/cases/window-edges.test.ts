// Window edges and counter arithmetic (F16 to F21).
import { CountingWindow, CountWindow, LeapArray } from 'leapguard'
import { describe, expect, it } from 'vitest'
import {
  ALL,
  EPOCHS,
  endAll,
  HELD,
  type RuleFields,
  refusedBy,
  stage,
  startMany,
  variants,
} from '../support/harness.js'

interface Cell {
  start: number
  failures: number
}
const cells = (bucketCount: number, edge?: 'exclusive' | 'inclusive'): LeapArray<Cell> =>
  new LeapArray<Cell>({
    intervalMs: 1000,
    bucketCount,
    create: (start) => ({ start, failures: 0 }),
    reset: (cell, start) => {
      cell.start = start
      cell.failures = 0
    },
    ...(edge === undefined ? {} : { edge }),
  })
const failures = (ring: LeapArray<Cell>, now: number): number => ring.live(now).reduce((sum, c) => sum + c.failures, 0)

/** Watches and never trips. */
const watch = (bucketCount: number): RuleFields => ({
  strategy: 'error-ratio',
  threshold: 1,
  minRequestAmount: 1_000_000,
  statIntervalMs: 1000,
  bucketCount,
})

describe('a bucket that began exactly one window ago', () => {
  for (const epoch of EPOCHS) {
    it(`F16 LeapArray drops it at 1000, neither before nor after (from ${epoch})`, () => {
      const ring = cells(2)
      ring.current(epoch).failures += 10
      expect(failures(ring, epoch + 999)).toBe(10)
      expect(failures(ring, epoch + 1000)).toBe(0)
      expect(failures(ring, epoch + 1001)).toBe(0)
      expect(ring.at(epoch, epoch + 999)?.failures).toBe(10)
      expect(ring.at(epoch, epoch + 1000)).toBeUndefined()
      expect(ring.at(epoch, epoch + 1001)).toBeUndefined()
      // Reading refreshed nothing.
      expect(failures(ring, epoch + 999)).toBe(10)
    })

    it(`F16 LeapArray buckets cover their start and not their end (from ${epoch})`, () => {
      const ring = cells(2)
      expect(ring.bucketMs).toBe(500)
      const first = ring.current(epoch)
      expect(ring.current(epoch + 499)).toBe(first)
      const second = ring.current(epoch + 500)
      expect(second).not.toBe(first)
      expect(ring.current(epoch + 999)).toBe(second)
      expect(ring.live(epoch + 999).map((cell) => cell.start)).toEqual([epoch, epoch + 500])
      expect(ring.live(epoch + 1000).map((cell) => cell.start)).toEqual([epoch + 500])
      expect(ring.live(epoch + 1499).map((cell) => cell.start)).toEqual([epoch + 500])
      expect(ring.live(epoch + 1500)).toEqual([])
      expect(ring.covering(epoch + 499)).toBe(first)
      expect(ring.covering(epoch + 500)).toBe(second)
    })

    it(`F16 LeapArray keeps it for one more moment only if asked to by an inclusive edge (from ${epoch})`, () => {
      const ring = cells(2, 'inclusive')
      ring.current(epoch).failures += 10
      expect(failures(ring, epoch + 999)).toBe(10)
      expect(failures(ring, epoch + 1000)).toBe(10)
      expect(failures(ring, epoch + 1001)).toBe(0)
    })
  }

  for (const epoch of EPOCHS) {
    it(`F16 CountingWindow drops it at 1000, read without rolling or rolled (from ${epoch})`, () => {
      const window = new CountingWindow(1000, 2)
      for (let i = 0; i < 10; i++) window.add(epoch, 1)
      const read: [number, number, number][] = []
      for (const t of [999, 1000, 1001]) read.push([t, window.totalAt(epoch + t), window.badAt(epoch + t)])
      expect(read).toEqual([
        [999, 10, 10],
        [1000, 0, 0],
        [1001, 0, 0],
      ])
      window.roll(epoch + 999)
      expect([window.total, window.bad]).toEqual([10, 10])
      window.roll(epoch + 1000)
      expect([window.total, window.bad]).toEqual([0, 0])
      window.roll(epoch + 1001)
      expect([window.total, window.bad]).toEqual([0, 0])
    })
  }

  for (const { way, epoch, label } of variants(ALL)) {
    it(`F16 the statistics of a rule drop it at 1000 (${label})`, async () => {
      const s = stage([watch(2)], epoch)
      for (let i = 0; i < 10; i++) await s.run(way, 'failure')
      s.at(999)
      expect(s.rule()).toMatchObject({ total: 10, bad: 10 })
      s.at(1000)
      expect(s.rule()).toMatchObject({ total: 0, bad: 0 })
      s.at(1001)
      expect(s.rule()).toMatchObject({ total: 0, bad: 0 })
    })

    it(`F16 a call at the edge is judged by what is left of the window (${label})`, async () => {
      const count: RuleFields = { strategy: 'error-count', threshold: 11, statIntervalMs: 1000, bucketCount: 2 }
      for (const [t, state, bad] of [
        [999, 'open', 11],
        [1000, 'closed', 1],
        [1001, 'closed', 1],
      ] as const) {
        const s = stage([count], epoch)
        for (let i = 0; i < 10; i++) await s.run(way, 'failure')
        s.at(t)
        expect(await s.run(way, 'failure')).toBe('admitted')
        expect(s.rule().state).toBe(state)
        if (state === 'open') expect(s.states[0]).toMatchObject({ value: bad, total: bad })
        else expect(s.rule()).toMatchObject({ bad, total: bad })
      }
    })

    it(`F16 the second bucket outlives the first by its own length (${label})`, async () => {
      const s = stage([watch(2)], epoch)
      for (let i = 0; i < 10; i++) await s.run(way, 'failure')
      s.at(500)
      await s.run(way, 'failure')
      await s.run(way)
      const seen: [number, number, number][] = []
      for (const t of [500, 999, 1000, 1499, 1500]) {
        s.at(t)
        seen.push([t, s.rule().bad, s.rule().total])
      }
      expect(seen).toEqual([
        [500, 11, 12],
        [999, 11, 12],
        [1000, 1, 2],
        [1499, 1, 2],
        [1500, 0, 0],
      ])
    })
  }
})

describe('a single bucket at the turn of the interval', () => {
  for (const epoch of EPOCHS) {
    it(`F17 LeapArray gives the interval that starts at 1000 to both outcomes booked at 1000 (from ${epoch})`, () => {
      const ring = cells(1)
      ring.current(epoch + 999).failures += 100
      const first = ring.current(epoch + 1000)
      first.failures++
      const second = ring.current(epoch + 1000)
      second.failures++
      expect(second).toBe(first)
      expect(second).toEqual({ start: epoch + 1000, failures: 2 })
      expect(failures(ring, epoch + 1000)).toBe(2)
      expect(failures(ring, epoch + 1999)).toBe(2)
      expect(failures(ring, epoch + 2000)).toBe(0)
    })

    it(`F17 CountingWindow books both outcomes in the interval that starts at 1000 (from ${epoch})`, () => {
      const window = new CountingWindow(1000, 1)
      window.add(epoch + 999, 1)
      window.add(epoch + 1000, 1)
      window.add(epoch + 1000, 0)
      expect([window.total, window.bad]).toEqual([2, 1])
      const read: [number, number, number][] = []
      for (const t of [1000, 1999, 2000]) read.push([t, window.totalAt(epoch + t), window.badAt(epoch + t)])
      expect(read).toEqual([
        [1000, 2, 1],
        [1999, 2, 1],
        [2000, 0, 0],
      ])
    })

    it(`F17 LeapArray throws a stamp from before the turn away instead of losing the present (from ${epoch})`, () => {
      const ring = cells(1)
      ring.current(epoch + 1000).failures = 2
      ring.current(epoch + 999).failures += 100
      expect(failures(ring, epoch + 1000)).toBe(2)
      expect(ring.live(epoch + 1000).map((cell) => cell.start)).toEqual([epoch + 1000])
    })
  }

  for (const { way, epoch, label } of variants(HELD)) {
    it(`F17 a call from 999 to 1000 and one at 1000 are both booked in the interval that starts at 1000 (${label})`, async () => {
      const s = stage([watch(1)], epoch)
      s.at(999)
      const across = way.start(s)
      expect(s.rule()).toMatchObject({ total: 0, bad: 0 })
      s.at(1000)
      await across.end('failure')
      expect(s.rule()).toMatchObject({ total: 1, bad: 1 })
      expect(await s.run(way)).toBe('admitted')
      expect(s.rule()).toMatchObject({ total: 2, bad: 1 })
      s.at(1999)
      expect(s.rule()).toMatchObject({ total: 2, bad: 1 })
      s.at(2000)
      expect(s.rule()).toMatchObject({ total: 0, bad: 0 })
      expect(s.totals).toMatchObject({ passed: 2, succeeded: 1, failed: 1, running: 0 })
      expect(s.faults).toEqual([])
    })

    it(`F17 the two outcomes decide together, and one before the turn does not help them (${label})`, async () => {
      const s = stage([{ strategy: 'error-count', threshold: 2, statIntervalMs: 1000, bucketCount: 1 }], epoch)
      s.at(999)
      const [inside, across] = startMany(s, way, 2)
      await inside?.end('failure')
      expect(s.rule()).toMatchObject({ state: 'closed', bad: 1 })
      s.at(1000)
      await across?.end('failure')
      expect(s.rule()).toMatchObject({ state: 'closed', bad: 1 })
      await s.run(way, 'failure')
      expect(s.changes()).toEqual(['1000 closed > open: threshold'])
    })
  }

  for (const { way, epoch, label } of variants(ALL)) {
    it(`F17 whole calls across the turn are booked after it (${label})`, async () => {
      const s = stage([watch(1)], epoch)
      s.at(998)
      await s.run(way, 'failure')
      await s.run(way, 'failure', 2)
      expect(s.clock.now()).toBe(epoch + 1000)
      expect(s.rule()).toMatchObject({ total: 1, bad: 1 })
      await s.run(way)
      expect(s.rule()).toMatchObject({ total: 2, bad: 1 })
      expect(s.faults).toEqual([])
    })
  }
})

describe('a window that slides', () => {
  for (const { way, epoch, label } of variants(ALL)) {
    it(`F18 900 failures of 10,000 are 9 % at the end of second 11 (${label})`, async () => {
      const s = stage(
        [{ strategy: 'error-ratio', threshold: 0.5, minRequestAmount: 100, statIntervalMs: 10_000 }],
        epoch,
      )
      let refused = 0
      for (let t = 0; t < 11_000; t++) {
        s.at(t)
        if ((await s.run(way, t < 10_100 ? 'success' : 'failure')) !== 'admitted') refused++
      }
      expect(refused).toBe(0)
      const { state, total, bad } = s.rule()
      expect({ state, total, bad }).toEqual({ state: 'closed', total: 10_000, bad: 900 })
      expect(bad / total).toBe(0.09)
      expect(s.changes()).toEqual([])
    })
  }
})

describe('statistics after a recovery', () => {
  const rules: Record<string, RuleFields> = {
    'error-count': { strategy: 'error-count', threshold: 5 },
    'error-ratio': { strategy: 'error-ratio', threshold: 0.5, minRequestAmount: 5 },
    'consecutive-errors': { strategy: 'consecutive-errors', threshold: 5 },
  }
  for (const [strategy, fields] of Object.entries(rules)) {
    for (const { way, epoch, label } of variants(ALL)) {
      it(`F20 closing starts fresh: the error at 7 s is 1 of 5, by ${strategy} (${label})`, async () => {
        const s = stage([{ ...fields, statIntervalMs: 60_000, cooldownMs: 5000 }], epoch)
        await s.trip(way)
        s.at(6000)
        expect(await s.run(way)).toBe('admitted')
        expect(s.rule()).toMatchObject({ state: 'closed', total: 0, bad: 0 })

        s.at(7000)
        expect(await s.run(way, 'failure')).toBe('admitted')
        expect(s.rule()).toMatchObject({ state: 'closed', total: 1, bad: 1 })
        for (let i = 0; i < 3; i++) await s.run(way, 'failure')
        expect(s.rule()).toMatchObject({ state: 'closed', total: 4, bad: 4 })
        await s.run(way, 'failure')
        expect(s.changes()).toEqual([
          '0 closed > open: threshold',
          '6000 open > half-open: cooldown-elapsed',
          '6000 half-open > closed: probe-succeeded',
          '7000 closed > open: threshold',
        ])
        expect(s.totals).toMatchObject({ failed: 10, succeeded: 1 })
      })
    }
  }
})

describe('calls refused while open', () => {
  for (const { way, epoch, label } of variants(ALL)) {
    it(`F21 a thousand refusals enter no ratio and have a count of their own (${label})`, async () => {
      const s = stage(
        [{ id: 'it', strategy: 'error-ratio', threshold: 0.5, minRequestAmount: 5, cooldownMs: 5000 }],
        epoch,
      )
      await s.trip(way)
      for (let i = 0; i < 1000; i++) {
        s.at(i * 5)
        expect(await s.run(way)).toEqual(refusedBy('it', 5000 - i * 5))
      }
      expect(s.totals).toMatchObject({ passed: 5, blocked: 1000, failed: 5, succeeded: 0, ignored: 0 })

      s.at(5000)
      expect(await s.run(way)).toBe('admitted')
      expect(s.rule().state).toBe('closed')
      s.at(5100)
      for (let i = 0; i < 10; i++) expect(await s.run(way, i === 9 ? 'failure' : 'success')).toBe('admitted')
      expect(s.rule()).toMatchObject({ state: 'closed', total: 10, bad: 1 })
      expect(s.totals).toMatchObject({ passed: 16, blocked: 1000, failed: 6, succeeded: 10, ignored: 0 })
      expect(s.blocked).toHaveLength(1000)
      expect(s.changes()).toHaveLength(3)
    })
  }

  for (const { way, epoch, label } of variants(HELD)) {
    it(`F21 refusals between calls in flight do not thin the ratio either (${label})`, async () => {
      const s = stage(
        [{ strategy: 'error-ratio', threshold: 0.5, minRequestAmount: 10, cooldownMs: 5000, probeCount: 1 }],
        epoch,
      )
      const calls = startMany(s, way, 10)
      await endAll(calls.slice(0, 5), 'success')
      s.guard.forceOpen(s.resource)
      expect(startMany(s, way, 1000).some((call) => call.admitted)).toBe(false)
      s.guard.auto(s.resource)
      await endAll(calls.slice(5), 'failure')
      expect(s.states.at(-1)).toMatchObject({ from: 'closed', to: 'open', value: 0.5, total: 10 })
      expect(s.totals).toMatchObject({ blocked: 1000, failed: 5, succeeded: 5 })
    })
  }
})

describe('30 calls that are slow and failed, then 30 fast and fine ones, in a window of 10 calls', () => {
  it('F19 CountWindow clears every counter together', () => {
    const window = new CountWindow(10)
    const seen = Array.from({ length: 60 }, (_, i) => {
      window.add(i, i < 30 ? 3 : 0)
      const { total, bad, slow, badAndSlow } = window
      // Derived: fine, only failed, only slow.
      const parts = [total - bad - slow + badAndSlow, bad - badAndSlow, slow - badAndSlow, badAndSlow]
      expect(parts.every((part) => part >= 0 && part <= total)).toBe(true)
      expect([total, badAndSlow <= bad, badAndSlow <= slow]).toEqual([Math.min(10, i + 1), true, true])
      return [bad, slow, badAndSlow]
    })
    expect(seen[29]).toEqual([10, 10, 10])
    expect(seen[34]).toEqual([5, 5, 5])
    expect(seen.slice(39)).toEqual(new Array(21).fill([0, 0, 0]))
  })

  for (const { way, epoch, label } of variants(ALL)) {
    it(`F19 two rules of one guard agree at every step, and end at none of 10 (${label})`, async () => {
      const last = { statCallCount: 10, threshold: 1 } as const
      const s = stage(
        [
          { ...last, id: 'failed', strategy: 'error-ratio', comparison: 'above' },
          { ...last, id: 'slow', strategy: 'slow-call-ratio', maxAllowedRtMs: 50 },
        ],
        epoch,
      )
      const seen: [number, number, number][] = []
      for (let i = 0; i < 60; i++) {
        s.at(1000 * i)
        // Every tenth is failed and fast, or the slow rule would open.
        const lastsMs = i < 30 && i % 10 !== 9 ? 60 : 5
        expect(await s.run(way, i < 30 ? 'failure' : 'success', lastsMs)).toBe('admitted')
        const [failed, slow] = [s.rule('failed'), s.rule('slow')]
        expect([failed.state, slow.state, slow.total]).toEqual(['closed', 'closed', failed.total])
        // No call here is slow and fine.
        expect(0 <= slow.bad && slow.bad <= failed.bad && failed.bad <= failed.total && failed.total <= 10).toBe(true)
        seen.push([failed.total, failed.bad, slow.bad])
      }
      expect(seen[29]).toEqual([10, 10, 9])
      expect(seen[34]).toEqual([10, 5, 4])
      expect(seen[39]).toEqual([10, 0, 0])
      expect(seen[59]).toEqual([10, 0, 0])
    })
  }
})
