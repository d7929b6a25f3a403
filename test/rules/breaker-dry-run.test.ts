// A dry run goes through all states, refuses nothing, and is fed nothing by the calls it would have refused.
import { describe, expect, it } from 'vitest'
import { Flag } from '../../rules/index.js'
import { Rig } from './support.js'

describe.each(['ignore', 'at-arrival'] as const)('lateResults %s', (lateResults) => {
  const dry = { strategy: 'error-count', threshold: 2, cooldownMs: 1000, dryRun: true, lateResults } as const

  function opened(): Rig {
    const rig = new Rig(dry)
    rig.call('failure')
    rig.call('failure')
    expect(rig.state).toBe('open')
    return rig
  }

  it('lets pass while open, and counts', () => {
    const rig = opened()
    const calls = [rig.begin(), rig.begin(), rig.begin()] as const
    expect(calls.map(({ flags }) => flags)).toEqual([Flag.WOULD_BLOCK, Flag.WOULD_BLOCK, Flag.WOULD_BLOCK])
    expect(rig.seen.wouldBlock).toBe(3)
    rig.end(calls[0], 'failure')
    rig.end(calls[1], 'success')
    rig.end(calls[2], 'ignored')
    expect([rig.state, rig.counts, rig.host.changes.length]).toEqual(['open', [2, 2], 1])
  })

  it('lends a probe and counts the others as would-be refusals that decide nothing', () => {
    const rig = opened()
    rig.now = 1000
    const probe = rig.begin()
    const others = [rig.begin(), rig.begin()] as const
    expect([probe.flags, others[0].flags]).toEqual([Flag.PROBE, Flag.WOULD_BLOCK])
    rig.end(others[0], 'success')
    expect(rig.state).toBe('half-open')
    rig.end(others[1], 'failure')
    expect(rig.state).toBe('half-open')
    rig.end(probe, 'success')
    expect([rig.state, rig.counts, rig.seen.wouldBlock]).toEqual(['closed', [0, 0], 2])
  })

  it('is fed nothing by a call it would have refused, in whatever state that ends', () => {
    const rig = opened()
    const [inHalfOpen, inClosed] = [rig.begin(), rig.begin()]
    rig.now = 1000
    const probe = rig.begin()
    rig.end(inHalfOpen, 'failure')
    expect(rig.state).toBe('half-open')
    rig.end(probe, 'success')
    rig.end(inClosed, 'failure')
    rig.call('failure')
    expect([rig.state, rig.counts]).toEqual(['closed', [1, 1]])
  })

  it('refuses once it is in earnest, and passes again when not', () => {
    const rig = opened()
    rig.breaker.update({ ...rig.breaker.rule, dryRun: false }, rig.now)
    expect(rig.enter()).toBeUndefined()
    rig.breaker.update({ ...rig.breaker.rule, dryRun: true }, rig.now)
    expect(rig.enter()).toBeDefined()
    expect(rig.seen.wouldBlock).toBe(1)
  })
})

it('a slow dry run is not fed by the time of a call it would have refused', () => {
  const rig = new Rig({
    strategy: 'slow-call-ratio',
    threshold: 1,
    maxAllowedRtMs: 100,
    minRequestAmount: 1,
    cooldownMs: 1000,
    dryRun: true,
    lateResults: 'at-arrival',
  })
  rig.call('success', 101)
  const refused = rig.begin()
  rig.now += 1000
  const probe = rig.begin()
  rig.end(refused)
  expect(rig.state).toBe('half-open')
  rig.end(probe)
  expect([rig.state, rig.counts]).toEqual(['closed', [0, 0]])
})
