// Half-open: several probes, verdicts, probes that hang, and calls nested in them.
import { describe, expect, it } from 'vitest'
import { Flag } from '../../rules/index.js'
import { Rig } from './support.js'

const one = { strategy: 'error-count', threshold: 1, cooldownMs: 1000 } as const
const slowOne = {
  strategy: 'slow-call-ratio',
  threshold: 1,
  maxAllowedRtMs: 800,
  minRequestAmount: 1,
  cooldownMs: 1000,
} as const

/** Open since 0, standing at the end of the cooldown. */
function atEndOfCooldown(fields: ConstructorParameters<typeof Rig>[0] = one): Rig {
  const rig = new Rig(fields)
  if (fields.strategy === 'slow-call-ratio') {
    rig.now = -801
    rig.call('success', 801)
  } else rig.call('failure')
  expect(rig.seen).toMatchObject({ openedAt: 0 })
  rig.now = 1000
  return rig
}

describe('several probes', () => {
  it('are lent up to probeCount at once, and as many successes close', () => {
    const rig = atEndOfCooldown({ ...one, probeCount: 3 })
    const probes = [rig.begin(), rig.begin(), rig.begin()]
    expect(probes.map(({ flags }) => flags)).toEqual([Flag.PROBE, Flag.PROBE, Flag.PROBE])
    expect(rig.enter()).toBeUndefined()
    expect([rig.seen.probesOut, rig.host.probesOut]).toEqual([3, 3])
    for (const [i, probe] of probes.reverse().entries()) {
      expect(rig.state).toBe('half-open')
      rig.end(probe)
      expect(rig.host.probesOut).toBe(2 - i)
    }
    expect(rig.host.changes.slice(1)).toEqual([
      '1000 open > half-open: cooldown-elapsed',
      '1000 half-open > closed: probe-succeeded',
    ])
    expect(rig.host.measured.at(-1)).toEqual([undefined, 3])
  })

  it('are lent again until successThreshold is reached', () => {
    const rig = atEndOfCooldown({ ...one, probeCount: 2, successThreshold: 5 })
    for (let i = 0; i < 4; i++) expect(rig.call('success')).toBe(true)
    expect([rig.state, rig.seen.probesOut]).toEqual(['half-open', 0])
    expect(rig.call('success')).toBe(true)
    expect(rig.state).toBe('closed')
  })

  it('re-open by the first bad one, whatever was earned, and the others decide nothing', () => {
    const rig = atEndOfCooldown({ ...one, probeCount: 3 })
    const [a, b, c] = [rig.begin(), rig.begin(), rig.begin()]
    rig.end(a)
    rig.end(b, 'failure')
    expect([rig.state, rig.host.probesOut]).toEqual(['open', 0])
    expect(rig.host.measured.at(-1)).toEqual([1, 1])
    rig.end(c)
    expect(rig.seen).toMatchObject({ openedAt: 1000, retryAfterMs: 1000 })
    rig.now = 2000
    rig.call('success')
    rig.call('success')
    expect(rig.state).toBe('half-open')
    rig.call('success')
    expect(rig.state).toBe('closed')
  })

  it('given back as ignored are lent to others at once', () => {
    const rig = atEndOfCooldown({ ...one, probeCount: 2 })
    const probe = rig.begin()
    rig.begin()
    rig.end(probe, 'ignored')
    expect([rig.state, rig.seen.probesOut]).toEqual(['half-open', 1])
    expect(rig.enter()).toBeDefined()
    expect(rig.enter()).toBeUndefined()
  })

  it('that end twice are counted once', () => {
    const rig = atEndOfCooldown({ ...one, probeCount: 2 })
    const probe = rig.begin()
    rig.end(probe)
    rig.end(probe)
    rig.end(probe, 'failure')
    expect([rig.state, rig.host.probesOut]).toEqual(['half-open', 0])
  })
})

describe('probes that hang', () => {
  it('double their time with each takeover, up to the longest time there is', () => {
    const rig = atEndOfCooldown({ ...one, probeTimeoutMs: 2 ** 28 })
    const waits: (number | undefined)[] = []
    for (let i = 0; i < 4; i++) {
      rig.begin()
      const wait = rig.seen.retryAfterMs as number
      waits.push(wait)
      rig.now += wait - 0.25
      expect(rig.enter()).toBeUndefined()
      rig.now += 0.25
    }
    expect(waits).toEqual([2 ** 28, 2 ** 29, 2 ** 30, 2 ** 30])
  })

  it('keep the doubled time when they re-open and start over when closed', () => {
    const rig = atEndOfCooldown({ ...one, probeTimeoutMs: 100 })
    rig.begin()
    rig.now += 100
    const second = rig.begin()
    expect(rig.seen.retryAfterMs).toBe(200)
    rig.end(second, 'failure')
    rig.now += 1000
    const third = rig.begin()
    expect(rig.seen.retryAfterMs).toBe(200)
    rig.end(third)
    rig.call('failure')
    rig.now += 1000
    rig.begin()
    expect(rig.seen.retryAfterMs).toBe(100)
  })

  it('are void, all of them, and keep what was earned before', () => {
    const rig = atEndOfCooldown({ ...one, probeCount: 3, probeTimeoutMs: 100 })
    rig.call('success')
    const [a, b] = [rig.begin(), rig.begin()]
    rig.now = 1050
    const c = rig.begin()
    rig.now = 1100
    rig.breaker.advance({ now: rig.now })
    expect([rig.state, rig.seen.probesOut, rig.host.probesOut]).toEqual(['half-open', 0, 0])
    for (const probe of [a, b, c]) rig.end(probe, 'failure')
    expect(rig.state).toBe('half-open')
    rig.call('success')
    rig.call('success')
    expect(rig.state).toBe('closed')
  })

  it('are waited for without end if there is no timeout, and nobody knows how long', () => {
    const rig = atEndOfCooldown({ ...one, probeTimeoutMs: null })
    const probe = rig.begin()
    rig.now = 2 ** 40
    expect(rig.enter()).toBeUndefined()
    expect(rig.seen.retryAfterMs).toBeUndefined()
    rig.end(probe)
    expect(rig.state).toBe('closed')
  })

  it('of a slow-call rule re-open once they are past the limit', () => {
    const rig = atEndOfCooldown(slowOne)
    const probe = rig.begin()
    rig.now = 1800
    expect(rig.enter()).toBeUndefined()
    expect(rig.state).toBe('half-open')
    rig.now = 1801
    expect(rig.enter()).toBeUndefined()
    expect(rig.host.changes.at(-1)).toBe('1801 half-open > open: probe-slow')
    rig.end(probe)
    expect(rig.seen).toMatchObject({ openedAt: 1801, probesOut: 0 })
  })

  it('of a slow-call rule that does not watch running calls are taken over', () => {
    const rig = atEndOfCooldown({ ...slowOne, countRunning: false, probeTimeoutMs: 900 })
    const probe = rig.begin()
    rig.now = 1899
    expect(rig.enter()).toBeUndefined()
    rig.now = 1900
    expect(rig.enter()).toBeDefined()
    rig.end(probe)
    expect(rig.state).toBe('half-open')
  })

  it('a slow-call probe is judged by time alone', () => {
    const rig = atEndOfCooldown(slowOne)
    expect(rig.call('failure', 800)).toBe(true)
    expect(rig.state).toBe('closed')
  })
})

describe('a call nested in a probe', () => {
  it('passes, takes no slot and gives no verdict', () => {
    const rig = atEndOfCooldown()
    const probe = rig.begin()
    const inner = rig.begin([probe.seq])
    expect([inner.flags, rig.host.probesOut]).toEqual([0, 1])
    rig.end(inner, 'failure')
    expect(rig.state).toBe('half-open')
    rig.end(probe)
    expect(rig.state).toBe('closed')
  })

  it('is an ordinary one once the probe is void', () => {
    const rig = atEndOfCooldown({ ...one, probeTimeoutMs: 100 })
    const probe = rig.begin()
    rig.now = 1100
    const second = rig.begin()
    expect(second.flags).toBe(Flag.PROBE)
    expect(rig.enter([probe.seq])).toBeUndefined()
    expect(rig.breaker.holdsProbe([probe.seq, second.seq])).toBe(true)
  })

  it('gives no verdict where late results are judged at arrival either', () => {
    const rig = atEndOfCooldown({ ...one, lateResults: 'at-arrival' })
    const probe = rig.begin()
    const [good, bad] = [rig.begin([probe.seq]), rig.begin([probe.seq])]
    rig.end(good)
    expect(rig.state).toBe('half-open')
    rig.end(bad, 'failure')
    expect(rig.state).toBe('half-open')
    rig.end(probe)
    expect(rig.state).toBe('closed')
  })
})

it('an open breaker becomes half-open by a call and not by time', () => {
  const rig = atEndOfCooldown()
  rig.now = 1e9
  rig.breaker.advance({ now: rig.now })
  expect(rig.seen).toMatchObject({ state: 1, openedAt: 0, retryAfterMs: 0 })
  expect(rig.breaker.check({ now: rig.now }, 1)).toBe(0)
  expect(rig.breaker.check({ now: rig.now }, 1)).toBe(0)
  expect(rig.state).toBe('open')
})
