// Recovery stuck: half-open probes that never come to a verdict (F01 to F07).
import { getEventListeners } from 'node:events'
import { BlockCode, CircuitBreaker, type CustomRule, isBlocked, Outcome } from 'leapguard'
import { ManualClock } from 'leapguard/testing'
import { describe, expect, it } from 'vitest'
import {
  ALL,
  deferred,
  ENTER,
  ENTRY,
  ENTRY_SYNC,
  endAll,
  HELD,
  type HeldWay,
  type RuleFields,
  refusedBy,
  rejection,
  type Stage,
  stage,
  startMany,
  TRY_ENTER,
  variants,
} from '../support/harness.js'

const FIVE_ERRORS: RuleFields = { strategy: 'error-count', threshold: 5 }
const OPEN_5_S: RuleFields = { ...FIVE_ERRORS, cooldownMs: 5000 }

describe('a probe lent in vain', () => {
  const TEN: RuleFields = { ...FIVE_ERRORS, id: 'ten', cooldownMs: 10_000 }
  const TWENTY: RuleFields = { ...FIVE_ERRORS, id: 'twenty', cooldownMs: 20_000 }

  for (const { way, epoch, label } of variants(ALL)) {
    it(`F01 the probe lent by one rule is taken back when a later rule refuses (${label})`, async () => {
      const s = stage([TEN, TWENTY], epoch)
      await s.trip(way)

      s.at(12_000)
      expect(await s.run(way)).toEqual(refusedBy('twenty', 8000))
      expect(s.rule('ten')).toMatchObject({ state: 'open', retryAfterMs: 0, probesOut: 0 })
      expect(s.rule('twenty')).toMatchObject({ state: 'open', retryAfterMs: 8000, probesOut: 0 })
      expect(s.changes()).toEqual(['0 closed > open: threshold', '0 closed > open: threshold'])

      for (const t of [21_000, 22_000, 23_000]) {
        s.at(t)
        expect(await s.run(way)).toBe('admitted')
      }
      for (const id of ['ten', 'twenty']) {
        expect(s.rule(id)).toMatchObject({ state: 'closed', probesOut: 0 })
        expect(s.changes(id)).toEqual([
          '0 closed > open: threshold',
          '21000 open > half-open: cooldown-elapsed',
          '21000 half-open > closed: probe-succeeded',
        ])
      }
      expect(s.totals).toMatchObject({ passed: 8, blocked: 1, succeeded: 3, failed: 5, running: 0 })
    })

    it(`F01 the order of the rules makes no difference (${label})`, async () => {
      const s = stage([TWENTY, TEN], epoch)
      await s.trip(way)
      s.at(12_000)
      expect(await s.run(way)).toEqual(refusedBy('twenty', 8000))
      expect(s.rule('ten')).toMatchObject({ state: 'open', probesOut: 0 })
      s.at(21_000)
      expect(await s.run(way)).toBe('admitted')
      expect([s.rule('ten').state, s.rule('twenty').state]).toEqual(['closed', 'closed'])
    })

    it(`F01 a custom check that refuses later gives the probe back (${label})`, async () => {
      const s = stage([TEN], epoch)
      let refuseUntil = 0
      s.guard.configure(s.resource, {
        rules: [{ id: 'maintenance', check: (now) => (now < epoch + refuseUntil ? BlockCode.CUSTOM : 0) }],
      })
      await s.trip(way)
      refuseUntil = 20_000

      s.at(12_000)
      expect(await s.run(way)).toEqual({ code: 'ERR_BLOCKED_CUSTOM', rule: 'maintenance', retryAfterMs: undefined })
      expect(s.rule()).toMatchObject({ state: 'open', retryAfterMs: 0, probesOut: 0 })
      expect(s.blocked.map((event) => event.kind)).toEqual(['custom'])

      for (const t of [21_000, 22_000, 23_000]) {
        s.at(t)
        expect(await s.run(way)).toBe('admitted')
      }
      expect(s.rule()).toMatchObject({ state: 'closed', probesOut: 0 })
      expect(s.changes()).toEqual([
        '0 closed > open: threshold',
        '21000 open > half-open: cooldown-elapsed',
        '21000 half-open > closed: probe-succeeded',
      ])
    })

    it(`F01 a plain controller with all its verbs takes and settles nothing of the call it refused (${label})`, async () => {
      const s = stage([TEN], epoch)
      let refuseUntil = 0
      const log: string[] = []
      const controller: CustomRule = {
        advance: () => {},
        // A negative number is a wait, and entries do not queue: refused, with the wait named.
        check: (now) => (now < epoch + refuseUntil ? now - epoch - refuseUntil : 0),
        take: (now, permit) => {
          log.push(`${now - epoch} take ${permit.resource}`)
        },
        settle: (now, _permit, outcome) => {
          log.push(`${now - epoch} settle ${outcome}`)
        },
      }
      s.guard.configure(s.resource, { rules: [controller] })
      await s.trip(way)
      refuseUntil = 20_000
      log.length = 0

      s.at(12_000)
      expect(await s.run(way)).toEqual({ code: 'ERR_BLOCKED_CUSTOM', rule: 'custom#1', retryAfterMs: 8000 })
      expect(log).toEqual([])
      expect(s.rule()).toMatchObject({ state: 'open', probesOut: 0 })

      s.at(21_000)
      expect(await s.run(way)).toBe('admitted')
      expect(log).toEqual(['21000 take dep', `21000 settle ${Outcome.SUCCESS}`])
      s.at(22_000)
      expect(await s.run(way)).toBe('admitted')
      s.at(23_000)
      expect(await s.run(way)).toBe('admitted')
      expect(s.rule().state).toBe('closed')
      expect(s.totals).toMatchObject({ passed: 8, blocked: 1, succeeded: 3, failed: 5, running: 0 })
    })
  }

  it('F01 refusals of a custom check between the probes use nothing of the budget of a half-open rule', async () => {
    const s = stage([{ ...TEN, probeCount: 2 }])
    let refuse = false
    s.guard.configure(s.resource, { rules: [{ check: () => (refuse ? BlockCode.CUSTOM : 0) }] })
    await s.trip(ENTRY)
    s.at(10_000)
    const first = ENTRY.start(s)
    expect(s.rule()).toMatchObject({ state: 'half-open', probesOut: 1 })
    refuse = true
    for (let i = 0; i < 10; i++) expect(await s.run(ENTRY)).toMatchObject({ code: 'ERR_BLOCKED_CUSTOM' })
    expect(s.rule()).toMatchObject({ state: 'half-open', probesOut: 1 })
    refuse = false
    const second = ENTRY.start(s)
    expect(second.admitted).toBe(true)
    await endAll([first, second], 'success')
    expect(s.rule()).toMatchObject({ state: 'closed', probesOut: 0 })
  })
})

describe('a failing probe and the minimum volume', () => {
  const rules: Record<string, RuleFields> = {
    'error-ratio': { strategy: 'error-ratio', threshold: 0.5, minRequestAmount: 5 },
    'error-count': { strategy: 'error-count', threshold: 5, minRequestAmount: 5 },
    'consecutive-errors': { strategy: 'consecutive-errors', threshold: 5 },
  }
  for (const [strategy, fields] of Object.entries(rules)) {
    for (const { way, epoch, label } of variants(ALL)) {
      it(`F02 a failed probe re-opens at once whatever the volume, by ${strategy} (${label})`, async () => {
        const s = stage([{ id: 'it', ...fields, statIntervalMs: 10_000, cooldownMs: 30_000 }], epoch)
        await s.trip(way)

        s.at(29_999)
        expect(await s.run(way)).toEqual(refusedBy('it', 1))
        s.at(31_000)
        expect(await s.run(way, 'failure')).toBe('admitted')
        expect(s.rule()).toMatchObject({
          state: 'open',
          openedAt: epoch + 31_000,
          retryAfterMs: 30_000,
          probesOut: 0,
        })
        expect(await s.run(way)).toEqual(refusedBy('it', 30_000))
        s.at(60_999)
        expect(await s.run(way)).toEqual(refusedBy('it', 1))

        s.at(62_000)
        expect(await s.run(way)).toBe('admitted')
        expect(s.rule()).toMatchObject({ state: 'closed', openedAt: undefined, probesOut: 0, bad: 0 })
        expect(s.changes()).toEqual([
          '0 closed > open: threshold',
          '31000 open > half-open: cooldown-elapsed',
          '31000 half-open > open: probe-failed',
          '62000 open > half-open: cooldown-elapsed',
          '62000 half-open > closed: probe-succeeded',
        ])
      })
    }
  }

  for (const { way, epoch, label } of variants(ALL)) {
    it(`F02 a slow probe re-opens at once whatever the volume, by slow-call-ratio (${label})`, async () => {
      const s = stage(
        [{ strategy: 'slow-call-ratio', threshold: 0.5, maxAllowedRtMs: 10, minRequestAmount: 5, cooldownMs: 30_000 }],
        epoch,
      )
      for (let i = 0; i < 5; i++) expect(await s.run(way, 'success', 11)).toBe('admitted')
      expect(s.rule()).toMatchObject({ state: 'open', openedAt: epoch + 55 })
      s.at(31_000)
      expect(await s.run(way, 'success', 11)).toBe('admitted')
      expect(s.rule()).toMatchObject({ state: 'open', openedAt: epoch + 31_011 })
      s.at(62_000)
      expect(await s.run(way, 'success', 10)).toBe('admitted')
      expect(s.changes()).toEqual([
        '55 closed > open: threshold',
        '31000 open > half-open: cooldown-elapsed',
        '31011 half-open > open: probe-slow',
        '62000 open > half-open: cooldown-elapsed',
        '62010 half-open > closed: probe-succeeded',
      ])
    })
  }
})

describe('a probe cancelled from outside', () => {
  interface Cancelled {
    /** What the caller of the probe has in its hands at 6.5 s. */
    cancel(): Promise<void>
    /** The operation goes on and ends later all the same. */
    settleLate(ending: 'success' | 'failure'): Promise<void>
  }
  const probes: Record<string, (s: Stage) => Cancelled> = {
    'entry with a signal': (s) => {
      const work = deferred<string>()
      const abort = new AbortController()
      const reason = new Error('the caller went away')
      const result = rejection(s.guard.entry(s.resource, () => work.promise, { signal: abort.signal }))
      return {
        async cancel() {
          abort.abort(reason)
          // In the same tick, before any promise has turned.
          expect(s.rule()).toMatchObject({ state: 'half-open', probesOut: 0 })
          expect(await result).toBe(reason)
          expect(getEventListeners(abort.signal, 'abort')).toEqual([])
        },
        async settleLate(ending) {
          if (ending === 'success') work.resolve('late')
          else work.reject(new Error('late'))
          await Promise.resolve()
          expect(await result).toBe(reason)
        },
      }
    },
    'enter with a signal': (s) => {
      const abort = new AbortController()
      const handle = s.guard.enter(s.resource, { signal: abort.signal })
      return {
        async cancel() {
          abort.abort()
          expect(getEventListeners(abort.signal, 'abort')).toEqual([])
        },
        async settleLate(ending) {
          handle.exit(ending === 'success' ? {} : { error: new Error('late') })
        },
      }
    },
    'tryEnter with a signal': (s) => {
      const abort = new AbortController()
      const permit = s.guard.tryEnter(s.resource, { signal: abort.signal })
      return {
        async cancel() {
          abort.abort()
          expect(getEventListeners(abort.signal, 'abort')).toEqual([])
        },
        async settleLate(ending) {
          s.guard.leave(permit, ending)
        },
      }
    },
    'enter and cancel': (s) => {
      const handle = s.guard.enter(s.resource)
      return {
        async cancel() {
          handle.cancel()
        },
        async settleLate(ending) {
          handle.exit(ending === 'success' ? {} : { error: new Error('late') })
        },
      }
    },
    'a handle disposed without an end': (s) => {
      const handle = s.guard.enter(s.resource)
      return {
        async cancel() {
          handle[Symbol.dispose]()
        },
        async settleLate(ending) {
          handle.exit(ending === 'success' ? {} : { error: new Error('late') })
        },
      }
    },
    'tryEnter and leave as ignored': (s) => {
      const permit = s.guard.tryEnter(s.resource)
      return {
        async cancel() {
          s.guard.leave(permit, 'ignored')
        },
        async settleLate(ending) {
          s.guard.leave(permit, ending)
        },
      }
    },
  }

  for (const [name, startProbe] of Object.entries(probes)) {
    for (const late of ['success', 'failure'] as const) {
      for (const when of ['before the next probe', 'while the next probe runs', 'after recovery'] as const) {
        it(`F03 a cancelled probe gives no verdict and frees its slot at once; its late ${late} ${when} is ignored (${name})`, async () => {
          const s = stage([OPEN_5_S], 1_700_000_000_000)
          await s.trip(ENTRY)

          s.at(6000)
          const probe = startProbe(s)
          expect(s.rule()).toMatchObject({ state: 'half-open', probesOut: 1 })
          expect(await s.run(ENTRY)).toMatchObject({ code: 'ERR_BLOCKED_DEGRADE' })
          s.at(6500)
          await probe.cancel()
          expect(s.rule()).toMatchObject({ state: 'half-open', probesOut: 0 })
          expect(s.totals).toMatchObject({ passed: 6, succeeded: 0, failed: 5, ignored: 1, running: 0 })

          if (when === 'before the next probe') {
            s.at(6900)
            await probe.settleLate(late)
            expect(s.rule()).toMatchObject({ state: 'half-open', probesOut: 0 })
          }
          s.at(7000)
          const healthy = ENTRY.start(s)
          expect(healthy.admitted).toBe(true)
          expect(s.rule()).toMatchObject({ state: 'half-open', probesOut: 1 })
          if (when === 'while the next probe runs') {
            s.at(8000)
            await probe.settleLate(late)
            expect(s.rule()).toMatchObject({ state: 'half-open', probesOut: 1 })
          }
          await healthy.end('success')
          expect(s.rule().state).toBe('closed')
          if (when === 'after recovery') {
            s.at(8000)
            await probe.settleLate(late)
          }
          expect(s.rule()).toMatchObject({ state: 'closed', total: 0, bad: 0, probesOut: 0 })
          expect(s.changes().map((change) => change.replace(/^\d+ /, ''))).toEqual([
            'closed > open: threshold',
            'open > half-open: cooldown-elapsed',
            'half-open > closed: probe-succeeded',
          ])
          expect(s.totals).toMatchObject({ passed: 7, succeeded: 1, failed: 5, ignored: 1, running: 0 })
        })
      }
    }
  }

  it('F03 the signal of the probe reaches its function and is aborted with the reason of the caller', async () => {
    const s = stage([OPEN_5_S])
    await s.trip(ENTRY)
    s.at(6000)
    const abort = new AbortController()
    let seen: AbortSignal | undefined
    const result = rejection(
      s.guard.entry(
        s.resource,
        ({ signal }) => {
          seen = signal
          return new Promise(() => {})
        },
        { signal: abort.signal },
      ),
    )
    expect(seen?.aborted).toBe(false)
    s.at(6500)
    abort.abort('enough')
    expect(seen?.aborted).toBe(true)
    expect(seen?.reason).toBe('enough')
    expect(await result).toBe('enough')
  })
})

describe('a probe that hangs', () => {
  for (const { way, epoch, label } of variants(HELD)) {
    for (const late of ['success', 'failure'] as const) {
      it(`F04 a hung probe holds its slot for the open duration only, and its late ${late} is ignored (${label})`, async () => {
        const s = stage([{ ...OPEN_5_S, id: 'it' }], epoch)
        await s.trip(way)

        s.at(6000)
        const hung = way.start(s)
        expect(hung.admitted).toBe(true)
        expect(await s.run(way)).toEqual(refusedBy('it', 5000))
        s.at(10_999)
        expect(await s.run(way)).toEqual(refusedBy('it', 1))

        s.at(12_000)
        const fresh = way.start(s)
        expect(fresh.admitted).toBe(true)
        expect(s.rule()).toMatchObject({ state: 'half-open', probesOut: 1 })
        s.at(12_100)
        await hung.end(late)
        expect(s.rule()).toMatchObject({ state: 'half-open', probesOut: 1 })
        await fresh.end('success')
        expect(s.rule()).toMatchObject({ state: 'closed', probesOut: 0, total: 0, bad: 0 })

        s.at(20_000)
        expect(await s.run(way)).toBe('admitted')
        expect(s.rule()).toMatchObject({ state: 'closed', total: 1, bad: 0 })
        expect(s.changes()).toEqual([
          '0 closed > open: threshold',
          '6000 open > half-open: cooldown-elapsed',
          '12100 half-open > closed: probe-succeeded',
        ])
      })

      it(`F04 a late ${late} of the hung probe is ignored after recovery too (${label})`, async () => {
        const s = stage([OPEN_5_S], epoch)
        await s.trip(way)
        s.at(6000)
        const hung = way.start(s)
        s.at(12_000)
        expect(await s.run(way)).toBe('admitted')
        expect(s.rule().state).toBe('closed')
        s.at(15_000)
        await hung.end(late)
        expect(s.rule()).toMatchObject({ state: 'closed', total: 0, bad: 0, probesOut: 0 })
        s.at(20_000)
        expect(await s.run(way)).toBe('admitted')
        expect(s.totals.running).toBe(0)
      })
    }

    it(`F04 the wait named in the refusal is enough to be lent the next probe (${label})`, async () => {
      const s = stage([{ ...OPEN_5_S, id: 'it' }], epoch)
      await s.trip(way)
      s.at(6000)
      way.start(s)
      s.at(8000)
      expect(await s.run(way)).toEqual(refusedBy('it', 3000))
      s.at(11_000)
      expect(await s.run(way)).toBe('admitted')
      expect(s.rule().state).toBe('closed')
    })

    it(`F04 the bound is configurable (${label})`, async () => {
      const s = stage([{ ...OPEN_5_S, id: 'it', probeTimeoutMs: 1500 }], epoch)
      await s.trip(way)
      s.at(6000)
      way.start(s)
      s.at(7499)
      expect(await s.run(way)).toEqual(refusedBy('it', 1))
      s.at(7500)
      expect(await s.run(way)).toBe('admitted')
      expect(s.rule()).toMatchObject({ state: 'closed', probesOut: 0 })
    })

    it(`F04 each takeover doubles the bound until the breaker closes (${label})`, async () => {
      const s = stage([{ ...OPEN_5_S, id: 'it' }], epoch)
      await s.trip(way)
      s.at(6000)
      way.start(s)
      s.at(12_000)
      expect(way.start(s).admitted).toBe(true)
      s.at(20_000)
      expect(await s.run(way)).toEqual(refusedBy('it', 2000))
      s.at(22_000)
      expect(await s.run(way)).toBe('admitted')
      expect(s.rule().state).toBe('closed')

      await s.trip(way)
      s.at(27_000)
      expect(way.start(s).admitted).toBe(true)
      expect(await s.run(way)).toEqual(refusedBy('it', 5000))
    })

    it(`F04 successes earned before the hung probe stay (${label})`, async () => {
      const s = stage([{ ...OPEN_5_S, successThreshold: 2 }], epoch)
      await s.trip(way)
      s.at(6000)
      expect(await s.run(way)).toBe('admitted')
      expect(s.rule().state).toBe('half-open')
      way.start(s)
      s.at(12_000)
      expect(await s.run(way)).toBe('admitted')
      expect(s.rule().state).toBe('closed')
    })

    it(`F04 a probe timeout of null waits for ever, and says that the wait is unknown (${label})`, async () => {
      const s = stage([{ ...OPEN_5_S, id: 'it', probeTimeoutMs: null }], epoch)
      await s.trip(way)
      s.at(6000)
      const hung = way.start(s)
      s.at(30 * 86_400_000)
      expect(await s.run(way)).toEqual(refusedBy('it', undefined))
      await hung.end('success')
      expect(s.rule().state).toBe('closed')
    })

    it(`F04 a hung probe of a slow-call rule re-opens when it is seen past the limit, and traffic flows by 20 s (${label})`, async () => {
      const s = stage(
        [
          {
            id: 'it',
            strategy: 'slow-call-ratio',
            threshold: 0.5,
            maxAllowedRtMs: 1000,
            minRequestAmount: 5,
            cooldownMs: 5000,
          },
        ],
        epoch,
      )
      const slow = startMany(s, way, 5)
      s.at(1500)
      await endAll(slow, 'success')
      expect(s.rule()).toMatchObject({ state: 'open', openedAt: epoch + 1500 })
      s.at(7000)
      const hung = way.start(s)
      expect(hung.admitted).toBe(true)
      s.at(9000)
      expect(await s.run(way)).toEqual(refusedBy('it', 5000))
      expect(s.rule()).toMatchObject({ state: 'open', openedAt: epoch + 9000, probesOut: 0 })
      s.at(12_000)
      expect(await s.run(way)).toEqual(refusedBy('it', 2000))
      await hung.end('success')
      expect(s.rule().state).toBe('open')
      s.at(20_000)
      expect(await s.run(way)).toBe('admitted')
      expect(s.rule().state).toBe('closed')
      expect(s.changes()).toEqual([
        '1500 closed > open: threshold',
        '7000 open > half-open: cooldown-elapsed',
        '9000 half-open > open: probe-slow',
        '20000 open > half-open: cooldown-elapsed',
        '20000 half-open > closed: probe-succeeded',
      ])
    })
  }
})

describe('probes that end with an ignored error', () => {
  const ENDINGS = ['success', 'ignored', 'success', 'ignored', 'success', 'success', 'success'] as const
  const FIVE_PROBES: Record<string, Partial<RuleFields>> = {
    'five out at once': { probeCount: 5 },
    'one after the other': { probeCount: 1, successThreshold: 5 },
  }

  for (const [name, budget] of Object.entries(FIVE_PROBES)) {
    for (const { way, epoch, label } of variants(ALL)) {
      it(`F05 ignored errors hand their probe back and the fifth success closes, ${name} (${label})`, async () => {
        const s = stage([{ ...FIVE_ERRORS, cooldownMs: 10_000, ...budget }], epoch)
        await s.trip(way)
        s.at(10_000)
        for (const [i, ending] of ENDINGS.entries()) {
          expect(await s.run(way, ending)).toBe('admitted')
          expect(s.rule()).toMatchObject({ state: i < 6 ? 'half-open' : 'closed', probesOut: 0 })
        }
        expect(s.changes()).toEqual([
          '0 closed > open: threshold',
          '10000 open > half-open: cooldown-elapsed',
          '10000 half-open > closed: probe-succeeded',
        ])
        expect(s.totals).toMatchObject({ passed: 12, blocked: 0, succeeded: 5, failed: 5, ignored: 2, running: 0 })
      })
    }
  }

  for (const { way, epoch, label } of variants(HELD)) {
    it(`F05 probes handed back by ignored errors are lent again while the others still run (${label})`, async () => {
      const s = stage([{ ...FIVE_ERRORS, cooldownMs: 10_000, probeCount: 5 }], epoch)
      await s.trip(way)
      s.at(10_000)
      const [a, b, c, d, e] = startMany(s, way, 5)
      if (!a || !b || !c || !d || !e) throw new Error('five calls were started')
      expect([a, b, c, d, e].map((call) => call.admitted)).toEqual([true, true, true, true, true])
      expect(s.rule().probesOut).toBe(5)
      expect(way.start(s).admitted).toBe(false)

      await a.end('success')
      await b.end('ignored')
      await c.end('success')
      await d.end('ignored')
      expect(s.rule()).toMatchObject({ state: 'half-open', probesOut: 1 })
      const more = startMany(s, way, 2)
      expect(more.map((call) => call.admitted)).toEqual([true, true])
      await endAll([e, ...more], 'success')
      expect(s.rule()).toMatchObject({ state: 'closed', probesOut: 0 })
    })
  }
})

describe('nested calls of one resource inside a probe', () => {
  const half = async (extra: readonly RuleFields[] = [], epoch = 1_700_000_000_000): Promise<Stage> => {
    const s = stage([{ ...OPEN_5_S, id: 'it' }, ...extra], epoch, 'cache')
    for (let i = 0; i < 5; i++) await s.run(ENTRY, 'failure')
    expect(s.rule('it').state).toBe('open')
    s.at(6000)
    return s
  }
  const closedAt6 = [
    '0 closed > open: threshold',
    '6000 open > half-open: cooldown-elapsed',
    '6000 half-open > closed: probe-succeeded',
  ]

  it('F06 an inner entry runs as part of the probe of the outer one: closed at 6 s', async () => {
    const s = await half()
    const inside: string[] = []
    const outer = () =>
      s.guard.entry('cache', async () => {
        const inner = await s.guard.entry('cache', async () => {
          inside.push(`${s.rule().state}, ${s.rule().probesOut} out`)
          return 'inner'
        })
        inside.push(`${s.rule().state}, ${s.rule().probesOut} out`)
        return `outer of ${inner}`
      })
    expect(await outer()).toBe('outer of inner')
    expect(s.rule()).toMatchObject({ state: 'closed', probesOut: 0 })
    expect(s.changes()).toEqual(closedAt6)

    s.at(12_000)
    expect(await outer()).toBe('outer of inner')
    expect(s.rule()).toMatchObject({ state: 'closed', total: 2, bad: 0 })
    expect(inside).toEqual(['half-open, 1 out', 'half-open, 1 out', 'closed, 0 out', 'closed, 0 out'])
    expect(s.changes()).toEqual(closedAt6)
    expect(s.totals).toMatchObject({ passed: 9, blocked: 0, succeeded: 4, failed: 5, running: 0 })
  })

  it('F06 the inner call is recognised several awaits and functions deep', async () => {
    const s = await half()
    const fetchRow = () => s.guard.entry('cache', async () => 'row')
    const level3 = async () => {
      await new Promise<void>((resolve) => process.nextTick(resolve))
      await new Promise<void>((resolve) => queueMicrotask(resolve))
      return fetchRow()
    }
    async function* level2() {
      await null
      yield await level3()
      await null
      yield await level3()
    }
    const level1 = async () => {
      const rows: string[] = []
      for await (const row of level2()) rows.push(row)
      const more = await Promise.all([level3(), level3(), Promise.resolve().then(level3)])
      return [...rows, ...more]
    }
    expect(await s.guard.entry('cache', async () => (await level1()).join())).toBe('row,row,row,row,row')
    expect(s.changes()).toEqual(closedAt6)
    expect(s.totals).toMatchObject({ passed: 11, blocked: 0, succeeded: 6, running: 0 })
  })

  it('F06 a call nested in a nested call belongs to the probe too', async () => {
    const s = await half()
    const nest = async (depth: number): Promise<number> => {
      if (depth === 0) return 0
      return s.guard.entry('cache', async () => {
        await null
        expect(s.rule()).toMatchObject({ state: 'half-open', probesOut: 1 })
        return 1 + (await nest(depth - 1))
      })
    }
    expect(await nest(5)).toBe(5)
    expect(s.changes()).toEqual(closedAt6)
  })

  it('F06 an inner call is recognised through entrySync, enter, tryEnter and wrap', async () => {
    const s = await half()
    const wrapped = s.guard.wrap('cache', async (n: number) => n + 1)
    await s.guard.entry('cache', async () => {
      await null
      expect(s.guard.entrySync('cache', () => 'sync')).toBe('sync')
      const handle = s.guard.enter('cache')
      await null
      handle.exit()
      const permit = s.guard.tryEnter('cache')
      expect(permit).toBeGreaterThanOrEqual(0)
      s.guard.leave(permit)
      expect(await wrapped(1)).toBe(2)
      expect(s.rule()).toMatchObject({ state: 'half-open', probesOut: 1 })
    })
    expect(s.changes()).toEqual(closedAt6)
    expect(s.totals).toMatchObject({ passed: 10, blocked: 0, succeeded: 5, running: 0 })
  })

  it('F06 entrySync inside entrySync is one probe', async () => {
    const s = await half()
    const got = s.guard.entrySync('cache', () => s.guard.entrySync('cache', () => s.guard.entrySync('cache', () => 7)))
    expect(got).toBe(7)
    expect(s.changes()).toEqual(closedAt6)
  })

  for (const inner of ['entry', 'entrySync', 'enter', 'tryEnter'] as const) {
    it(`F06 a probe made by enter is named as parent of an inner ${inner}`, async () => {
      const s = await half()
      const outer = s.guard.enter('cache')
      expect(s.rule()).toMatchObject({ state: 'half-open', probesOut: 1 })
      const stranger = await rejection(s.guard.entry('cache', () => 'unrelated'))
      expect(isBlocked(stranger)).toBe(true)

      const options = { parent: outer }
      if (inner === 'entry') expect(await s.guard.entry('cache', async () => 1, options)).toBe(1)
      else if (inner === 'entrySync') expect(s.guard.entrySync('cache', () => 1, options)).toBe(1)
      else if (inner === 'enter') {
        const handle = s.guard.enter('cache', options)
        const deeper = s.guard.enter('cache', { parent: handle })
        deeper.exit()
        handle.exit()
      } else {
        const permit = s.guard.tryEnter('cache', options)
        expect(permit).toBeGreaterThanOrEqual(0)
        s.guard.leave(permit)
      }
      expect(s.rule()).toMatchObject({ state: 'half-open', probesOut: 1 })
      outer.exit()
      expect(s.rule()).toMatchObject({ state: 'closed', probesOut: 0 })
      expect(s.changes()).toEqual(closedAt6)
      expect(s.totals).toMatchObject({ blocked: 1, running: 0 })
    })
  }

  it('F06 two unrelated callers in the same moment share one probe', async () => {
    const s = await half()
    const gate = deferred()
    const first = s.guard.entry('cache', async () => {
      await gate.promise
      return s.guard.entry('cache', async () => 'first')
    })
    const second = rejection(s.guard.entry('cache', async () => s.guard.entry('cache', async () => 'second')))
    expect(isBlocked(await second)).toBe(true)
    expect(s.rule()).toMatchObject({ state: 'half-open', probesOut: 1 })
    gate.resolve()
    expect(await first).toBe('first')
    expect(s.changes()).toEqual(closedAt6)
    expect(s.totals).toMatchObject({ passed: 7, blocked: 1 })
  })

  it('F06 a caller that was waiting before the probe began is not part of it, even when the probe wakes it', async () => {
    const s = await half()
    const wake = deferred()
    const waiter = (async () => {
      await wake.promise
      return rejection(s.guard.entry('cache', async () => 'unrelated'))
    })()
    const done = deferred()
    const probe = s.guard.entry('cache', async () => {
      wake.resolve()
      await done.promise
      return 'probe'
    })
    expect(isBlocked(await waiter)).toBe(true)
    done.resolve()
    expect(await probe).toBe('probe')
    expect(s.changes()).toEqual(closedAt6)
  })

  it('F06 a failing inner call gives no verdict: the outer one decides', async () => {
    const s = await half()
    const caught = await s.guard.entry('cache', async () => {
      const error = await rejection(s.guard.entry('cache', () => Promise.reject(new Error('inner'))))
      expect(s.rule()).toMatchObject({ state: 'half-open', probesOut: 1 })
      return error
    })
    expect(caught).toEqual(new Error('inner'))
    expect(s.changes()).toEqual(closedAt6)
    expect(s.rule()).toMatchObject({ total: 0, bad: 0 })
  })

  it('F06 a good inner call gives no verdict either: the failing outer one re-opens', async () => {
    const s = await half()
    await rejection(
      s.guard.entry('cache', async () => {
        await s.guard.entry('cache', async () => 'fine')
        expect(s.rule()).toMatchObject({ state: 'half-open', probesOut: 1 })
        throw new Error('outer')
      }),
    )
    expect(s.rule()).toMatchObject({ state: 'open', openedAt: s.epoch + 6000, probesOut: 0 })
    expect(s.changes().at(-1)).toBe('6000 half-open > open: probe-failed')
  })

  it('F06 an inner call that outlives its probe changes nothing when it ends', async () => {
    const s = await half()
    const late = deferred<string>()
    let inner: Promise<unknown> = Promise.resolve()
    await s.guard.entry('cache', async () => {
      inner = rejection(s.guard.entry('cache', () => late.promise))
    })
    expect(s.rule().state).toBe('closed')
    s.at(7000)
    late.reject(new Error('late'))
    expect(await inner).toEqual(new Error('late'))
    expect(s.rule()).toMatchObject({ state: 'closed', total: 0, bad: 0 })
    expect(s.totals.running).toBe(0)
  })

  it('F06 a chain left behind by a probe that has ended is an ordinary caller', async () => {
    const s = await half()
    const go = deferred()
    let leftBehind: Promise<unknown> = Promise.resolve()
    await rejection(
      s.guard.entry('cache', async () => {
        leftBehind = go.promise.then(() => rejection(s.guard.entry('cache', async () => 'too late')))
        throw new Error('outer')
      }),
    )
    expect(s.rule().state).toBe('open')
    go.resolve()
    expect(await leftBehind).toMatchObject({ code: 'ERR_BLOCKED_DEGRADE', retryAfterMs: 5000 })

    s.at(12_000)
    expect(await s.run(ENTRY)).toBe('admitted')
    expect(s.rule().state).toBe('closed')
  })

  it('F06 other breakers of the resource and its totals count the inner call as an ordinary one', async () => {
    const s = await half([{ id: 'watch', strategy: 'error-count', threshold: 100 }])
    expect(s.rule('watch')).toMatchObject({ total: 5, bad: 5 })
    await s.guard.entry('cache', async () => {
      await rejection(s.guard.entry('cache', () => Promise.reject(new Error('inner'))))
      expect(s.rule('watch')).toMatchObject({ total: 6, bad: 6 })
    })
    expect(s.rule('watch')).toMatchObject({ state: 'closed', total: 7, bad: 6 })
    expect(s.rule('it')).toMatchObject({ state: 'closed', total: 0, bad: 0 })
    expect(s.totals).toMatchObject({ passed: 7, succeeded: 1, failed: 6, running: 0 })
  })

  it('F06 a call of another resource inside the probe is guarded by its own rules', async () => {
    const s = await half()
    s.guard.setRulesFor('db', { degrade: [{ strategy: 'error-count', threshold: 1, cooldownMs: 5000 }] })
    await rejection(s.guard.entry('db', () => Promise.reject(new Error('down'))))
    const inner = await s.guard.entry('cache', () => rejection(s.guard.entry('db', async () => 'row')))
    expect(isBlocked(inner)).toBe(true)
    expect(s.rule().state).toBe('closed')
    expect(s.guard.stats('db').rules[0]?.state).toBe('open')
  })
})

describe('failures of the same moment', () => {
  const rules: Record<string, RuleFields> = {
    'error-count': { strategy: 'error-count', threshold: 5 },
    'error-ratio': { strategy: 'error-ratio', threshold: 0.5, minRequestAmount: 5 },
    'consecutive-errors': { strategy: 'consecutive-errors', threshold: 5 },
  }
  for (const [strategy, fields] of Object.entries(rules)) {
    for (const { way, epoch, label } of variants(HELD)) {
      it(`F07 six calls that fail together open once, and the breaker recovers, by ${strategy} (${label})`, async () => {
        const s = stage([{ ...fields, id: 'it', cooldownMs: 5000 }], epoch)
        const calls = startMany(s, way, 6)
        expect(calls.map((call) => call.admitted)).toEqual([true, true, true, true, true, true])
        s.at(1000)
        await endAll(calls, 'failure')
        expect(s.changes()).toEqual(['1000 closed > open: threshold'])
        expect(s.states[0]).toMatchObject({ threshold: fields.threshold, total: 5 })
        expect(s.rule()).toMatchObject({ state: 'open', openedAt: epoch + 1000, retryAfterMs: 5000 })
        expect(await s.run(way)).toEqual(refusedBy('it', 5000))

        s.at(7000)
        const probe = way.start(s)
        expect(probe.admitted).toBe(true)
        expect(s.rule()).toMatchObject({ state: 'half-open', probesOut: 1 })
        await probe.end('success')
        expect(s.changes()).toEqual([
          '1000 closed > open: threshold',
          '7000 open > half-open: cooldown-elapsed',
          '7000 half-open > closed: probe-succeeded',
        ])
      })
    }
  }

  it('F07 CircuitBreaker recovers from six failures of the same moment', async () => {
    const clock = new ManualClock(0)
    const breaker = new CircuitBreaker({ failureThreshold: 5, cooldownMs: 5000, clock })
    const work = deferred<string>()
    const calls = Array.from({ length: 6 }, () => rejection(breaker.run(() => work.promise)))
    clock.set(1000)
    const error = new Error('broken')
    work.reject(error)
    expect(await Promise.all(calls)).toEqual([error, error, error, error, error, error])
    expect(breaker.state).toBe('open')
    clock.set(5999)
    expect(isBlocked(await rejection(breaker.run(async () => 'early')))).toBe(true)
    clock.set(7000)
    expect(await breaker.run(async () => breaker.state)).toBe('half-open')
    expect(breaker.state).toBe('closed')
  })
})

// The probe of a recovery may enter one way and the traffic another.
describe('ways mixed', () => {
  const pairs: readonly (readonly [HeldWay, HeldWay])[] = [
    [ENTRY, TRY_ENTER],
    [ENTER, ENTRY],
    [TRY_ENTER, ENTER],
  ]
  for (const [probing, calling] of pairs) {
    it(`F04 a hung probe by ${probing.name} is taken over by ${calling.name} and entrySync`, async () => {
      const s = stage([{ ...OPEN_5_S, successThreshold: 2 }])
      await s.trip(calling)
      s.at(6000)
      probing.start(s)
      expect(await s.run(ENTRY_SYNC)).toMatchObject({ code: 'ERR_BLOCKED_DEGRADE', retryAfterMs: 5000 })
      s.at(12_000)
      expect(await s.run(calling)).toBe('admitted')
      expect(await s.run(ENTRY_SYNC)).toBe('admitted')
      expect(s.rule().state).toBe('closed')
    })
  }
})
