// Calls whose caller gave up: neither success nor failure, and no verdict of a probe.
import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import { deferred, ENTRANCES, flush, Scenario } from '../support/scenario.js'

const ratio = {
  strategy: 'error-ratio',
  threshold: 0.5,
  minRequestAmount: 10,
  statIntervalMs: 10_000,
  cooldownMs: 5000,
} as const

/** What the guarded function does about the abort. */
const REACTIONS = ['never settles', 'rejects at once', 'rejects later', 'resolves later'] as const

interface Cancellable {
  cancel(): void
  finish(): Promise<void>
}

/** The ways in which a caller gives up by hand or by signal, other than through `entry`. */
const BY_HAND = {
  'enter and cancel()': (s: Scenario): Cancellable => {
    const handle = s.guard.enter('r')
    return { cancel: () => handle.cancel(), finish: async () => handle.exit() }
  },
  'enter and disposal': (s: Scenario): Cancellable => {
    const handle = s.guard.enter('r')
    return { cancel: () => handle[Symbol.dispose](), finish: async () => handle.exit() }
  },
  'enter with a signal': (s: Scenario): Cancellable => {
    const controller = new AbortController()
    const handle = s.guard.enter('r', { signal: controller.signal })
    return { cancel: () => controller.abort(), finish: async () => handle.exit() }
  },
  "tryEnter and leave('ignored')": (s: Scenario): Cancellable => {
    const permit = s.guard.tryEnter('r')
    return { cancel: () => s.guard.leave(permit, 'ignored'), finish: async () => s.guard.leave(permit) }
  },
  'tryEnter with a signal': (s: Scenario): Cancellable => {
    const controller = new AbortController()
    const permit = s.guard.tryEnter('r', { signal: controller.signal })
    return { cancel: () => controller.abort(), finish: async () => s.guard.leave(permit) }
  },
} as const
const HANDS = Object.keys(BY_HAND) as (keyof typeof BY_HAND)[]

it.each(REACTIONS)('F30 fifteen aborted of twenty calls leave 0 of 5 failed (function %s)', async (reaction) => {
  const s = new Scenario('entry', [ratio])
  const calls = Array.from({ length: 20 }, (_, i) => {
    const controller = new AbortController()
    const work = deferred<string>()
    const promise = s.guard.entry(
      'r',
      ({ signal }) => {
        if (reaction === 'rejects at once')
          signal.addEventListener('abort', () => work.reject(new Error('socket closed')))
        return work.promise
      },
      { signal: controller.signal },
    )
    return { fine: i % 4 === 0, controller, work, promise, reason: { caller: i } }
  })
  expect(s.totals()).toMatchObject({ passed: 20, running: 20 })

  s.clock.set(100)
  let aborted = 0
  for (const { fine, controller, promise, reason } of calls) {
    if (fine) continue
    controller.abort(reason)
    aborted++
    expect(s.totals()).toMatchObject({ ignored: aborted, running: 20 - aborted })
    await expect(promise).rejects.toBe(reason)
  }
  for (const { fine, work, promise } of calls) {
    if (!fine) continue
    work.resolve('value')
    expect(await promise).toBe('value')
  }

  const totals = { passed: 20, succeeded: 5, failed: 0, ignored: 15, running: 0, blocked: 0 }
  expect(s.totals()).toMatchObject(totals)
  expect(s.rule()).toMatchObject({ state: 'closed', total: 5, bad: 0 })

  s.clock.set(200)
  for (const { work } of calls) {
    if (reaction === 'rejects later') work.reject(new Error('too late'))
    if (reaction === 'resolves later') work.resolve('too late')
  }
  await flush()
  expect(s.totals()).toMatchObject(totals)
  expect(s.rule()).toMatchObject({ state: 'closed', total: 5, bad: 0 })
  expect(s.states).toEqual([])
  expect(s.faults).toEqual([])
  for (const { controller } of calls)
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(reaction === 'rejects at once' ? 1 : 0)
})

it.each(HANDS)('F30 fifteen given up of twenty calls leave 0 of 5 failed (%s)', async (hand) => {
  const s = new Scenario('enter', [ratio])
  const calls = Array.from({ length: 20 }, (_, i) => ({ fine: i % 4 === 0, ...BY_HAND[hand](s) }))
  s.clock.set(100)
  for (const { fine, cancel, finish } of calls) {
    if (fine) await finish()
    else cancel()
  }
  const totals = { passed: 20, succeeded: 5, failed: 0, ignored: 15, running: 0 }
  expect(s.totals()).toMatchObject(totals)
  expect(s.rule()).toMatchObject({ state: 'closed', total: 5, bad: 0 })

  for (const { finish } of calls) await finish()
  expect(s.totals()).toMatchObject(totals)
  expect(s.rule()).toMatchObject({ state: 'closed', total: 5, bad: 0 })
})

it('F30 the same twenty calls open the breaker where the fifteen really fail', async () => {
  const s = new Scenario('entry', [ratio])
  for (let i = 0; i < 20; i++) await s.call(i % 4 === 0 ? 'ok' : 'fail')
  expect(s.rule().state).toBe('open')
  expect(s.states).toMatchObject([{ value: 0.7, total: 10 }])
})

it('F30 a signal already aborted at entry rejects at once: no rule is asked, nothing is counted', async () => {
  const s = new Scenario('entry', [ratio])
  const reason = { caller: 'gone' }
  let ran = false
  let seen: unknown
  s.guard
    .entry(
      'r',
      () => {
        ran = true
      },
      { signal: AbortSignal.abort(reason) },
    )
    .catch((error: unknown) => {
      seen = error
    })
  await flush()
  expect(seen).toBe(reason)
  expect(ran).toBe(false)
  expect(s.totals()).toMatchObject({ passed: 0, ignored: 0, blocked: 0, running: 0 })
})

describe.each(ENTRANCES)('half-open, with a healthy call by %s', (healthy) => {
  it('F30 an abort frees the probe of a half-open breaker (entry)', async () => {
    const s = new Scenario('entry', [ratio])
    await s.calls(10, 'fail')
    s.clock.set(6000)
    const controller = new AbortController()
    const work = deferred<string>()
    const probe = s.guard.entry('r', () => work.promise, { signal: controller.signal })
    expect(s.rule()).toMatchObject({ state: 'half-open', probesOut: 1 })
    expect(await s.call('ok', 0, healthy)).toBe('refused')

    s.clock.set(6500)
    const reason = new Error('user navigated away')
    controller.abort(reason)
    expect(s.rule()).toMatchObject({ state: 'half-open', probesOut: 0 })
    await expect(probe).rejects.toBe(reason)

    s.clock.set(7000)
    expect(await s.call('ok', 0, healthy)).toBe('ok')
    expect(s.rule()).toMatchObject({ state: 'closed', total: 0, bad: 0 })

    work.reject(new Error('too late'))
    await flush()
    expect(s.rule()).toMatchObject({ state: 'closed', total: 0, bad: 0 })
    expect(s.moves()).toEqual([
      '0 closed > open: threshold',
      '6000 open > half-open: cooldown-elapsed',
      '7000 half-open > closed: probe-succeeded',
    ])
    expect(s.totals()).toMatchObject({ passed: 12, failed: 10, ignored: 1, succeeded: 1, blocked: 1, running: 0 })
  })

  it.each(HANDS)('F30 giving up frees the probe of a half-open breaker (%s)', async (hand) => {
    const s = new Scenario('enter', [ratio])
    await s.calls(10, 'fail')
    s.clock.set(6000)
    const probe = BY_HAND[hand](s)
    expect(s.rule()).toMatchObject({ state: 'half-open', probesOut: 1 })
    expect(await s.call('ok', 0, healthy)).toBe('refused')
    s.clock.set(6500)
    probe.cancel()
    expect(s.rule()).toMatchObject({ state: 'half-open', probesOut: 0 })
    s.clock.set(7000)
    expect(await s.call('ok', 0, healthy)).toBe('ok')
    expect(s.rule().state).toBe('closed')
    expect(s.totals()).toMatchObject({ ignored: 1, succeeded: 1, running: 0 })
  })
})
