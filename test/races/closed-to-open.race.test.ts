// Closed to open: every order in which up to five calls in flight come back, each as a success, a failure or ignored.
import { describe, expect, it, vi } from 'vitest'
import { type RuleDraft, Twin } from '../support/model-guard.js'
import {
  alike,
  endsOf,
  mustEnter,
  ordersOf,
  playAll,
  type RaceStep,
  recovers,
  type World,
} from '../support/model-races.js'

// Tens of thousands of short plays each; more than enough on a slow machine.
vi.setConfig({ testTimeout: 60_000 })

const SHARED = { statIntervalMs: 1000, bucketCount: 10, cooldownMs: 100 } as const

/** A rule, and how many calls it takes to open it. */
const RULES: Record<string, { readonly rule: RuleDraft; readonly needs: number }> = {
  'error-ratio': {
    rule: { strategy: 'error-ratio', id: 'a', threshold: 0.5, minRequestAmount: 3, ...SHARED },
    needs: 3,
  },
  'error-count': { rule: { strategy: 'error-count', id: 'a', threshold: 2, ...SHARED }, needs: 2 },
  'consecutive-errors': { rule: { strategy: 'consecutive-errors', id: 'a', threshold: 2, ...SHARED }, needs: 2 },
  // Calls begin and end 1 ms apart: the early ends are within the limit, the late ones past it.
  'slow-call-ratio': {
    rule: {
      strategy: 'slow-call-ratio',
      id: 'a',
      threshold: 0.5,
      minRequestAmount: 3,
      maxAllowedRtMs: 3,
      ...SHARED,
    },
    needs: 3,
  },
}

const inFlight = (rule: RuleDraft, count: number): World => {
  const twin = new Twin([rule], 1000)
  const calls = Array.from({ length: count }, (_, i) => {
    if (i > 0) twin.wait(1)
    return mustEnter(twin, i % 2 === 0 ? 'permit' : 'handle')
  })
  return { twin, calls }
}

const looksIn: RaceStep<World> = {
  name: 'entry',
  run: ({ twin, calls }) => {
    calls.push(twin.enter('handle'))
  },
}

describe('the enumeration itself', () => {
  it('plays every order and every outcome: 5! orders of five ends, three ways each', () => {
    expect(ordersOf(endsOf(5))).toHaveLength(120)
    expect(new Set(ordersOf(endsOf(5)).map(String)).size).toBe(120)
    const ordered = [
      { name: 'a', run: () => {} },
      { name: 'b', after: 'a', run: () => {} },
      { name: 'c', run: () => {} },
    ]
    expect(ordersOf(ordered)).toEqual([
      [0, 1, 2],
      [0, 2, 1],
      [2, 0, 1],
    ])
  })
})

describe.each(Object.keys(RULES))('closed to open under %s', (name) => {
  const { rule, needs } = RULES[name] as { rule: RuleDraft; needs: number }

  // Under this strategy alone it matters when a call began; under the others five calls are played up to a change of names.
  const areAlike = (count: number): boolean => count > 4 && name !== 'slow-call-ratio'

  it.each([1, 2, 3, 4, 5])(
    'opens once at most and at the predicted end, in every order of %i calls in flight',
    (count) => {
      const opened = new Set<number>()
      const played = playAll({
        setUp: () => inFlight(rule, count),
        steps: areAlike(count) ? alike(endsOf(count), 0, count) : endsOf(count),
        finish: (world) => {
          const times = world.twin.events.filter(({ to }) => to === 'open').length
          if (times > 1) throw new Error(`opened ${times} times`)
          opened.add(times)
          const { passed, succeeded, failed, ignored, running } = world.twin.guard.stats('r').totals
          if (running !== 0 || passed !== succeeded + failed + ignored) throw new Error('a call was not settled once')
          recovers(world)
        },
      })
      expect(played).toBe((areAlike(count) ? 1 : ([1, 1, 2, 6, 24, 120][count] as number)) * 3 ** count)
      expect(opened.has(0)).toBe(true)
      expect(opened.has(1)).toBe(count >= needs)
    },
  )

  it('refuses or admits an entry that comes between any two ends as predicted', () => {
    expect(playAll({ setUp: () => inFlight(rule, 3), steps: [...endsOf(3), looksIn], finish: recovers })).toBe(24 * 27)
  })
})
