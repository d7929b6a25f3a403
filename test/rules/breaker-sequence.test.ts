// Sequence numbers wrap at 2^31. Nothing may notice: not an era that spans the wrap, nor one that is longer than all numbers.
import { describe, expect, it } from 'vitest'
import { FakeHost, Rig } from './support.js'

const LAST = 2 ** 31 - 1
const errors = { strategy: 'error-count', threshold: 5, cooldownMs: 1000 } as const
const slow = { strategy: 'slow-call-ratio', threshold: 1, maxAllowedRtMs: 100, minRequestAmount: 1e6 } as const

describe.each([0, LAST - 5, LAST - 3, LAST - 1, LAST, -LAST - 1, -1])('from sequence number %d', (seq) => {
  it('results of the present era count across the wrap', () => {
    const rig = new Rig(errors, new FakeHost(seq))
    const calls = Array.from({ length: 4 }, () => rig.begin())
    for (const call of calls.reverse()) rig.end(call, 'failure')
    expect(rig.counts).toEqual([4, 4])
    rig.call('failure')
    expect(rig.state).toBe('open')
  })

  it('results of an earlier era count for nothing across the wrap', () => {
    const rig = new Rig(errors, new FakeHost(seq))
    const old = Array.from({ length: 4 }, () => rig.begin())
    for (let i = 0; i < 5; i++) rig.call('failure')
    rig.now = 1000
    rig.call('success')
    expect(rig.state).toBe('closed')
    for (const call of old) rig.end(call, 'failure')
    expect([rig.state, rig.counts]).toEqual(['closed', [0, 0]])
  })

  it('a probe is known by its number', () => {
    const rig = new Rig(errors, new FakeHost(seq))
    const old = rig.begin()
    for (let i = 0; i < 5; i++) rig.call('failure')
    rig.now = 1000
    const probe = rig.begin()
    rig.end(old, 'success')
    expect(rig.state).toBe('half-open')
    rig.end(probe, 'success')
    expect(rig.state).toBe('closed')
  })

  it('a running call is noticed once across the wrap', () => {
    const rig = new Rig(slow, new FakeHost(seq))
    const calls = Array.from({ length: 4 }, () => rig.begin())
    rig.now = 200
    rig.breaker.advance({ now: 200 })
    for (const call of calls) rig.end(call)
    expect(rig.counts).toEqual([4, 4])
  })
})

describe('an era longer than all sequence numbers', () => {
  const STEP = 2 ** 29

  it.each([0, 12_345, LAST - 2])('goes on counting (from %d)', (seq) => {
    const host = new FakeHost(seq)
    const rig = new Rig({ ...errors, threshold: 1000 }, host)
    for (let i = 1; i <= 20; i++) {
      host.seq = (host.seq + STEP) | 0
      rig.call('failure')
      expect(rig.counts).toEqual([i, i])
    }
    expect(rig.state).toBe('closed')
  })

  it('still tells its own calls from those of the era before', () => {
    const host = new FakeHost()
    const rig = new Rig(errors, host)
    for (let i = 0; i < 9; i++) {
      host.seq = (host.seq + STEP) | 0
      rig.call('success')
    }
    const late = rig.begin()
    for (let i = 0; i < 5; i++) rig.call('failure')
    rig.now = 1000
    rig.call('success')
    rig.end(late, 'failure')
    expect([rig.state, rig.counts]).toEqual(['closed', [0, 0]])
  })

  it('goes on noticing running calls, each once', () => {
    const host = new FakeHost(LAST - 2)
    const rig = new Rig(slow, host)
    for (let i = 1; i <= 12; i++) {
      host.seq = (host.seq + STEP) | 0
      rig.call('success')
      const call = rig.begin()
      rig.now += 200
      rig.breaker.advance({ now: rig.now })
      expect(rig.seen.bad).toBe(i)
      rig.end(call)
      expect(rig.counts).toEqual([2 * i, i])
    }
  })
})
