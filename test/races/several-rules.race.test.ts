// Several rules on one resource: each learns from every call by its own measure, and an entry needs the consent of all.
import { describe, expect, it, vi } from 'vitest'
import { RESOURCE, type RuleDraft, Twin } from '../support/model-guard.js'
import {
  alike,
  ends,
  endsOf,
  mustEnd,
  mustEnter,
  playAll,
  type RaceStep,
  recovers,
  type World,
} from '../support/model-races.js'

// Tens of thousands of short plays each; more than enough on a slow machine.
vi.setConfig({ testTimeout: 60_000 })

const WINDOW = { statIntervalMs: 1000, bucketCount: 10 } as const
const COUNT: RuleDraft = { strategy: 'error-count', id: 'count', threshold: 2, cooldownMs: 60, ...WINDOW }
const ROW: RuleDraft = { strategy: 'consecutive-errors', id: 'row', threshold: 2, cooldownMs: 90, ...WINDOW }
const RATIO: RuleDraft = {
  strategy: 'error-ratio',
  id: 'ratio',
  threshold: 0.6,
  minRequestAmount: 3,
  cooldownMs: 60,
  ...WINDOW,
}
const SLOW: RuleDraft = {
  strategy: 'slow-call-ratio',
  id: 'slow',
  threshold: 0.6,
  minRequestAmount: 2,
  maxAllowedRtMs: 2,
  cooldownMs: 80,
  countRunning: false,
  ...WINDOW,
}

const inFlight = (rules: readonly RuleDraft[], count: number): World => {
  const twin = new Twin(rules, 2000)
  return { twin, calls: Array.from({ length: count }, () => mustEnter(twin)) }
}

/** An entry by handle, so that a refusal is looked at; what it is admitted as takes the given place among the calls. */
const looks = (name: string, place: number): RaceStep<World> => ({
  name,
  run: ({ twin, calls }) => {
    calls[place] = twin.enter('handle')
  },
})

describe('several rules on one resource', () => {
  it('each open by their own measure, in every order of five calls in flight', () => {
    const opened = new Set<string>()
    playAll({
      setUp: () => inFlight([COUNT, ROW, RATIO, SLOW], 5),
      steps: alike(endsOf(5), 0, 5),
      finish: (world) => {
        const states = world.twin.guard.stats(RESOURCE).rules
        opened.add(
          states
            .filter(({ state }) => state === 'open')
            .map(({ id }) => id)
            .join(' '),
        )
        recovers(world)
      },
    })
    for (const ids of ['', 'slow', 'count', 'count ratio', 'count row', 'count row ratio slow'])
      expect(opened).toContain(ids)
  })

  it('refuse in the name of the longest known wait, at any place among the ends', () => {
    const steps = [...alike(endsOf(5), 0, 5), looks('entry', 5)]
    expect(playAll({ setUp: () => inFlight([COUNT, ROW, SLOW], 5), steps, finish: recovers })).toBe(6 * 243)
    expect(playAll({ setUp: () => inFlight([RATIO, COUNT], 5), steps, finish: recovers })).toBe(6 * 243)
  })

  it('lend a probe together: the breaker whose cooldown is over waits for the one whose is not', () => {
    const both = (): World => {
      const world = inFlight([COUNT, ROW], 4)
      const [first, second] = world.calls.splice(0, 2)
      for (const call of [first, second]) mustEnd(world.twin, call, 'failure')
      world.twin.wait(60)
      return world
    }
    const waits: RaceStep<World> = { name: 'wait', run: ({ twin }) => twin.wait(30) }
    const seen = new Set<string>()
    playAll({
      setUp: both,
      steps: [ends(0), ends(1), looks('early or late', 2), waits, looks('last', 3), ends(3, 'last')],
      finish: (world) => {
        seen.add(
          world.twin.guard
            .stats(RESOURCE)
            .rules.map(({ state }) => state)
            .join(' '),
        )
        recovers(world)
      },
    })
    // Never one half-open beside one still open: a refused call takes no probe.
    expect([...seen].sort()).toEqual(['closed closed', 'half-open half-open', 'open open'])
  })

  it('close and reopen each by its own count of successes when they share a probe', () => {
    const rules = [
      { ...COUNT, probeCount: 2, successThreshold: 2 },
      { ...ROW, probeCount: 3, successThreshold: 3 },
    ]
    const seen = new Set<string>()
    playAll({
      setUp: () => {
        const world = inFlight(rules, 3)
        const [first, second] = world.calls.splice(0, 2)
        for (const call of [first, second]) mustEnd(world.twin, call, 'failure')
        world.twin.wait(90)
        for (let i = 0; i < 2; i++) world.calls.push(mustEnter(world.twin))
        return world
      },
      steps: [...alike(endsOf(3), 1, 3), looks('third', 3), ends(3, 'third'), looks('fourth', 4)],
      finish: (world) => {
        seen.add(
          world.twin.guard
            .stats(RESOURCE)
            .rules.map(({ state }) => state)
            .join(' '),
        )
        recovers(world)
      },
    })
    expect(seen).toContain('closed half-open')
    expect(seen).toContain('open open')
    expect(seen).toContain('half-open half-open')
  })
})
