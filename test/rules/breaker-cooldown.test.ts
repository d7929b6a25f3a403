// How long a breaker stays open: growth, cap, jitter, and what a reload makes of it.
import { describe, expect, it } from 'vitest'
import { FakeHost, type Fields, Rig } from './support.js'

const one = { strategy: 'error-count', threshold: 1, cooldownMs: 1000 } as const

/** Opens, then lets one probe fail as soon as it may, over and over. Returns how long each cooldown was. */
function cooldowns(rig: Rig, times: number): number[] {
  rig.call('failure')
  const lengths: number[] = []
  for (let i = 0; i < times; i++) {
    const wait = rig.seen.retryAfterMs as number
    lengths.push(wait)
    rig.now += wait - 0.25
    expect(rig.call('failure')).toBe(false)
    rig.now += 0.25
    expect(rig.call('failure')).toBe(true)
  }
  return lengths
}

it.each<[Partial<Fields>, number[]]>([
  [{}, [1000, 1000, 1000]],
  [{ cooldownMultiplier: 2 }, [1000, 2000, 4000, 8000, 16_000]],
  [{ cooldownMultiplier: 1.5 }, [1000, 1500, 2250, 3375]],
  [{ cooldownMultiplier: 2, maxCooldownMs: 3000 }, [1000, 2000, 3000, 3000]],
  [{ cooldownMultiplier: 1000, maxCooldownMs: 1000 }, [1000, 1000]],
  [{ cooldownMultiplier: 1e300 }, [1000, 2 ** 30, 2 ** 30, 2 ** 30]],
  [{ cooldownMs: 2 ** 30, cooldownMultiplier: 2 }, [2 ** 30, 2 ** 30]],
])('%j grows the cooldown as %j', (fields, expected) => {
  expect(cooldowns(new Rig({ ...one, ...fields }), expected.length)).toEqual(expected)
})

it('closing starts the growth over', () => {
  const rig = new Rig({ ...one, cooldownMultiplier: 2 })
  cooldowns(rig, 3)
  rig.now += rig.seen.retryAfterMs as number
  rig.call('success')
  expect(rig.state).toBe('closed')
  expect(cooldowns(rig, 2)).toEqual([1000, 2000])
})

it('a probe given back or taken over does not grow it', () => {
  const rig = new Rig({ ...one, cooldownMultiplier: 2, probeTimeoutMs: 100 })
  rig.call('failure')
  rig.now = 1000
  rig.call('ignored')
  rig.begin()
  rig.now = 1100
  expect(rig.call('failure')).toBe(true)
  expect(rig.seen.retryAfterMs).toBe(2000)
})

describe('jitter', () => {
  it('lengthens each cooldown by its own share, drawn once when it opens', () => {
    const host = new FakeHost(0, [0, 0.5, 0.75])
    const rig = new Rig({ ...one, cooldownJitter: 0.5 }, host)
    expect(cooldowns(rig, 4)).toEqual([1000, 1250, 1375, 1000])
    expect(host.draws).toBe(5)
  })

  it('comes on top of the growth and stays below the cap', () => {
    const host = new FakeHost(0, [0.5])
    const rig = new Rig({ ...one, cooldownJitter: 1, cooldownMultiplier: 2, maxCooldownMs: 5000 }, host)
    expect(cooldowns(rig, 4)).toEqual([1500, 3000, 5000, 5000])
  })

  it('draws nothing where there is none', () => {
    const host = new FakeHost(0, [0.5])
    cooldowns(new Rig(one, host), 3)
    expect(host.draws).toBe(0)
  })

  it.each([Number.NaN, Number.POSITIVE_INFINITY, -5, 7])(
    'from a random source that gives %d neither holds a breaker open beyond what it may be nor lets it go early',
    (drawn) => {
      const rig = new Rig({ ...one, cooldownJitter: 1 }, new FakeHost(0, [drawn]))
      rig.call('failure')
      rig.now = 999
      expect(rig.call('success')).toBe(false)
      rig.now = 2000
      expect(rig.call('success')).toBe(true)
    },
  )
})

it('the wait that is named is enough, whatever the share drawn and wherever the clock stands', () => {
  for (let i = 0; i < 200; i++) {
    const rig = new Rig({ ...one, cooldownJitter: 0.3 }, new FakeHost(0, [i / 200]), 1_700_000_000_000 + i / 7)
    rig.call('failure')
    rig.now += 333.3
    expect(rig.enter()).toBeUndefined()
    rig.now += rig.seen.retryAfterMs as number
    expect(rig.enter()).toBeDefined()
  }
})

describe('a reload while open', () => {
  it('counts a longer or shorter cooldown from when it opened', () => {
    const rig = new Rig(one)
    rig.call('failure')
    rig.now = 400
    rig.breaker.update({ ...rig.breaker.rule, cooldownMs: 5000 }, rig.now)
    expect(rig.seen).toMatchObject({ openedAt: 0, retryAfterMs: 4600 })
    rig.breaker.update({ ...rig.breaker.rule, cooldownMs: 300 }, rig.now)
    expect(rig.seen.retryAfterMs).toBe(0)
    expect(rig.call('success')).toBe(true)
  })

  it('while closed or half-open leaves the growth to the next opening', () => {
    const rig = new Rig({ ...one, cooldownMultiplier: 2 })
    cooldowns(rig, 2)
    rig.now += rig.seen.retryAfterMs as number
    const probe = rig.begin()
    rig.breaker.update({ ...rig.breaker.rule, cooldownMs: 100 }, rig.now)
    expect(rig.state).toBe('half-open')
    rig.end(probe, 'failure')
    expect(rig.seen.retryAfterMs).toBe(800)
    rig.now += 800
    rig.call('success')
    rig.breaker.update({ ...rig.breaker.rule, cooldownMs: 300 }, rig.now)
    rig.call('failure')
    expect(rig.seen.retryAfterMs).toBe(300)
  })

  it('keeps the growth and the share that was drawn', () => {
    const rig = new Rig({ ...one, cooldownMultiplier: 2, cooldownJitter: 1 }, new FakeHost(0, [0.5]))
    cooldowns(rig, 1)
    expect(rig.seen.retryAfterMs).toBe(3000)
    rig.breaker.update({ ...rig.breaker.rule, cooldownMultiplier: 3 }, rig.now)
    expect(rig.seen.retryAfterMs).toBe(4500)
    rig.breaker.update({ ...rig.breaker.rule, maxCooldownMs: 2000 }, rig.now)
    expect(rig.seen.retryAfterMs).toBe(2000)
  })
})
