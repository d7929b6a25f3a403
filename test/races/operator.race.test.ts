// What an operator does in the middle of calls: reload, force, reset. Each at every place among up to five ends.
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

const RULE: RuleDraft = {
  strategy: 'error-count',
  id: 'a',
  threshold: 2,
  statIntervalMs: 1000,
  bucketCount: 10,
  cooldownMs: 100,
  probeCount: 2,
}
const LOWERED: RuleDraft = { ...RULE, threshold: 1 }
const RAISED: RuleDraft = { ...RULE, threshold: 4, cooldownMs: 200 }
const RESHAPED: RuleDraft = { ...RULE, statIntervalMs: 2000 }

const STATES = ['closed', 'open', 'half-open'] as const
type State = (typeof STATES)[number]

/** Two of those in flight are probes, of five only one. */
const probesOf = (state: State, count: number): number => {
  if (state !== 'half-open') return 0
  return count === 5 ? 1 : Math.min(2, count)
}

/** The breaker in the given state with `count` calls in flight, begun while closed; half-open, the last of them are probes. */
const inState = (state: State, count: number): World => {
  const twin = new Twin([RULE], 5000)
  const trip = state === 'closed' ? [] : [mustEnter(twin), mustEnter(twin)]
  const calls = Array.from({ length: count - probesOf(state, count) }, () => mustEnter(twin))
  for (const call of trip) mustEnd(twin, call, 'failure')
  if (state === 'half-open') {
    twin.wait(100)
    for (let i = 0; i < probesOf(state, count); i++) calls.push(mustEnter(twin))
  }
  return { twin, calls }
}

const step = (name: string, run: (twin: Twin) => void, after?: string): RaceStep<World> => ({
  name,
  ...(after === undefined ? {} : { after }),
  run: ({ twin }) => run(twin),
})

const newcomer = (after?: string, place = 5): RaceStep<World> => ({
  name: 'entry',
  ...(after === undefined ? {} : { after }),
  run: ({ twin, calls }) => {
    calls[place] = twin.enter('handle')
  },
})

/** Up to three calls around one step in every order by name; more of either up to a change of names, since calls that began alike cannot be told apart. */
const play = (state: State, count: number, steps: readonly RaceStep<World>[], finish = recovers): number => {
  const old = count - probesOf(state, count)
  const all = [...endsOf(count), ...steps]
  const named = steps.length === 1 && count < 4 ? all : alike(alike(all, 0, old), old, count)
  return playAll({ setUp: () => inState(state, count), steps: named, finish })
}

describe.each(STATES)('in the middle of calls, begun while %s', (state) => {
  describe.each([1, 2, 3, 4, 5])('with %i in flight', (count) => {
    it('a reload that changes a number keeps state and counts and holds from the next event', () => {
      if (count < 5) play(state, count, [step('lower', (twin) => twin.reload([LOWERED]))])
      play(state, count, [step('raise', (twin) => twin.reload([RAISED]))])
    })

    it('a reload that changes nothing changes nothing', () => {
      const reload = step('reload', (twin) => {
        const before = JSON.stringify(twin.guard.stats(RESOURCE))
        twin.reload(twin.rules)
        if (JSON.stringify(twin.guard.stats(RESOURCE)) !== before) throw new Error('the reload showed')
      })
      play(state, Math.min(count, 4), [reload])
    })

    it('a reload that changes the shape of the window starts anew and ignores whoever was in flight', () => {
      play(state, count, [step('reshape', (twin) => twin.reload([RESHAPED]))])
    })

    it('forcing open and giving back restores what the calls made of the breaker meanwhile', () => {
      const force = step('force open', (twin) => twin.forceOpen())
      const auto = step('auto', (twin) => twin.auto(), 'force open')
      play(state, count, count < 5 ? [force, auto] : [force], (world) => {
        world.twin.auto()
        world.twin.agree('auto')
        recovers(world)
      })
    })

    it('a reset closes with fresh counts and ignores whoever was in flight', () => {
      const reset = step('reset', (twin) => {
        const { running } = twin.guard.stats(RESOURCE).totals
        twin.reset()
        const zeroed = { passed: 0, blocked: 0, succeeded: 0, failed: 0, ignored: 0, slow: 0, wouldBlock: 0, running }
        const { totals } = twin.guard.stats(RESOURCE)
        for (const [name, value] of Object.entries(zeroed))
          if (totals[name as keyof typeof totals] !== value) throw new Error(`${name} is not ${value} after a reset`)
      })
      play(state, count, [reset], (world) => {
        const { running } = world.twin.guard.stats(RESOURCE).totals
        if (running !== 0) throw new Error(`${running} still running`)
        recovers(world)
      })
    })
  })

  it('a newcomer is admitted or refused as predicted, before and after a reload, a reset, or a force', () => {
    for (const change of [
      step('lower', (twin) => twin.reload([LOWERED])),
      step('reshape', (twin) => twin.reload([RESHAPED])),
      step('reset', (twin) => twin.reset()),
    ])
      expect(play(state, 3, [change, newcomer()])).toBe((state === 'half-open' ? 60 : 20) * 27)
  })

  it('forced open refuses every newcomer, at every place among the ends', () => {
    const forced = [step('force open', (twin) => twin.forceOpen()), step('auto', (twin) => twin.auto(), 'force open')]
    expect(play(state, 3, [...forced, newcomer('force open')])).toBe((state === 'half-open' ? 120 : 40) * 27)
  })

  it('forced closed admits every newcomer, at every place among the ends', () => {
    const forced = [
      step('force closed', (twin) => twin.forceClosed()),
      step('auto', (twin) => twin.auto(), 'force closed'),
    ]
    expect(play(state, 3, [...forced, newcomer('force closed')])).toBe((state === 'half-open' ? 120 : 40) * 27)
  })

  it('forced closed lets a closed breaker learn from newcomers and gives any other none of their results', () => {
    const steps = [
      step('force closed', (twin) => twin.forceClosed()),
      newcomer('force closed', 2),
      ends(2, 'entry'),
      step('auto', (twin) => twin.auto(), 'force closed'),
    ]
    expect(play(state, 2, steps)).toBe(45 * 27)
  })

  it('force-open beats force-closed in whichever order they are set, and one auto clears both', () => {
    const steps = [
      step('force closed', (twin) => twin.forceClosed()),
      step('force open', (twin) => twin.forceOpen()),
      step('auto', (twin) => twin.auto(), 'force open'),
      newcomer(),
    ]
    play(state, 2, steps, (world) => {
      world.twin.auto()
      world.twin.agree('the last auto')
      recovers(world)
    })
  })
})

describe.each(STATES)('a reload under force, begun while %s', (state) => {
  it.each(['forceOpen', 'forceClosed'] as const)('leaves the force in place whatever it drops: %s', (force) => {
    for (const reload of [
      step('reshape', (twin) => twin.reload([RESHAPED])),
      step('lower', (twin) => twin.reload([LOWERED])),
      step('reset', (twin) => twin.reset()),
    ]) {
      const auto = step('auto', (twin) => twin.auto(), 'force')
      play(state, 2, [step('force', (twin) => twin[force]()), auto, reload])
      play(state, 1, [step('force', (twin) => twin[force]()), auto, reload, newcomer()])
    }
  })
})

describe('the count of running calls', () => {
  it('survives a reset and comes down to zero', () => {
    const { twin, calls } = inState('closed', 5)
    twin.reset()
    expect(twin.guard.stats(RESOURCE).totals.running).toBe(5)
    for (const [i, call] of calls.entries()) {
      mustEnd(twin, call, 'success')
      expect(twin.guard.stats(RESOURCE).totals.running).toBe(4 - i)
    }
  })
})
