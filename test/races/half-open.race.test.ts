// Around half-open: old calls from the closed era, probes and newcomers come and go in every order.
import { describe, expect, it, vi } from 'vitest'
import type { ModelOutcome } from '../support/model-breaker.js'
import { type Live, RESOURCE, type RuleDraft, Twin } from '../support/model-guard.js'
import {
  alike,
  ends,
  mustEnd,
  mustEnter,
  OUTCOMES,
  playAll,
  type RaceStep,
  recovers,
  type World,
} from '../support/model-races.js'

// Tens of thousands of short plays each; more than enough on a slow machine.
vi.setConfig({ testTimeout: 60_000 })

const SHARED = { id: 'a', statIntervalMs: 1000, bucketCount: 10, cooldownMs: 100 } as const
const COUNT: RuleDraft = { strategy: 'error-count', threshold: 1, ...SHARED }
const SLOW: RuleDraft = {
  strategy: 'slow-call-ratio',
  threshold: 0.1,
  minRequestAmount: 1,
  maxAllowedRtMs: 40,
  ...SHARED,
}

/** Opens the breaker with `old` calls of the closed era still in flight; the cooldown is over. */
const openWith = (rule: RuleDraft, old: number): World => {
  const twin = new Twin([rule], 5000)
  const last = mustEnter(twin)
  twin.wait(rule.strategy === 'slow-call-ratio' ? 41 : 1)
  const calls = Array.from({ length: old }, () => mustEnter(twin))
  // The limit is past but no entry has noticed; the end itself opens.
  mustEnd(twin, last, 'failure')
  twin.wait(100)
  return { twin, calls }
}

/** The same, and half-open with `probes` of them out: they are the last calls of the world. */
const halfOpenWith = (rule: RuleDraft, old: number, probes: number): World => {
  const world = openWith(rule, old)
  for (let i = 0; i < probes; i++) world.calls.push(mustEnter(world.twin))
  return world
}

/** The ends of the calls in flight at the start; `old` calls began alike, so did the `probes` after them. */
const endsOf = (old: number, probes = 0): RaceStep<World>[] => {
  const steps = Array.from({ length: old + probes }, (_, i) => ends(i))
  // Up to three in flight in every order by name; more of them up to a change of names.
  return old + probes < 4 ? steps : alike(alike(steps, 0, old), old, old + probes)
}

/** An entry; what it is admitted as takes the given place among the calls, if it is admitted. */
const enters = (name: string, place: number, after?: string): RaceStep<World> => ({
  name,
  ...(after === undefined ? {} : { after }),
  run: ({ twin, calls }) => {
    calls[place] = twin.enter(place % 2 === 0 ? 'permit' : 'handle')
  },
})

/** The end of a newcomer, admitted by the step `after`; nothing if that was refused. */
const leaves = (place: number, after: string): RaceStep<World> => ends(place, after)

const waits = (ms: number): RaceStep<World> => ({ name: `wait ${ms}`, run: ({ twin }) => twin.wait(ms) })

const fates = (world: World): string => world.twin.events.map(({ from, to }) => `${from}>${to}`).join(' ')

describe('open to half-open', () => {
  it.each([1, 2, 3, 4])(
    'lends one probe and is moved by it alone, among %i old calls coming back in every order',
    (old) => {
      const seen = new Set<string>()
      playAll({
        setUp: () => openWith(COUNT, old),
        steps: [...endsOf(old), enters('probe', old), leaves(old, 'probe')],
        finish: (world) => {
          seen.add(fates(world))
          recovers(world)
        },
      })
      expect([...seen].sort()).toEqual([
        'closed>open open>half-open',
        'closed>open open>half-open half-open>closed',
        'closed>open open>half-open half-open>open',
      ])
    },
  )

  it('lends one probe to the first of two newcomers and refuses the other while the first is out', () => {
    const steps = [ends(0), ends(1), enters('first', 2), leaves(2, 'first'), enters('second', 3), leaves(3, 'second')]
    expect(playAll({ setUp: () => openWith(COUNT, 2), steps, finish: recovers })).toBe(180 * 81)
  })
})

describe('late results', () => {
  it('move no breaker: a call from an earlier era, in every order, outcome and state in which it can arrive', () => {
    const late = (index: number): RaceStep<World> => ({
      name: `late end ${index}`,
      variants: OUTCOMES.length,
      run: ({ twin, calls }, variant) => {
        const before = twin.guard.stats(RESOURCE).rules
        twin.end(calls[index] as Live, OUTCOMES[variant] as ModelOutcome)
        const after = twin.guard.stats(RESOURCE).rules
        if (JSON.stringify(after) !== JSON.stringify(before))
          throw new Error(`a late result changed ${JSON.stringify(before)} to ${JSON.stringify(after)}`)
      },
    })
    const steps = [
      ...alike([late(0), late(1), late(2)], 0, 3),
      enters('probe', 3),
      leaves(3, 'probe'),
      enters('next', 4),
    ]
    for (const rule of [COUNT, { ...SLOW, countRunning: false }]) {
      expect(playAll({ setUp: () => openWith(rule, 3), steps, finish: recovers })).toBe(60 * 81)
    }
  })

  it('are judged where they arrive if the rule says so, in every order of four of them around a probe', () => {
    const steps = [...endsOf(4), enters('probe', 4), leaves(4, 'probe')]
    const rule: RuleDraft = { ...COUNT, lateResults: 'at-arrival', successThreshold: 2 }
    const seen = new Set<string>()
    playAll({ setUp: () => openWith(rule, 4), steps, finish: (world) => seen.add(fates(world)) })
    expect(seen).toContain('closed>open open>half-open half-open>open')
    expect(seen).toContain('closed>open open>half-open half-open>closed closed>open')
  })
})

describe('half-open to closed, and half-open to open', () => {
  it.each([
    [1, 1, 2],
    [1, 1, 4],
    [2, 2, 1],
    [2, 2, 3],
    [3, 3, 2],
    [3, 5, 2],
    [5, 5, 0],
  ])(
    'closes with the last success needed and reopens with the first failure: %i probes, %i successes, %i old calls',
    (probeCount, successThreshold, old) => {
      const seen = new Set<string>()
      const rule = { ...COUNT, probeCount, successThreshold }
      playAll({
        setUp: () => halfOpenWith(rule, old, probeCount),
        steps: endsOf(old, probeCount),
        finish: (world) => {
          seen.add(fates(world))
          recovers(world)
        },
      })
      expect(seen).toContain('closed>open open>half-open half-open>open')
      expect(seen.has('closed>open open>half-open half-open>closed')).toBe(successThreshold === probeCount)
    },
  )

  it('fills each slot that falls free, whatever freed it', () => {
    const rule = { ...COUNT, probeCount: 2, successThreshold: 3 }
    const seen = new Set<string>()
    const steps = [
      ...alike([ends(0), ends(1), ends(2)], 1, 3),
      enters('third', 3),
      leaves(3, 'third'),
      enters('fourth', 4),
    ]
    playAll({
      setUp: () => halfOpenWith(rule, 1, 2),
      steps,
      finish: (world) => {
        seen.add(fates(world))
        recovers(world)
      },
    })
    expect(seen).toContain('closed>open open>half-open half-open>closed')
  })

  it('judges a slow-call probe by its time alone, and one still out past the limit at the next entry', () => {
    const rule = { ...SLOW, probeCount: 2, successThreshold: 2 }
    const seen = new Set<string>()
    const steps = [...alike([ends(0), ends(1), ends(2)], 1, 3), waits(39), enters('look', 3), leaves(3, 'look')]
    playAll({
      setUp: () => halfOpenWith(rule, 1, 2),
      steps,
      finish: (world) => {
        seen.add(fates(world))
        recovers(world)
      },
    })
    expect(seen).toContain('closed>open open>half-open half-open>closed')
    expect(seen).toContain('closed>open open>half-open half-open>open')
  })
})

describe('takeover of a hung probe', () => {
  it('voids it at the entry that finds it overdue, and not before, in every order of five calls', () => {
    // 47 ms and a few steps: the probe timeout of 50 passes in the middle of some orders and not of others.
    const rule = { ...COUNT, probeTimeoutMs: 50 }
    const seen = new Set<string>()
    const steps = [ends(0), ends(1), waits(47), enters('second', 2), leaves(2, 'second'), enters('third', 3)]
    playAll({
      setUp: () => halfOpenWith(rule, 1, 1),
      steps,
      finish: (world) => {
        seen.add(fates(world))
        recovers(world)
      },
    })
    expect(seen).toContain('closed>open open>half-open half-open>closed')
  })

  it('voids every probe out, keeps earned successes, and lets none of the voided ones decide', () => {
    const rule = { ...COUNT, probeCount: 3, successThreshold: 3, probeTimeoutMs: 50 }
    const steps = [
      ...alike([ends(0), ends(1), ends(2)], 0, 3),
      enters('fourth', 3),
      leaves(3, 'fourth'),
      enters('fifth', 4),
    ]
    const voided = new Set<number>()
    playAll({
      setUp: () => {
        const world = halfOpenWith(rule, 0, 3)
        world.twin.wait(46)
        return world
      },
      steps,
      finish: (world) => {
        voided.add(world.twin.events.length)
        recovers(world)
      },
    })
    expect(voided.size).toBeGreaterThan(1)
  })

  it('doubles the time it gives to the next probe until the breaker closes, and never beyond 2^30 ms', () => {
    const twin = new Twin([{ ...COUNT, probeTimeoutMs: 2 ** 29 + 1 }], 0)
    const given = (): number | undefined => twin.guard.stats(RESOURCE).rules[0]?.retryAfterMs
    mustEnd(twin, mustEnter(twin), 'failure')
    twin.wait(100)
    const hung = [2 ** 29 + 1, 2 ** 30, 2 ** 30].map((timeout) => {
      const probe = mustEnter(twin)
      expect(given()).toBe(timeout)
      twin.wait(timeout - 1)
      expect(twin.enter('handle')).toBeUndefined()
      twin.wait(1)
      return probe
    })
    const last = mustEnter(twin)
    for (const probe of hung) mustEnd(twin, probe, 'failure')
    mustEnd(twin, last, 'success')
    expect(twin.guard.stats(RESOURCE).rules[0]?.state).toBe('closed')
    mustEnd(twin, mustEnter(twin), 'failure')
    twin.wait(100)
    mustEnter(twin)
    expect(given()).toBe(2 ** 29 + 1)
  })

  it('keeps the doubled time when a later probe fails and the breaker opens again', () => {
    const twin = new Twin([{ ...COUNT, probeTimeoutMs: 50 }], 0)
    mustEnd(twin, mustEnter(twin), 'failure')
    twin.wait(100)
    mustEnter(twin)
    twin.wait(50)
    mustEnd(twin, mustEnter(twin), 'failure')
    twin.wait(100)
    mustEnter(twin)
    expect(twin.guard.stats(RESOURCE).rules[0]?.retryAfterMs).toBe(100)
  })
})

describe('the end of the time that half-open may last', () => {
  it.each(['open', 'closed'] as const)(
    'makes it %s at the entry that finds it over, among old calls, probes and newcomers in every order',
    (afterHalfOpen) => {
      // 46 ms and a few steps: the 50 are over in the middle of some orders and not of others.
      const rule = { ...COUNT, probeCount: 2, successThreshold: 2, maxHalfOpenMs: 50, afterHalfOpen }
      const seen = new Set<string>()
      const reasons = new Set<string>()
      const steps = [...alike([ends(0), ends(1), ends(2)], 1, 3), waits(46), enters('look', 3), leaves(3, 'look')]
      const played = playAll({
        setUp: () => halfOpenWith(rule, 1, 2),
        steps,
        finish: (world) => {
          seen.add(fates(world))
          for (const { reason } of world.twin.events) reasons.add(reason)
          recovers(world)
        },
      })
      expect(played).toBe(180 * 81)
      expect(reasons).toContain('half-open-timeout')
      const before = 'closed>open open>half-open'
      expect([...seen].sort()).toEqual([
        before,
        `${before} half-open>closed`,
        `${before} half-open>closed closed>open`,
        `${before} half-open>open`,
      ])
    },
  )

  it('that a caller finds long over leaves no cooldown to wait for', () => {
    const rule = { ...COUNT, successThreshold: 2, maxHalfOpenMs: 50 }
    const steps = [ends(0), ends(1), waits(149), enters('late', 2), leaves(2, 'late'), enters('next', 3)]
    const seen = new Set<string>()
    playAll({
      setUp: () => halfOpenWith(rule, 1, 1),
      steps,
      finish: (world) => {
        seen.add(fates(world))
        recovers(world)
      },
    })
    expect(seen).toContain('closed>open open>half-open half-open>open open>half-open half-open>open')
  })
})

describe('traffic that comes back by steps', () => {
  it('lets in who the share lets in, among old calls, the probe that closes and newcomers in every order', () => {
    const rule = { ...COUNT, recoveryMs: 100 }
    const seen = new Set<string>()
    const shares = new Set<number | undefined>()
    const steps = [ends(0), ends(1), waits(57), enters('first', 2), leaves(2, 'first'), enters('second', 3)]
    playAll({
      setUp: () => halfOpenWith(rule, 1, 1),
      steps,
      finish: (world) => {
        shares.add(world.twin.guard.stats(RESOURCE).rules[0]?.admittedShare)
        seen.add(fates(world))
        recovers(world)
      },
    })
    expect(seen).toContain('closed>open open>half-open half-open>closed closed>open')
    expect([...shares].sort()).toEqual([0.1, 0.6, 0.7, 1])
  })
})
