// The soak in small: a fixed seed, so many rounds, virtual time. And the tools it measures with.
import { setImmediate } from 'node:timers/promises'
import { describe, expect, it, vi } from 'vitest'
import { isFlat, MOST_BYTES_PER_CALL, type Sample, SLACK_BYTES, trendOf } from './memory.js'
import { optionsFrom } from './options.js'
import { Random } from './random.js'
import { SABOTAGES } from './sabotage.js'
import { type Failure, type SoakResult, soak } from './soak.js'

// Some seconds on a busy machine.
vi.setConfig({ testTimeout: 60_000 })

const SEED = 20_261_201

const told = ({ text, ...failure }: Failure) => ({ ...failure, what: text.split('\n')[0] })

/** Each round in a turn of the event loop of its own, so that unhandled rejections fail the test they belong to. */
const soaked = (seed: number, rounds: number, enough?: number): Promise<SoakResult> =>
  soak({ seed, goesOn: (done) => done < rounds, enough, after: async () => void (await setImmediate()) })

describe('a short soak', () => {
  it('finds guard and model agreeing after each step, and nothing left', async () => {
    const { failures, rounds, steps, calls } = await soaked(SEED, 60)
    expect(failures).toEqual([])
    expect([rounds, steps]).toEqual([60, 60 * 250])
    expect(calls).toBeGreaterThan(4000)
  })

  it('does the same again by its seed, and something else by another', async () => {
    const [once, again, other] = [await soaked(SEED, 3), await soaked(SEED, 3), await soaked(SEED + 3, 3)]
    expect(again).toEqual(once)
    expect(other.calls).not.toBe(once.calls)
  })
})

describe('a broken build', () => {
  it.each(SABOTAGES.filter(({ isSlow }) => !isSlow))('is found: $name', async ({ apply }) => {
    const mend = apply()
    try {
      expect((await soaked(SEED, 2000, 1)).failures).toHaveLength(1) // mostly within 200
    } finally {
      mend()
    }
    expect((await soaked(SEED, 2)).failures).toEqual([])
  })

  it('fails again when it is replayed by the seed it told', async () => {
    const [leaky] = SABOTAGES.filter(({ name }) => name === 'listeners stay on signals')
    const mend = leaky?.apply()
    try {
      const [first] = (await soaked(SEED, 200, 1)).failures
      const { failures } = await soaked(first?.seed as number, first?.rounds as number, 1)
      expect(failures.map(told)).toEqual([told(first as Failure)])
    } finally {
      mend?.()
    }
  })
})

describe('memory', () => {
  const samples = (heapOf: (calls: number) => number): Sample[] =>
    Array.from({ length: 40 }, (_, i) => ({ calls: i * 10_000, heapBytes: heapOf(i * 10_000) }))

  it('is flat if it only warms up, or wavers', () => {
    const wavering = samples((calls) => 10e6 + Math.min(calls, 90_000) * 30 + (calls % 30_000) * 20)
    expect(isFlat(trendOf(wavering) as never)).toBe(true)
  })

  it('is not if every call leaves a little more than the bound, in a run that is long enough to tell', () => {
    const leaking = trendOf(samples((calls) => 10e6 + calls * (MOST_BYTES_PER_CALL + 1)))
    expect(leaking?.bytesPerCall).toBeCloseTo(MOST_BYTES_PER_CALL + 1, 6)
    expect(leaking?.growthBytes).toBeGreaterThan(SLACK_BYTES)
    expect(isFlat(leaking as never)).toBe(false)
  })

  it('is judged by the slope, to the byte', () => {
    expect(trendOf(samples((calls) => 5e6 + calls * 3))).toEqual({
      samples: 30,
      bytesPerCall: expect.closeTo(3, 9),
      growthBytes: expect.closeTo(3 * 290_000, 3),
    })
  })

  it('is not judged by a handful of samples', () => {
    expect(trendOf(samples(() => 1e6).slice(0, 6))).toBeUndefined()
  })
})

describe('options', () => {
  const from = (...args: string[]) => optionsFrom(args, () => 42)

  it('default to five minutes and any seed', () => {
    expect(from()).toEqual({ seed: 42, seconds: 300, rounds: undefined, selfTest: false })
    expect(from('--seed', '0', '--seconds', '20', '--rounds', '7', '--self-test')).toEqual({
      seed: 0,
      seconds: 20,
      rounds: 7,
      selfTest: true,
    })
  })

  it.each([
    ['--seconds', '0'],
    ['--seed', 'x'],
    ['--seed', '-1'],
    ['--rounds', '1.5'],
    ['--seed', ''],
    ['--hours', '1'],
    ['more'],
  ])('refuse %s %s', (...args) => {
    expect(() => from(...args)).toThrow()
  })
})

describe('chance', () => {
  it('is even, and not alike for neighbouring seeds', () => {
    const firsts = Array.from({ length: 4000 }, (_, seed) => new Random(seed).int(4))
    for (const side of [0, 1, 2, 3]) {
      const share = firsts.filter((first) => first === side).length
      expect(share).toBeGreaterThan(850)
      expect(share).toBeLessThan(1150)
    }
    const random = new Random(1)
    const weights = { often: 9, seldom: 1, never: 0 }
    const drawn = Array.from({ length: 4000 }, () => random.weighted(weights))
    expect(drawn.filter((name) => name === 'seldom').length).toBeGreaterThan(300)
    expect(drawn.filter((name) => name === 'seldom').length).toBeLessThan(500)
    expect(drawn).not.toContain('never')
  })
})
