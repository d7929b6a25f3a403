// Each strategy against its model: random options, random schedules, admission, state and counts compared after every step.
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { anyMove, anyRule, anyStart, play, type Strategy } from '../support/model-arbitraries.js'
import { type RuleDraft, Twin } from '../support/model-guard.js'

// Thousands of random schedules; more than enough on a slow machine.
vi.setConfig({ testTimeout: 60_000 })

const schedule = fc.array(anyMove, { minLength: 1, maxLength: 50, size: 'max' })

const CHANGES = ['closed to open', 'open to half-open', 'half-open to closed', 'half-open to open']

/** Compares, and returns which changes of state the schedules have been through. */
const compare = (rule: fc.Arbitrary<RuleDraft>, numRuns: number): string[] => {
  const changes = new Set<string>()
  fc.assert(
    fc.property(rule, anyStart, schedule, (draft, start, moves) => {
      const twin = new Twin([draft], start)
      twin.agree('the start')
      play(twin, moves)
      for (const { from, to } of twin.events) changes.add(`${from} to ${to}`)
    }),
    { numRuns },
  )
  return [...changes]
}

const STRATEGIES: readonly Strategy[] = ['slow-call-ratio', 'error-ratio', 'error-count', 'consecutive-errors']

describe.each(STRATEGIES)('%s against its model', (strategy) => {
  it('admits, counts and changes state as the model does, through every change of state', () => {
    expect(compare(anyRule(strategy), 600)).toEqual(expect.arrayContaining(CHANGES))
  })

  it('agrees with the model when late results are ignored, and when they are judged at arrival', () => {
    for (const lateResults of ['ignore', 'at-arrival'] as const) {
      const rule = anyRule(strategy).map((draft) => ({
        ...draft,
        threshold: 1,
        ...(strategy === 'consecutive-errors' ? {} : { minRequestAmount: 1 }),
        comparison: 'at-or-above' as const,
        lateResults,
        dryRun: false,
      }))
      expect(compare(rule, 300)).toEqual(expect.arrayContaining(CHANGES))
    }
  })
})

describe('several rules on one resource against their models', () => {
  it('admits only what every rule admits, and names the rule with the longest known wait', () => {
    const rules = fc.tuple(
      anyRule('error-count'),
      anyRule('consecutive-errors'),
      anyRule('slow-call-ratio'),
      anyRule('error-ratio'),
    )
    const changes = new Set<string>()
    fc.assert(
      fc.property(rules, anyStart, schedule, (drafts, start, moves) => {
        const twin = new Twin(drafts, start)
        play(twin, moves)
        for (const event of twin.events) changes.add(`${event.from} to ${event.to}`)
      }),
      { numRuns: 500 },
    )
    expect([...changes]).toEqual(expect.arrayContaining(CHANGES))
  })
})
