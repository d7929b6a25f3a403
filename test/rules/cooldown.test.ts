// The length of a cooldown by itself: every combination of growth, jitter and cap stays where it must.
import { describe, expect, it } from 'vitest'
import { Cooldown, MAX_GROWTH } from '../../rules/cooldown.js'
import { ruleOf } from './support.js'

const rule = { strategy: 'error-count', threshold: 1, cooldownMs: 1000 } as const
const JUST_BELOW_1 = 1 - 2 ** -53

/** How long it lasts after so many reopenings, with this share drawn. */
function lasts(fields: object, growth: number, random: number): number {
  const cooldown = new Cooldown()
  for (let i = 0; i < growth; i++) cooldown.grow()
  cooldown.begin(0, ruleOf({ ...rule, ...fields }), () => random)
  return cooldown.endsAt()
}

describe('a cooldown', () => {
  it('never passes its cap, whatever grows it and whatever is drawn', () => {
    for (const cooldownMultiplier of [1, 1.0001, 1.5, 2, 1e6, 1e300]) {
      for (const maxCooldownMs of [1000, 1001, 1999, 2000, 5000, 2 ** 30]) {
        for (const cooldownJitter of [0, 0.1, 0.999, 1]) {
          for (const growth of [0, 1, 2, 50]) {
            const lengths = [0, 0.5, JUST_BELOW_1].map((random) =>
              lasts({ cooldownMultiplier, maxCooldownMs, cooldownJitter }, growth, random),
            )
            const what = JSON.stringify({ cooldownMultiplier, maxCooldownMs, cooldownJitter, growth })
            expect(Math.min(...lengths), what).toBeGreaterThanOrEqual(1000)
            expect(Math.max(...lengths), what).toBeLessThanOrEqual(maxCooldownMs)
            expect(lengths.every(Number.isInteger), what).toBe(true)
            expect([...lengths].sort((a, b) => a - b)).toEqual(lengths)
          }
        }
      }
    }
  })

  it.each([
    [0, 1000],
    [1, 1500],
    [2, 2250],
    [3, 3375],
    [4, 5063],
  ])('is multiplied %d times and rounded up once, at the end: %d', (growth, length) => {
    expect(lasts({ cooldownMultiplier: 1.5 }, growth, 0)).toBe(length)
  })

  it('is lengthened by its share of the jitter after it has grown', () => {
    const fields = { cooldownMultiplier: 3, cooldownJitter: 0.2 }
    expect([0, 0.25, JUST_BELOW_1].map((random) => lasts(fields, 2, random))).toEqual([9000, 9450, 10_800])
  })

  it('grows no further than a million times, and does not lose its length on the way', () => {
    const cooldown = new Cooldown()
    for (let i = 0; i < MAX_GROWTH + 5; i++) cooldown.grow()
    expect(cooldown.growth).toBe(MAX_GROWTH)
    cooldown.begin(0, ruleOf({ ...rule, cooldownMultiplier: 1.000_001 }), () => 0)
    expect(cooldown.endsAt()).toBe(2719)
  })

  it('takes a share of 1 or more for none, since none is promised to be that large', () => {
    expect([1, 1.5, -0.1, Number.NaN].map((random) => lasts({ cooldownJitter: 1 }, 0, random))).toEqual([
      1000, 1000, 1000, 1000,
    ])
  })

  it('is over at its very millisecond, wherever the clock stands', () => {
    for (const openedAt of [-1e12, 0, 0.25, 1.7e12]) {
      const cooldown = new Cooldown()
      cooldown.begin(openedAt, ruleOf(rule), () => 0)
      expect([openedAt + 999.75, openedAt + 1000, openedAt].map((now) => cooldown.isOver(now))).toEqual([
        false,
        true,
        false,
      ])
    }
  })

  it('can at most be as long as its jitter and its cap let it', () => {
    const cooldown = new Cooldown()
    cooldown.grow()
    const longest = (fields: object) => cooldown.longestMs(ruleOf({ ...rule, cooldownMultiplier: 2, ...fields }))
    expect([
      longest({}),
      longest({ cooldownJitter: 0.5 }),
      longest({ cooldownJitter: 1, maxCooldownMs: 3500 }),
    ]).toEqual([2000, 3000, 3500])
  })
})

describe('a changed rule', () => {
  it('keeps the reopenings and the share drawn, and changes the length at once', () => {
    const cooldown = new Cooldown()
    cooldown.grow()
    cooldown.grow()
    cooldown.begin(500, ruleOf({ ...rule, cooldownMultiplier: 2, cooldownJitter: 0.5 }), () => 0.5)
    expect(cooldown.endsAt()).toBe(500 + 5000)
    const follow = (fields: object): number => {
      cooldown.follow(ruleOf({ ...rule, ...fields }))
      return cooldown.endsAt() - 500
    }
    expect(follow({ cooldownMultiplier: 3 })).toBe(11_250)
    expect(follow({ cooldownMultiplier: 3, maxCooldownMs: 7000 })).toBe(7000)
    expect(follow({ cooldownMs: 10 })).toBe(13)
    // The share that was drawn belongs to this cooldown; another jitter draws from the next one on.
    expect(follow({ cooldownMultiplier: 2, cooldownJitter: 0 })).toBe(5000)
  })
})
