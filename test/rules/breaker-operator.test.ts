// Forced states, reset and dropping: the operator's hand on one breaker, whatever state it is in.
import { describe, expect, it } from 'vitest'
import { State } from '../../rules/index.js'
import { Rig } from './support.js'

const rule = { strategy: 'error-count', threshold: 2, cooldownMs: 1000 } as const

function inState(state: 'closed' | 'open' | 'half-open'): Rig {
  const rig = new Rig({ ...rule, probeCount: 2 })
  if (state !== 'closed') {
    rig.call('failure')
    rig.call('failure')
  }
  if (state === 'half-open') {
    rig.now = 1000
    rig.call('success')
  }
  expect(rig.state).toBe(state)
  rig.host.changes.length = 0
  return rig
}
const STATES = ['closed', 'open', 'half-open'] as const

describe.each(STATES)('while %s', (state) => {
  it('forcing open refuses, forcing closed lets pass, and auto gives back what was there', () => {
    const rig = inState(state)
    const before = rig.seen
    const now = rig.now
    rig.breaker.force(true, false, now)
    expect([rig.state, rig.seen.forced, rig.seen.openedAt, rig.seen.retryAfterMs]).toEqual([
      'open',
      'open',
      undefined,
      undefined,
    ])
    expect(rig.enter()).toBeUndefined()
    rig.breaker.force(false, true, now)
    expect([rig.state, rig.seen.forced]).toEqual(['closed', 'closed'])
    rig.end(rig.begin(), 'ignored')
    rig.breaker.force(true, true, now)
    expect([rig.state, rig.seen.forced]).toEqual(['open', 'open'])
    rig.breaker.force(false, false, now)
    expect(rig.seen).toEqual(before)
    const felt = ['open', 'closed', 'open', state]
    const reasons = ['forced-open', 'forced-closed', 'forced-open', 'auto']
    const expected = felt.map((to, i) => `${now} ${felt[i - 1] ?? state} > ${to}: ${reasons[i]}`)
    expect(rig.host.changes).toEqual(expected.filter((change) => !/ (\S+) > \1:/.test(change)))
  })

  it('forcing the same again changes nothing and says nothing', () => {
    const rig = inState(state)
    rig.breaker.force(true, false, rig.now)
    const said = rig.host.changes.length
    rig.breaker.force(true, false, rig.now)
    expect(rig.host.changes).toHaveLength(said)
  })

  it('reset makes it as good as new', () => {
    const rig = inState(state)
    const running = rig.enter() ?? rig.breaker.rule
    rig.breaker.reset(rig.now)
    expect(rig.seen).toEqual({
      state: State.CLOSED,
      openedAt: undefined,
      retryAfterMs: undefined,
      total: 0,
      bad: 0,
      probesOut: 0,
      admittedShare: 1,
      wouldBlock: 0,
      forced: undefined,
    })
    expect(rig.host.probesOut).toBe(0)
    expect(rig.host.changes).toEqual(state === 'closed' ? [] : [`${rig.now} ${state} > closed: reset`])
    if ('seq' in running) rig.end(running, 'failure')
    expect(rig.counts).toEqual([0, 0])
    rig.call('failure')
    expect(rig.counts).toEqual([1, 1])
  })

  it('dropping says which state is lost and gives back the probes', () => {
    const rig = inState(state)
    if (state === 'half-open') rig.begin()
    expect(rig.breaker.drop(rig.now, 'reload')).toBe(
      State[state === 'half-open' ? 'HALF_OPEN' : state === 'open' ? 'OPEN' : 'CLOSED'],
    )
    expect(rig.host.probesOut).toBe(0)
    expect(rig.host.changes).toEqual(state === 'closed' ? [] : [`${rig.now} ${state} > closed: reload`])
  })

  it('it is at rest only while nothing but counts would be lost', () => {
    expect(inState(state).breaker.isAtRest(0)).toBe(state === 'closed')
  })
})

describe('forced closed', () => {
  it('goes on recording while closed underneath, and shows what it has become when given back', () => {
    const rig = inState('closed')
    rig.breaker.force(false, true, 0)
    for (let i = 0; i < 4; i++) expect(rig.call('failure')).toBe(true)
    expect([rig.state, rig.host.changes]).toEqual(['closed', []])
    rig.now = 400
    rig.breaker.force(false, false, 400)
    expect(rig.host.changes).toEqual(['400 closed > open: auto'])
    expect(rig.seen).toMatchObject({ openedAt: 0, retryAfterMs: 600 })
  })

  it('judges nobody who passed only because of it', () => {
    for (const lateResults of ['ignore', 'at-arrival'] as const) {
      const rig = new Rig({ ...rule, lateResults })
      rig.call('failure')
      rig.call('failure')
      rig.now = 1000
      rig.breaker.force(false, true, rig.now)
      const [good, bad] = [rig.begin(), rig.begin()]
      rig.breaker.force(false, false, rig.now)
      const probe = rig.begin()
      rig.end(good)
      rig.end(bad, 'failure')
      expect(rig.state).toBe('half-open')
      rig.end(probe)
      expect([rig.state, rig.counts]).toEqual(['closed', [0, 0]])
    }
  })

  it('lets the probes that are out give their verdict underneath', () => {
    const rig = inState('half-open')
    const probe = rig.begin()
    rig.breaker.force(false, true, rig.now)
    rig.end(probe)
    expect(rig.host.changes).toEqual([`${rig.now} half-open > closed: forced-closed`])
    rig.breaker.force(false, false, rig.now)
    expect([rig.state, rig.host.changes.length]).toEqual(['closed', 1])
  })
})

describe('forced open', () => {
  it('lets calls in flight decide underneath', () => {
    const rig = inState('closed')
    const calls = [rig.begin(), rig.begin()]
    rig.breaker.force(true, false, 0)
    for (const call of calls) rig.end(call, 'failure')
    rig.breaker.force(false, false, 100)
    expect(rig.host.changes).toEqual(['0 closed > open: forced-open'])
    expect(rig.seen).toMatchObject({ state: State.OPEN, openedAt: 0, forced: undefined })
  })

  it('holds a nested call too', () => {
    const rig = inState('half-open')
    const probe = rig.begin()
    rig.breaker.force(true, false, rig.now)
    expect(rig.enter([probe.seq])).toBeUndefined()
  })

  it('stays through a reset', () => {
    const rig = inState('open')
    rig.breaker.force(true, false, 0)
    rig.breaker.reset(0)
    expect([rig.state, rig.seen.forced]).toEqual(['open', 'open'])
    rig.breaker.force(false, false, 0)
    expect(rig.state).toBe('closed')
  })
})

describe('dropping a forced breaker', () => {
  it('loses nothing if it was closed underneath', () => {
    const rig = inState('closed')
    rig.breaker.force(true, false, 0)
    expect(rig.breaker.drop(0, 'reload')).toBe(State.CLOSED)
  })

  it('loses the open state underneath, although nobody felt it', () => {
    const rig = inState('open')
    rig.breaker.force(false, true, 0)
    expect(rig.breaker.drop(0, 'reload')).toBe(State.OPEN)
    expect(rig.host.changes).toEqual(['0 open > closed: forced-closed'])
  })

  it('with its resource, what was forced ends too', () => {
    const rig = inState('closed')
    rig.breaker.force(true, false, 0)
    expect(rig.breaker.drop(5, 'removed')).toBe(State.CLOSED)
    expect(rig.host.changes).toEqual(['0 closed > open: forced-open', '5 open > closed: removed'])
    expect(rig.breaker.snapshot(5)).toMatchObject({ state: State.CLOSED, forced: undefined })
  })
})
