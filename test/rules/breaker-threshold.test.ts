// Closed: what is counted, and which number opens.
import { describe, expect, it } from 'vitest'
import { Flag } from '../../rules/index.js'
import { type OutcomeName, Rig } from './support.js'

const play = (rig: Rig, outcomes: string): string => {
  const names: Record<string, OutcomeName> = { s: 'success', f: 'failure', i: 'ignored' }
  return [...outcomes].map((letter) => (rig.call(names[letter]) ? rig.state[0] : '-')).join('')
}

describe('reaching the threshold', () => {
  it.each([
    ['error-ratio', 0.3, 10, 'sssssssfff', 'ccccccccco'],
    ['error-ratio', 1, 3, 'fff', 'cco'],
    ['error-ratio', 0.5, 4, 'ffss', 'ccco'],
    ['error-count', 2, 1, 'fsf', 'cco'],
    ['error-count', 2.5, 1, 'fff', 'cco'],
    ['error-count', 1, 3, 'fss', 'cco'],
  ] as const)('of %s %d with a minimum of %d: %s', (strategy, threshold, minRequestAmount, outcomes, states) => {
    expect(play(new Rig({ strategy, threshold, minRequestAmount }), outcomes)).toBe(states)
  })

  it('of a run counts only failures without a success between', () => {
    const rig = new Rig({ strategy: 'consecutive-errors', threshold: 3 })
    expect(play(rig, 'ffsffif')).toBe('cccccco')
    expect(rig.host.measured).toEqual([[3, 3]])
  })
})

describe('comparison above', () => {
  it.each([
    ['error-ratio', 0.3, 10, 'sssssssfff', 'cccccccccc'],
    ['error-ratio', 0.3, 10, 'ssssssffff', 'ccccccccco'],
    ['error-ratio', 0, 1, 'ssf', 'cco'],
    ['error-ratio', 1, 1, 'ffff', 'cccc'],
    ['error-count', 2, 1, 'fff', 'cco'],
    ['error-count', 0, 1, 'sf', 'co'],
  ] as const)(
    'asks %s for more than %d (minimum %d): %s',
    (strategy, threshold, minRequestAmount, outcomes, states) => {
      expect(play(new Rig({ strategy, threshold, minRequestAmount, comparison: 'above' }), outcomes)).toBe(states)
    },
  )

  it.each([
    [0, 'sf', 'co'],
    [2, 'fff', 'cco'],
  ] as const)('asks for a run longer than %d', (threshold, outcomes, states) => {
    expect(play(new Rig({ strategy: 'consecutive-errors', threshold, comparison: 'above' }), outcomes)).toBe(states)
  })

  it('a slow ratio of 1 still trips when all are slow, since nothing is above it', () => {
    const rig = new Rig({
      strategy: 'slow-call-ratio',
      threshold: 1,
      maxAllowedRtMs: 10,
      minRequestAmount: 2,
      comparison: 'above',
    })
    rig.call('success', 11)
    expect(rig.state).toBe('closed')
    rig.call('success', 11)
    expect(rig.state).toBe('open')
  })

  it('a slow ratio below 1 must be passed', () => {
    const rig = new Rig({
      strategy: 'slow-call-ratio',
      threshold: 0.5,
      maxAllowedRtMs: 10,
      minRequestAmount: 2,
      comparison: 'above',
    })
    rig.call('success', 10)
    rig.call('success', 11)
    expect([rig.state, rig.counts]).toEqual(['closed', [2, 1]])
    rig.call('failure', 11)
    expect(rig.state).toBe('open')
  })
})

describe('a slow-call rule', () => {
  const slow = { strategy: 'slow-call-ratio', threshold: 1, maxAllowedRtMs: 100, minRequestAmount: 100 } as const

  it('judges by time alone, whatever the outcome', () => {
    const rig = new Rig(slow)
    rig.call('failure', 100)
    expect(rig.counts).toEqual([1, 0])
    rig.call('failure', 101)
    rig.call('success', 101)
    expect(rig.counts).toEqual([3, 2])
  })

  it('says which calls it counted as slow, ignored ones only if they were booked while they ran', () => {
    const rig = new Rig(slow)
    const calls = [rig.begin(), rig.begin(), rig.begin()] as const
    rig.now = 50
    const young = rig.begin()
    rig.now = 110
    expect(rig.end(calls[0])).toBe(Flag.SLOW)
    expect(rig.end(calls[1], 'ignored')).toBe(0)
    rig.now = 112
    rig.breaker.advance({ now: 112 })
    expect(rig.counts).toEqual([2, 2])
    expect(rig.end(calls[2], 'ignored')).toBe(Flag.SLOW)
    expect(rig.end(young)).toBe(0)
    expect(rig.counts).toEqual([3, 2])
  })

  it('books a running call once, at the same moment however often it looks', () => {
    const rig = new Rig(slow)
    const call = rig.begin()
    rig.now = 111
    rig.breaker.advance({ now: 111 })
    expect(rig.counts).toEqual([0, 0])
    for (let i = 0; i < 3; i++) rig.breaker.advance({ now: 112 })
    rig.now = 112
    expect(rig.counts).toEqual([1, 1])
    rig.now = 5000
    rig.end(call)
    expect(rig.counts).toEqual([1, 1])
    rig.now = 10_112
    expect(rig.counts).toEqual([0, 0])
  })

  it('may open by running calls alone, at the moment they are noticed', () => {
    const rig = new Rig({ ...slow, minRequestAmount: 2 })
    rig.begin()
    rig.begin()
    rig.now = 500
    expect(rig.enter()).toBeUndefined()
    expect(rig.host.changes).toEqual(['500 closed > open: threshold'])
    expect(rig.host.measured).toEqual([[1, 2]])
    expect(rig.seen.openedAt).toBe(500)
  })

  it('does not watch running calls if it is told not to', () => {
    const rig = new Rig({ ...slow, countRunning: false })
    const call = rig.begin()
    rig.now = 5000
    rig.breaker.advance({ now: 5000 })
    expect(rig.counts).toEqual([0, 0])
    expect(rig.end(call)).toBe(Flag.SLOW)
    expect(rig.counts).toEqual([1, 1])
  })

  it('goes on watching after the clock was believed to step back, and judges the calls of before when they end', () => {
    const rig = new Rig(slow, undefined, 10_000)
    const before = rig.begin()
    rig.now = 2000
    const after = rig.begin()
    rig.now = 2112
    rig.breaker.advance({ now: 2112 })
    expect(rig.counts).toEqual([1, 1])
    expect(rig.end(after)).toBe(Flag.SLOW)
    expect(rig.end(before)).toBe(0)
    expect(rig.counts).toEqual([2, 1])
  })
})

describe('changed numbers', () => {
  it('apply from the next event and keep what was counted', () => {
    const rig = new Rig({ strategy: 'error-count', threshold: 5 })
    for (let i = 0; i < 3; i++) rig.call('failure')
    rig.breaker.update({ ...rig.breaker.rule, threshold: 3 }, rig.now)
    expect([rig.state, rig.counts]).toEqual(['closed', [3, 3]])
    rig.call('success')
    expect([rig.state, rig.host.measured]).toEqual(['open', [[3, 4]]])
  })

  it('turn the watch on running calls on for those that begin later', () => {
    const slow = { strategy: 'slow-call-ratio', threshold: 1, maxAllowedRtMs: 100, minRequestAmount: 100 } as const
    const rig = new Rig({ ...slow, countRunning: false })
    const before = rig.begin()
    rig.breaker.update({ ...rig.breaker.rule, countRunning: true }, rig.now)
    const after = rig.begin()
    rig.now = 200
    rig.breaker.advance({ now: 200 })
    expect(rig.counts).toEqual([1, 1])
    rig.end(before)
    rig.end(after)
    expect(rig.counts).toEqual([2, 2])
  })

  it('turn the watch on running calls off without booking a noticed call again', () => {
    const slow = { strategy: 'slow-call-ratio', threshold: 1, maxAllowedRtMs: 100, minRequestAmount: 100 } as const
    const rig = new Rig(slow)
    const call = rig.begin()
    rig.now = 200
    rig.breaker.advance({ now: 200 })
    rig.breaker.update({ ...rig.breaker.rule, countRunning: false }, rig.now)
    rig.end(call)
    expect(rig.counts).toEqual([1, 1])
  })
})
