// A breaker that looks back over its last calls and not over a span of time.
import { describe, expect, it } from 'vitest'
import { type OutcomeName, Rig } from './support.js'

const ratio = { strategy: 'error-ratio', threshold: 0.5, statCallCount: 4 } as const
const play = (rig: Rig, outcomes: string): void => {
  const names: Record<string, OutcomeName> = { s: 'success', f: 'failure', i: 'ignored' }
  for (const letter of outcomes) expect(rig.call(names[letter])).toBe(true)
}

it('judges the last calls only, and not before there are as many as the minimum', () => {
  const rig = new Rig(ratio)
  play(rig, 'fff')
  expect([rig.state, rig.counts]).toEqual(['closed', [3, 3]])
  play(rig, 's')
  expect([rig.state, rig.counts]).toEqual(['open', [4, 3]])
  expect(rig.host.measured).toEqual([[0.75, 4]])
})

it('forgets a failure after as many calls, and not with time', () => {
  const rig = new Rig(ratio)
  play(rig, 'fsss')
  rig.now = 1e12
  expect(rig.counts).toEqual([4, 1])
  play(rig, 's')
  expect(rig.counts).toEqual([4, 0])
  play(rig, 'fsssfsssf')
  expect([rig.state, rig.counts]).toEqual(['closed', [4, 1]])
  play(rig, 'f')
  expect([rig.state, rig.counts]).toEqual(['open', [4, 2]])
})

it('counts errors among the last calls', () => {
  const rig = new Rig({ strategy: 'error-count', threshold: 2, statCallCount: 3 })
  play(rig, 'fssfss')
  expect([rig.state, rig.counts]).toEqual(['closed', [3, 1]])
  play(rig, 'sff')
  expect(rig.state).toBe('open')
})

it('enters no ignored and no refused call', () => {
  const rig = new Rig(ratio)
  play(rig, 'ifi')
  expect(rig.counts).toEqual([1, 1])
  play(rig, 'fff')
  expect(rig.enter()).toBeUndefined()
  expect(rig.counts).toEqual([4, 4])
})

describe('slow calls', () => {
  const slow = { strategy: 'slow-call-ratio', threshold: 0.5, maxAllowedRtMs: 80, statCallCount: 4 } as const

  it('that still run take their place when they are noticed, once', () => {
    const rig = new Rig({ ...slow, threshold: 1 })
    const hung = [rig.begin(), rig.begin(), rig.begin()]
    rig.now = 100
    const quick = rig.begin()
    expect(rig.counts).toEqual([3, 3])
    rig.end(quick)
    expect([rig.state, rig.counts]).toEqual(['closed', [4, 3]])
    for (const call of hung) rig.end(call)
    expect(rig.counts).toEqual([4, 3])
    for (let i = 0; i < 3; i++) rig.call('failure', 1)
    expect(rig.counts).toEqual([4, 0])
  })

  it('noticed together, more of them than it looks back over, fill it', () => {
    const rig = new Rig(slow)
    for (let i = 0; i < 9; i++) rig.begin()
    rig.now = 100
    expect(rig.enter()).toBeUndefined()
    expect([rig.state, rig.counts]).toEqual(['open', [4, 4]])
    expect(rig.host.measured).toEqual([[1, 4]])
  })

  it('are not noticed before they end if the rule says so', () => {
    const rig = new Rig({ ...slow, countRunning: false })
    rig.begin()
    rig.now = 1000
    rig.begin()
    expect(rig.counts).toEqual([0, 0])
  })
})

it('starts afresh when it closes, and when it is reset', () => {
  const rig = new Rig(ratio)
  play(rig, 'ffff')
  rig.now = 10_000
  play(rig, 's')
  expect([rig.state, rig.counts]).toEqual(['closed', [0, 0]])
  play(rig, 'fff')
  rig.breaker.reset(rig.now)
  expect(rig.counts).toEqual([0, 0])
  play(rig, 'fff')
  expect(rig.state).toBe('closed')
})

it('starts afresh when reset even if the clock has stepped back since', () => {
  const rig = new Rig(ratio, undefined, 1e9)
  play(rig, 'fff')
  rig.now = 0
  rig.breaker.reset(0)
  expect(rig.counts).toEqual([0, 0])
})

it('judges late results among the others if the rule says so', () => {
  const rig = new Rig({ ...ratio, lateResults: 'at-arrival' })
  const late = rig.begin()
  play(rig, 'ffff')
  rig.now = 10_000
  play(rig, 's')
  rig.end(late, 'failure')
  expect([rig.state, rig.counts]).toEqual(['closed', [1, 1]])
})
