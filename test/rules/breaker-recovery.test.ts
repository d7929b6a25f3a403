// After closing: traffic comes back by steps where a rule asks for it.
import { describe, expect, it } from 'vitest'
import { FakeHost, type Fields, Rig } from './support.js'

const rule = {
  strategy: 'error-ratio',
  threshold: 0.5,
  minRequestAmount: 2,
  cooldownMs: 1000,
  recoveryMs: 100,
} as const

/** Closed at 1000 by a good probe. The next call is the first of ten. */
function recovering(fields: Partial<Fields> = {}, host = new FakeHost()): Rig {
  const rig = new Rig({ ...rule, ...fields }, host)
  rig.call('failure')
  rig.call('failure')
  expect(rig.state).toBe('open')
  rig.now = 1000
  expect(rig.call('success')).toBe(true)
  expect(rig.state).toBe('closed')
  host.offered = 0
  host.changes.length = 0
  return rig
}

/** Offers `n` calls now: 1 for each that passed and 0 for each that was refused. */
const offer = (rig: Rig, n: number): string => Array.from({ length: n }, () => (rig.call() ? 1 : 0)).join('')

it('lets a tenth of the calls pass at first, and a tenth more at each step', () => {
  const rig = recovering()
  const seen: [number, string][] = []
  for (let step = 0; step <= 10; step++) {
    rig.now = 1000 + 10 * step
    seen.push([rig.seen.admittedShare, offer(rig, 10)])
  }
  expect(seen).toEqual([
    [0.1, '0000000001'],
    [0.2, '0000100001'],
    [0.3, '0000100101'],
    [0.4, '0010100101'],
    [0.5, '1010100101'],
    [0.6, '1010110101'],
    [0.7, '1010110111'],
    [0.8, '1011110111'],
    [0.9, '1011111111'],
    [1, '1111111111'],
    [1, '1111111111'],
  ])
  expect(rig.host.changes).toEqual([])
})

it('is closed to those who read it, and says what share it lets in and when that grows', () => {
  const rig = recovering()
  rig.now = 1034
  expect(rig.seen).toMatchObject({ state: 0, admittedShare: 0.4, retryAfterMs: 6, openedAt: undefined, probesOut: 0 })
  rig.now = 1095
  expect(rig.seen).toMatchObject({ admittedShare: 1, retryAfterMs: undefined })
  rig.now = 5000
  expect(rig.seen).toMatchObject({ admittedShare: 1, retryAfterMs: undefined })
})

it('is off where nobody asks for it', () => {
  const rig = recovering({ recoveryMs: 0 })
  expect([rig.seen.admittedShare, offer(rig, 10)]).toEqual([1, '1111111111'])
})

it('asking changes nothing, however often', () => {
  const rig = recovering()
  rig.host.offered = 8
  const moment = { now: 1000 }
  for (let i = 0; i < 5; i++) expect(rig.breaker.check(moment, 1)).toBeGreaterThan(0)
  rig.host.offered = 9
  for (let i = 0; i < 5; i++) expect(rig.breaker.check(moment, 1)).toBe(0)
})

it('is over once its time is, and does not come back with a clock that goes back', () => {
  const rig = recovering()
  rig.now = 1100
  expect(offer(rig, 10)).toBe('1111111111')
  rig.now = 1010
  expect([rig.seen.admittedShare, offer(rig, 10)]).toEqual([1, '1111111111'])
})

it('lasts no longer than its time from where the clock stepped back to', () => {
  const rig = recovering()
  rig.now = 1055
  rig.call()
  rig.now = 0
  expect(rig.seen.admittedShare).toBe(0.1)
  offer(rig, 9)
  rig.now = 45
  expect(rig.seen.admittedShare).toBe(0.5)
  rig.now = 100
  expect(offer(rig, 10)).toBe('1111111111')
})

it('judges calls as ever, and opens without growth if they are bad', () => {
  const rig = recovering({ cooldownMultiplier: 3 })
  rig.host.offered = 9
  expect(rig.call('failure')).toBe(true)
  rig.host.offered = 9
  rig.now = 1005
  expect(rig.call('failure')).toBe(true)
  expect(rig.host.changes).toEqual(['1005 closed > open: threshold'])
  expect(rig.seen).toMatchObject({ openedAt: 1005, retryAfterMs: 1000, admittedShare: 1 })
  rig.now = 2005
  rig.call('success')
  expect([rig.state, rig.seen.admittedShare]).toEqual(['closed', 0.1])
})

describe('slow calls', () => {
  const slow = { ...rule, strategy: 'slow-call-ratio', threshold: 1, maxAllowedRtMs: 16, minRequestAmount: 1 } as const
  function back(): Rig {
    const rig = new Rig(slow)
    rig.call('success', 17)
    rig.now = 2000
    rig.call('success')
    expect(rig.seen.admittedShare).toBe(0.1)
    rig.host.offered = 9
    return rig
  }

  it('that run past their limit are noticed at an entry, even one that is refused', () => {
    const rig = back()
    rig.begin()
    rig.now = 2018
    expect(rig.enter()).toBeUndefined()
    expect([rig.state, rig.seen.openedAt]).toEqual(['open', 2018])
  })

  it('are counted once when they end after they were noticed', () => {
    const rig = back()
    rig.breaker.update({ ...rig.breaker.rule, minRequestAmount: 5 }, rig.now)
    const call = rig.begin()
    rig.now = 2018
    rig.enter()
    expect(rig.counts).toEqual([1, 1])
    rig.end(call)
    expect(rig.counts).toEqual([1, 1])
  })

  it('go on to be watched when the recovery is over', () => {
    const rig = back()
    rig.breaker.update({ ...rig.breaker.rule, recoveryMs: 10 }, rig.now)
    rig.begin()
    rig.now = 2018
    expect(rig.enter()).toBeUndefined()
    expect(rig.state).toBe('open')
  })

  it('may begin behind the watch after a step back of the clock', () => {
    const rig = back()
    rig.begin()
    rig.now = 500
    rig.host.offered = 9
    rig.begin()
    rig.now = 518
    expect(rig.enter()).toBeUndefined()
    expect(rig.state).toBe('open')
  })
})

describe('under the operator', () => {
  it('forced closed lets everything pass and judges it, and goes on when given back', () => {
    const rig = recovering()
    rig.breaker.force(false, true, rig.now)
    expect([rig.seen.admittedShare, rig.seen.retryAfterMs, offer(rig, 10)]).toEqual([1, undefined, '1111111111'])
    expect(rig.counts).toEqual([10, 0])
    rig.now = 1020
    rig.breaker.force(false, false, rig.now)
    expect([rig.seen.admittedShare, offer(rig, 10)]).toEqual([0.3, '0000100101'])
  })

  it('forced open and given back goes on by the clock', () => {
    const rig = recovering()
    rig.breaker.force(true, false, rig.now)
    expect(rig.enter()).toBeUndefined()
    rig.now = 1100
    rig.breaker.force(false, false, rig.now)
    rig.host.offered = 0
    expect(offer(rig, 10)).toBe('1111111111')
  })

  it('a reset ends it', () => {
    const rig = recovering()
    rig.breaker.reset(rig.now)
    expect([rig.seen.admittedShare, offer(rig, 10)]).toEqual([1, '1111111111'])
  })
})

describe('a reload meanwhile', () => {
  const change = (rig: Rig, fields: Partial<Fields>) =>
    rig.breaker.update({ ...rig.breaker.rule, ...fields } as never, rig.now)

  it('counts a longer or shorter time from when it closed', () => {
    const rig = recovering()
    rig.now = 1050
    change(rig, { recoveryMs: 500 })
    expect(rig.seen).toMatchObject({ admittedShare: 0.2, retryAfterMs: 50 })
    change(rig, { recoveryMs: 60 })
    expect(rig.seen.admittedShare).toBe(0.9)
    change(rig, { recoveryMs: 50 })
    expect([rig.seen.admittedShare, offer(rig, 10)]).toEqual([1, '1111111111'])
  })

  it('with none ends it, and one that comes later does not begin it again', () => {
    const rig = recovering()
    change(rig, { recoveryMs: 0 })
    expect([rig.seen.admittedShare, offer(rig, 10)]).toEqual([1, '1111111111'])
    change(rig, { recoveryMs: 1e6 })
    expect([rig.seen.admittedShare, offer(rig, 10)]).toEqual([1, '1111111111'])
  })

  it('does not lengthen one that was over, though no call had come', () => {
    const rig = recovering()
    rig.now = 1100
    change(rig, { recoveryMs: 1e6 })
    expect([rig.seen.admittedShare, offer(rig, 10)]).toEqual([1, '1111111111'])
  })

  it('to a dry run refuses nothing from then on, and back refuses again', () => {
    const rig = recovering()
    change(rig, { dryRun: true })
    expect(offer(rig, 10)).toBe('1111111111')
    change(rig, { dryRun: false })
    expect(offer(rig, 10)).toBe('0000000001')
  })
})

it('in a dry run passes all, counts those it would refuse and learns nothing from them', () => {
  const rig = recovering({ dryRun: true })
  rig.now = 1010
  const calls = Array.from({ length: 10 }, () => rig.begin())
  expect(calls.map(({ flags }) => flags)).toEqual([2, 2, 2, 2, 0, 2, 2, 2, 2, 0])
  for (const call of calls) rig.end(call, call.flags === 0 ? 'success' : 'failure')
  expect([rig.seen.wouldBlock, rig.counts, rig.seen.admittedShare]).toEqual([8, [2, 0], 0.2])
  expect(rig.breaker.saved(rig.now)).toMatchObject({ closedAt: 1000 })
})

it('a dry run does not judge what it passed over, even after the recovery is over', () => {
  const rig = recovering({ dryRun: true })
  const call = rig.begin()
  expect(call.flags).toBe(2)
  rig.now = 1200
  rig.call('success')
  rig.end(call, 'failure')
  expect([rig.state, rig.counts]).toEqual(['closed', [1, 0]])
})

it('where several rules recover at once the least share decides', () => {
  const host = new FakeHost()
  const slow = recovering({ recoveryMs: 1000 })
  const fast = recovering({ recoveryMs: 800 })
  for (let ms = 0; ms < 1100; ms += 20) {
    const moment = { now: 1000 + ms }
    const shares = [slow, fast].map(({ breaker }) => breaker.snapshot(moment.now).admittedShare)
    let passed = 0
    for (host.offered = 0; host.offered < 10; host.offered++) {
      slow.host.offered = fast.host.offered = host.offered
      if (slow.breaker.check(moment, 1) === 0 && fast.breaker.check(moment, 1) === 0) passed++
    }
    expect(passed / 10, `at ${ms}`).toBe(Math.min(...shares))
  }
})

describe('at rest', () => {
  it('is a breaker that is closed for all, now', () => {
    const rig = recovering()
    expect(rig.breaker.isAtRest(1099)).toBe(true)
    expect(rig.breaker.isAtRest(1089)).toBe(false)
    rig.now = 1100
    rig.call('failure')
    rig.call('failure')
    expect(rig.breaker.isAtRest(1e9)).toBe(false)
    rig.now = 3000
    const probe = rig.begin()
    expect(rig.breaker.isAtRest(1e9)).toBe(false)
    rig.end(probe)
    expect(rig.breaker.isAtRest(1e9)).toBe(true)
  })
})
