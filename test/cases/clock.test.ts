// Clock steps, frozen timers, testable time (F13 to F15).
import { CircuitBreaker, isBlocked } from 'leapguard'
import { describe, expect, it } from 'vitest'
import {
  ALL,
  BareClock,
  EPOCHS,
  endAll,
  HELD,
  type RuleFields,
  refusedBy,
  rejection,
  Stage,
  stage,
  startMany,
  variants,
} from '../support/harness.js'

const bareStage = (rules: readonly RuleFields[], epoch: number): Stage<BareClock> =>
  new Stage(rules, new BareClock(epoch), epoch)

describe('a wall clock that is set back', () => {
  const SIXTY: RuleFields = {
    id: 'it',
    strategy: 'error-ratio',
    threshold: 0.6,
    minRequestAmount: 10,
    statIntervalMs: 10_000,
  }

  for (const { way, epoch, label } of variants(ALL)) {
    it(`F13 calls after the step count as later than those before it, and the rule trips among them (${label})`, async () => {
      const s = bareStage([SIXTY], epoch)
      s.at(100_000)
      for (let i = 0; i < 10; i++) expect(await s.run(way, i % 2 === 0 ? 'failure' : 'success')).toBe('admitted')
      expect(s.rule()).toMatchObject({ state: 'closed', total: 10, bad: 5 })

      const told: unknown[] = []
      const window: [number, number][] = []
      for (let i = 0; i < 10; i++) {
        s.at(40_000 + i * 100)
        told.push(await s.run(way, 'failure'))
        window.push([s.rule().bad, s.rule().total])
      }
      // 6 of 11 and 7 of 12 are below 60 %; 8 of 13 is not.
      expect(told.slice(0, 3)).toEqual(['admitted', 'admitted', 'admitted'])
      expect(told.slice(3)).toEqual(Array.from({ length: 7 }, () => refusedBy('it', 10_000)))
      expect(window.slice(0, 2)).toEqual([
        [6, 11],
        [7, 12],
      ])
      expect(s.changes()).toEqual(['100000 closed > open: threshold'])
      expect(s.states[0]).toMatchObject({ value: 8 / 13, threshold: 0.6, total: 13 })
      expect(s.totals).toMatchObject({ passed: 13, blocked: 7, failed: 8, succeeded: 5, running: 0 })
      expect(s.faults).toEqual([])

      s.at(109_999)
      expect(await s.run(way)).toEqual(refusedBy('it', 1))
      s.at(110_000)
      expect(await s.run(way)).toBe('admitted')
      expect(s.rule().state).toBe('closed')
    })
  }

  for (const { way, epoch, label } of variants(HELD)) {
    it(`F13 ten calls in flight together after the step trip the rule as well (${label})`, async () => {
      const s = bareStage([SIXTY], epoch)
      s.at(100_000)
      await endAll(startMany(s, way, 5), 'failure')
      await endAll(startMany(s, way, 5), 'success')
      s.at(40_000)
      const calls = startMany(s, way, 10)
      expect(calls.every((call) => call.admitted)).toBe(true)
      s.at(41_000)
      await endAll(calls, 'failure')
      expect(s.changes()).toEqual(['100000 closed > open: threshold'])
      expect(s.totals).toMatchObject({ failed: 15, succeeded: 5, running: 0 })
      expect(s.faults).toEqual([])
    })

    it(`F13 a call across the step lasted no time, neither less nor for ever (${label})`, async () => {
      const s = bareStage(
        [{ strategy: 'slow-call-ratio', threshold: 1, maxAllowedRtMs: 0, minRequestAmount: 1, cooldownMs: 1000 }],
        epoch,
      )
      s.at(100_000)
      const call = way.start(s)
      s.at(40_000)
      await call.end('success')
      expect(s.rule()).toMatchObject({ state: 'closed', total: 1, bad: 0 })
      expect(s.totals).toMatchObject({ slow: 0, succeeded: 1 })
      expect(s.faults).toEqual([])
    })

    it(`F13 a clock that steps back while the breaker is open shortens no wait (${label})`, async () => {
      const s = bareStage([{ id: 'it', strategy: 'error-count', threshold: 5, cooldownMs: 10_000 }], epoch)
      s.at(100_000)
      await s.trip(way)
      s.at(40_000)
      expect(await s.run(way)).toEqual(refusedBy('it', 10_000))
      s.at(105_000)
      expect(await s.run(way)).toEqual(refusedBy('it', 5000))
      s.at(45_000)
      expect(await s.run(way)).toEqual(refusedBy('it', 5000))
      s.at(110_000)
      expect(await s.run(way)).toBe('admitted')
      expect(s.faults).toEqual([])
    })
  }
})

describe('no timers at all', () => {
  for (const { way, epoch, label } of variants(ALL)) {
    it(`F14 the call at 31 s is a probe although no timer ever ran (${label})`, async () => {
      const s = bareStage([{ id: 'it', strategy: 'error-count', threshold: 5, cooldownMs: 30_000 }], epoch)
      await s.trip(way)
      s.at(29_999)
      expect(await s.run(way)).toEqual(refusedBy('it', 1))

      s.at(31_000)
      // Looking does not advance: still open, but with nothing left to wait for.
      expect(s.rule()).toMatchObject({ state: 'open', retryAfterMs: 0, probesOut: 0 })
      expect(s.rule()).toMatchObject({ state: 'open', retryAfterMs: 0, probesOut: 0 })
      expect(s.changes()).toEqual(['0 closed > open: threshold'])
      expect(await s.run(way)).toBe('admitted')
      expect(s.rule().state).toBe('closed')
      expect(s.changes()).toEqual([
        '0 closed > open: threshold',
        '31000 open > half-open: cooldown-elapsed',
        '31000 half-open > closed: probe-succeeded',
      ])
      expect(s.clock.timersAsked).toBe(0)
    })
  }

  for (const { way, epoch, label } of variants(HELD)) {
    it(`F14 the state inside the probe reads half-open (${label})`, async () => {
      const s = bareStage([{ strategy: 'error-ratio', threshold: 0.5, minRequestAmount: 5, cooldownMs: 30_000 }], epoch)
      await s.trip(way)
      s.at(31_000)
      const probe = way.start(s)
      expect(s.rule()).toMatchObject({ state: 'half-open', probesOut: 1 })
      await probe.end('success')
      expect(s.rule()).toMatchObject({ state: 'closed', probesOut: 0 })
      expect(s.clock.timersAsked).toBe(0)
    })

    it(`F14 a process that slept for 40 days probes at its first call (${label})`, async () => {
      const s = bareStage([{ strategy: 'error-count', threshold: 5, cooldownMs: 30_000 }], epoch)
      await s.trip(way)
      s.at(40 * 86_400_000)
      expect(s.rule()).toMatchObject({ state: 'open', retryAfterMs: 0 })
      expect(await s.run(way)).toBe('admitted')
      expect(s.rule()).toMatchObject({ state: 'closed', total: 0, bad: 0 })
    })
  }

  for (const epoch of EPOCHS) {
    it(`F14 CircuitBreaker probes at 31 s without a timer (from ${epoch})`, async () => {
      const clock = new BareClock(epoch)
      const breaker = new CircuitBreaker({ failureThreshold: 5, cooldownMs: 30_000, clock })
      for (let i = 0; i < 5; i++) await rejection(breaker.run(() => Promise.reject(new Error('broken'))))
      clock.set(epoch + 29_999)
      expect(isBlocked(await rejection(breaker.run(async () => 'early')))).toBe(true)
      clock.set(epoch + 31_000)
      expect(await breaker.run(async () => breaker.state)).toBe('half-open')
      expect(breaker.state).toBe('closed')
      expect(clock.timersAsked).toBe(0)
    })
  }
})

describe('one time source', () => {
  for (const { way, epoch, label } of variants(ALL)) {
    it(`F15 calls that move the virtual clock by 600 ms are slow, while real time stands still (${label})`, async () => {
      const s = stage(
        [{ id: 'it', strategy: 'slow-call-ratio', threshold: 1, maxAllowedRtMs: 500, minRequestAmount: 5 }],
        epoch,
      )
      for (let i = 1; i <= 5; i++) {
        expect(s.rule().state).toBe('closed')
        expect(await s.run(way, 'success', 600)).toBe('admitted')
        expect(s.totals).toMatchObject({ slow: i, succeeded: i })
      }
      expect(s.changes()).toEqual(['3000 closed > open: threshold'])
      expect(s.states[0]).toMatchObject({ value: 1, threshold: 1, total: 5 })
      expect(await s.run(way)).toEqual(refusedBy('it', 10_000))
    })

    it(`F15 all five are in the window as slow, failed or not (${label})`, async () => {
      const s = stage(
        [{ strategy: 'slow-call-ratio', threshold: 1, maxAllowedRtMs: 500, minRequestAmount: 100 }],
        epoch,
      )
      for (let i = 0; i < 5; i++) await s.run(way, i % 2 === 0 ? 'failure' : 'success', 600)
      expect(s.rule()).toMatchObject({ state: 'closed', total: 5, bad: 5 })
      expect(s.totals.slow).toBe(5)
    })

    it(`F15 calls that move it by exactly the limit are not slow (${label})`, async () => {
      const s = stage([{ strategy: 'slow-call-ratio', threshold: 1, maxAllowedRtMs: 500, minRequestAmount: 5 }], epoch)
      for (let i = 0; i < 5; i++) expect(await s.run(way, 'success', 500)).toBe('admitted')
      expect(s.rule()).toMatchObject({ state: 'closed', total: 5, bad: 0 })
      expect(s.totals.slow).toBe(0)
      expect(await s.run(way, 'success', 501)).toBe('admitted')
      expect(s.rule()).toMatchObject({ total: 6, bad: 1 })
    })
  }

  for (const { way, epoch, label } of variants(HELD)) {
    it(`F15 five calls in flight together are slow by the same clock, each once (${label})`, async () => {
      const s = stage(
        [{ strategy: 'slow-call-ratio', threshold: 1, maxAllowedRtMs: 500, minRequestAmount: 100 }],
        epoch,
      )
      const calls = startMany(s, way, 5)
      s.at(600)
      await endAll(calls, 'success')
      expect(s.rule()).toMatchObject({ total: 5, bad: 5 })
      expect(s.totals).toMatchObject({ slow: 5, running: 0 })
    })
  }
})
