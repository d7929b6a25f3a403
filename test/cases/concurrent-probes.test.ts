// Recovery too generous: waiting traffic rushing into half-open (F08), and probes that overlap (F09).
import { CircuitBreaker, isBlocked } from 'leapguard'
import { ManualClock } from 'leapguard/testing'
import { describe, expect, it } from 'vitest'
import {
  deferred,
  HELD,
  type RuleFields,
  refusedBy,
  rejection,
  stage,
  startMany,
  variants,
} from '../support/harness.js'

describe('a hundred calls when the open time is over', () => {
  const rules: Record<string, RuleFields> = {
    'error-count': { strategy: 'error-count', threshold: 5 },
    'error-ratio': { strategy: 'error-ratio', threshold: 0.5, minRequestAmount: 5 },
    'consecutive-errors': { strategy: 'consecutive-errors', threshold: 5 },
  }
  for (const [strategy, fields] of Object.entries(rules)) {
    for (const { way, epoch, label } of variants(HELD)) {
      it(`F08 exactly one of 100 runs, and its failure opens for another 5 s, by ${strategy} (${label})`, async () => {
        const s = stage([{ ...fields, id: 'it', cooldownMs: 5000 }], epoch)
        await s.trip(way)

        s.at(6000)
        const calls = startMany(s, way, 100)
        expect(calls.filter((call) => call.admitted)).toEqual([calls[0]])
        expect(s.totals).toMatchObject({ passed: 6, blocked: 99, running: 1 })
        expect(s.blocked).toHaveLength(99)
        expect(s.rule()).toMatchObject({ state: 'half-open', probesOut: 1 })
        // Refused in the tick of the call: by now every one of them has been told.
        const refusals = await Promise.all(calls.slice(1).map((call) => call.refusal))
        expect(refusals).toEqual(Array.from({ length: 99 }, () => refusedBy('it', 5000)))

        s.at(7000)
        await calls[0]?.end('failure')
        expect(s.rule()).toMatchObject({
          state: 'open',
          openedAt: epoch + 7000,
          retryAfterMs: 5000,
          probesOut: 0,
        })
        s.at(11_999)
        expect(await s.run(way)).toEqual(refusedBy('it', 1))
        s.at(12_000)
        expect(await s.run(way)).toBe('admitted')
        expect(s.changes()).toEqual([
          '0 closed > open: threshold',
          '6000 open > half-open: cooldown-elapsed',
          '7000 half-open > open: probe-failed',
          '12000 open > half-open: cooldown-elapsed',
          '12000 half-open > closed: probe-succeeded',
        ])
      })
    }
  }

  for (const { way, epoch, label } of variants(HELD)) {
    it(`F08 probeCount is the number that runs, and the first failure re-opens for all (${label})`, async () => {
      const s = stage([{ strategy: 'error-count', threshold: 5, cooldownMs: 5000, probeCount: 3 }], epoch)
      await s.trip(way)
      s.at(6000)
      const calls = startMany(s, way, 100)
      expect(calls.map((call) => call.admitted)).toEqual(Array.from({ length: 100 }, (_, i) => i < 3))
      expect(s.rule().probesOut).toBe(3)
      s.at(7000)
      await calls[1]?.end('failure')
      expect(s.rule()).toMatchObject({ state: 'open', openedAt: epoch + 7000, probesOut: 0 })
      s.at(7500)
      await calls[0]?.end('success')
      await calls[2]?.end('failure')
      expect(s.rule()).toMatchObject({ state: 'open', openedAt: epoch + 7000, probesOut: 0 })
      expect(s.changes()).toHaveLength(3)
    })
  }

  it('F08 CircuitBreaker lets exactly one of 100 run', async () => {
    const clock = new ManualClock(0)
    const breaker = new CircuitBreaker({ failureThreshold: 5, cooldownMs: 5000, clock })
    for (let i = 0; i < 5; i++) await rejection(breaker.run(() => Promise.reject(new Error('broken'))))
    expect(breaker.state).toBe('open')

    clock.set(6000)
    const work = deferred<string>()
    let ran = 0
    const results = Array.from({ length: 100 }, () =>
      rejection(
        breaker.run(() => {
          ran++
          return work.promise
        }),
      ),
    )
    expect(ran).toBe(1)
    const refused = await Promise.all(results.slice(1))
    expect(refused.filter(isBlocked)).toHaveLength(99)
    clock.set(7000)
    work.reject(new Error('still broken'))
    expect(await results[0]).toEqual(new Error('still broken'))
    expect(breaker.state).toBe('open')
    clock.set(11_999)
    expect(isBlocked(await rejection(breaker.run(async () => 'early')))).toBe(true)
    clock.set(12_000)
    expect(await breaker.run(async () => 'fine')).toBe('fine')
    expect(breaker.state).toBe('closed')
  })
})

describe('two probes overlap: the first fails, the second succeeds after it', () => {
  const rules: Record<string, RuleFields> = {
    'error-count': { strategy: 'error-count', threshold: 5 },
    'error-ratio': { strategy: 'error-ratio', threshold: 0.5, minRequestAmount: 5 },
    'consecutive-errors': { strategy: 'consecutive-errors', threshold: 5 },
  }
  const growing = { id: 'it', cooldownMs: 60_000, cooldownMultiplier: 2, probeCount: 2 } as const
  for (const [strategy, fields] of Object.entries(rules)) {
    for (const { way, epoch, label } of variants(HELD)) {
      it(`F09 the failure decides: open for 120 s from 61 s, and the growth stays, by ${strategy} (${label})`, async () => {
        const s = stage([{ ...fields, ...growing }], epoch)
        await s.trip(way)
        s.at(60_000)
        const [a, b] = startMany(s, way, 2)
        expect(s.rule()).toMatchObject({ state: 'half-open', probesOut: 2 })

        s.at(61_000)
        await a?.end('failure')
        const after = { state: 'open', openedAt: epoch + 61_000, probesOut: 0 }
        expect(s.rule()).toMatchObject({ ...after, retryAfterMs: 120_000 })
        s.at(62_000)
        await b?.end('success')
        expect(s.rule()).toMatchObject({ ...after, retryAfterMs: 119_000 })
        expect(s.totals).toMatchObject({ passed: 7, succeeded: 1, failed: 6, running: 0 })

        s.at(180_999)
        expect(await s.run(way)).toEqual(refusedBy('it', 1))
        s.at(181_000)
        expect(await s.run(way, 'failure')).toBe('admitted')
        // Had the success of B reset the growth, this would be 120 s.
        expect(s.rule()).toMatchObject({ openedAt: epoch + 181_000, retryAfterMs: 240_000 })
        expect(s.changes()).toEqual([
          '0 closed > open: threshold',
          '60000 open > half-open: cooldown-elapsed',
          '61000 half-open > open: probe-failed',
          '181000 open > half-open: cooldown-elapsed',
          '181000 half-open > open: probe-failed',
        ])
      })

      it(`F09 in the other order the failure decides too, by ${strategy} (${label})`, async () => {
        const s = stage([{ ...fields, ...growing }], epoch)
        await s.trip(way)
        s.at(60_000)
        const [a, b] = startMany(s, way, 2)
        s.at(61_000)
        await a?.end('success')
        expect(s.rule()).toMatchObject({ state: 'half-open', probesOut: 1 })
        s.at(62_000)
        await b?.end('failure')
        expect(s.rule()).toMatchObject({ state: 'open', openedAt: epoch + 62_000, retryAfterMs: 120_000 })
      })
    }
  }

  for (const { way, epoch, label } of variants(HELD)) {
    it(`F09 both fail: the cooldown grows once, from the first (${label})`, async () => {
      const s = stage([{ strategy: 'error-count', threshold: 5, ...growing }], epoch)
      await s.trip(way)
      s.at(60_000)
      const [a, b] = startMany(s, way, 2)
      s.at(61_000)
      await a?.end('failure')
      s.at(62_000)
      await b?.end('failure')
      expect(s.rule()).toMatchObject({ state: 'open', openedAt: epoch + 61_000, retryAfterMs: 119_000 })
    })

    it(`F09 a second probe that succeeds into the next half-open decides nothing there either (${label})`, async () => {
      const s = stage([{ strategy: 'error-count', threshold: 5, ...growing }], epoch)
      await s.trip(way)
      s.at(60_000)
      const [a, b] = startMany(s, way, 2)
      s.at(61_000)
      await a?.end('failure')
      s.at(181_000)
      const [c] = startMany(s, way, 1)
      await b?.end('success')
      expect(s.rule()).toMatchObject({ state: 'half-open', probesOut: 1 })
      await c?.end('success')
      expect(s.rule()).toMatchObject({ state: 'half-open', probesOut: 0 })
      expect(await s.run(way)).toBe('admitted')
      expect(s.rule()).toMatchObject({ state: 'closed', probesOut: 0 })
    })
  }
})
