// Late completions: results of an earlier state that must not move a later one (F10 to F12).
import { CircuitBreaker, isBlocked } from 'leapguard'
import { ManualClock } from 'leapguard/testing'
import { describe, expect, it } from 'vitest'
import {
  deferred,
  ENTRY,
  endAll,
  HELD,
  type RuleFields,
  refusedBy,
  rejection,
  stage,
  startMany,
  variants,
} from '../support/harness.js'

const byStrategy = (failures: number): Record<string, RuleFields> => ({
  'error-count': { strategy: 'error-count', threshold: failures },
  'error-ratio': { strategy: 'error-ratio', threshold: 0.5, minRequestAmount: failures },
  'consecutive-errors': { strategy: 'consecutive-errors', threshold: failures },
})

describe('a success from before the trip', () => {
  for (const [strategy, fields] of Object.entries(byStrategy(5))) {
    for (const { way, epoch, label } of variants(HELD)) {
      it(`F10 a late success while open is handed to its caller and changes no state, by ${strategy} (${label})`, async () => {
        const s = stage([{ ...fields, id: 'it', cooldownMs: 10_000 }], epoch)
        const late = way.start(s)
        s.at(1000)
        await s.trip(way)
        expect(s.rule()).toMatchObject({ state: 'open', openedAt: epoch + 1000 })

        s.at(4000)
        await late.end('success')
        expect(s.rule()).toMatchObject({ state: 'open', openedAt: epoch + 1000, retryAfterMs: 7000 })
        expect(s.totals).toMatchObject({ succeeded: 1, failed: 5, running: 0 })
        s.at(5000)
        expect(await s.run(way)).toEqual(refusedBy('it', 6000))
        s.at(10_999)
        expect(await s.run(way)).toEqual(refusedBy('it', 1))

        s.at(11_000)
        const probe = way.start(s)
        expect(probe.admitted).toBe(true)
        expect(s.rule()).toMatchObject({ state: 'half-open', probesOut: 1 })
        await probe.end('success')
        expect(s.changes()).toEqual([
          '1000 closed > open: threshold',
          '11000 open > half-open: cooldown-elapsed',
          '11000 half-open > closed: probe-succeeded',
        ])
      })
    }
  }

  for (const { way, epoch, label } of variants(HELD)) {
    it(`F10 a late success while the probe runs does not close in its place (${label})`, async () => {
      const s = stage([{ strategy: 'error-count', threshold: 5, cooldownMs: 10_000 }], epoch)
      const late = way.start(s)
      s.at(1000)
      await s.trip(way)
      s.at(11_000)
      const probe = way.start(s)
      s.at(11_500)
      await late.end('success')
      expect(s.rule()).toMatchObject({ state: 'half-open', probesOut: 1 })
      s.at(12_000)
      await probe.end('failure')
      expect(s.rule()).toMatchObject({ state: 'open', openedAt: epoch + 12_000 })
    })
  }

  it('F10 CircuitBreaker stays open when a late call succeeds', async () => {
    const clock = new ManualClock(0)
    const breaker = new CircuitBreaker({ failureThreshold: 5, cooldownMs: 10_000, clock })
    const work = deferred<string>()
    const late = breaker.run(() => work.promise)
    clock.set(1000)
    for (let i = 0; i < 5; i++) await rejection(breaker.run(() => Promise.reject(new Error('broken'))))
    clock.set(4000)
    work.resolve('late')
    expect(await late).toBe('late')
    expect(breaker.state).toBe('open')
    clock.set(5000)
    expect(isBlocked(await rejection(breaker.run(async () => 'early')))).toBe(true)
    clock.set(10_999)
    expect(isBlocked(await rejection(breaker.run(async () => 'early')))).toBe(true)
    clock.set(11_000)
    expect(await breaker.run(async () => 'probe')).toBe('probe')
    expect(breaker.state).toBe('closed')
  })
})

describe('failures from before the trip', () => {
  for (const [strategy, fields] of Object.entries(byStrategy(10))) {
    for (const { way, epoch, label } of variants(HELD)) {
      it(`F11 90 late failures while the probe runs are counted for nothing, by ${strategy} (${label})`, async () => {
        const s = stage([{ ...fields, cooldownMs: 5000 }], epoch)
        const calls = startMany(s, way, 100)
        expect(calls.every((call) => call.admitted)).toBe(true)
        s.at(1000)
        await endAll(calls.slice(0, 10), 'failure')
        expect(s.changes()).toEqual(['1000 closed > open: threshold'])

        s.at(6000)
        const probe = way.start(s)
        expect(probe.admitted).toBe(true)
        for (const [i, call] of calls.slice(10).entries()) {
          s.at(6100 + i * 10)
          await call.end('failure')
          expect(s.rule()).toMatchObject({ state: 'half-open', probesOut: 1 })
        }
        s.at(7500)
        await probe.end('success')
        expect(s.rule()).toMatchObject({ state: 'closed', total: 0, bad: 0, probesOut: 0 })
        expect(s.changes()).toEqual([
          '1000 closed > open: threshold',
          '6000 open > half-open: cooldown-elapsed',
          '7500 half-open > closed: probe-succeeded',
        ])
        expect(await s.run(way)).toBe('admitted')
        // For consecutive-errors the total is the present run of failures.
        const total = strategy === 'consecutive-errors' ? 0 : 1
        expect(s.rule()).toMatchObject({ state: 'closed', total, bad: 0 })
        // The resource's own lifetime counts leave nothing out.
        expect(s.totals).toMatchObject({ passed: 102, blocked: 0, succeeded: 2, failed: 100, running: 0 })
      })

      it(`F11 late failures after the recovery are counted for nothing either, by ${strategy} (${label})`, async () => {
        const s = stage([{ ...fields, cooldownMs: 5000 }], epoch)
        const calls = startMany(s, way, 100)
        s.at(1000)
        await endAll(calls.slice(0, 10), 'failure')
        s.at(6000)
        expect(await s.run(way)).toBe('admitted')
        expect(s.rule().state).toBe('closed')
        s.at(7000)
        await endAll(calls.slice(10), 'failure')
        expect(s.rule()).toMatchObject({ state: 'closed', total: 0, bad: 0 })
        expect(s.changes()).toHaveLength(3)
      })
    }
  }
})

describe('failures that arrive while already open', () => {
  for (const [strategy, fields] of Object.entries(byStrategy(5))) {
    for (const { way, epoch, label } of variants(HELD)) {
      it(`F12 there is one opened event and the open period is not prolonged, by ${strategy} (${label})`, async () => {
        const s = stage([{ ...fields, id: 'it', cooldownMs: 5000 }], epoch)
        const calls = startMany(s, way, 10)
        s.at(1000)
        await endAll(calls.slice(0, 5), 'failure')
        for (const [i, call] of calls.slice(5).entries()) {
          s.at(1100 + i * 100)
          await call.end('failure')
        }
        expect(s.clock.now()).toBe(epoch + 1500)
        expect(s.changes()).toEqual(['1000 closed > open: threshold'])
        expect(s.rule()).toMatchObject({ state: 'open', openedAt: epoch + 1000, retryAfterMs: 4500 })

        s.at(5999)
        expect(await s.run(way)).toEqual(refusedBy('it', 1))
        s.at(6000)
        expect(await s.run(way)).toBe('admitted')
        expect(s.changes()).toEqual([
          '1000 closed > open: threshold',
          '6000 open > half-open: cooldown-elapsed',
          '6000 half-open > closed: probe-succeeded',
        ])
      })
    }
  }

  it('F12 each rule of a resource has one opened event of its own', async () => {
    const s = stage([
      { id: 'five', strategy: 'error-count', threshold: 5 },
      { id: 'seven', strategy: 'error-count', threshold: 7 },
    ])
    const calls = startMany(s, ENTRY, 10)
    s.at(1000)
    await endAll(calls.slice(0, 5), 'failure')
    for (const [i, call] of calls.slice(5).entries()) {
      s.at(1100 + i * 100)
      await call.end('failure')
    }
    expect(s.changes('five')).toEqual(['1000 closed > open: threshold'])
    expect(s.changes('seven')).toEqual(['1200 closed > open: threshold'])
  })
})
