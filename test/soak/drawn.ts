// One example of an arbitrary, decided by the chance of the round.
import fc from 'fast-check'
import { anyRule, type Strategy } from '../support/model-arbitraries.js'
import type { RuleDraft } from '../support/model-guard.js'
import type { Random } from './random.js'

export const drawn = <T>(arbitrary: fc.Arbitrary<T>, random: Random): T =>
  fc.sample(arbitrary, { seed: random.int(2 ** 31), numRuns: 1 })[0] as T

const STRATEGIES: readonly Strategy[] = ['slow-call-ratio', 'error-ratio', 'error-count', 'consecutive-errors']

export const anyRuleFor = (random: Random, id: string): RuleDraft => ({
  ...drawn(anyRule(random.pick(STRATEGIES)), random),
  id,
})
