import { createGuard, type DegradeRule, type DegradeRuleOptions } from 'leapguard'

export type RuleInput = DegradeRuleOptions

/** Rules of 'user-service' with every option explicit. */
export function rulesOf(...inputs: readonly RuleInput[]): readonly DegradeRule[] {
  const guard = createGuard()
  guard.loadDegradeRules(inputs.map((input) => ({ resource: 'user-service', ...input })))
  return guard.rules().degrade
}

export const ERRORS = {
  id: 'errors',
  strategy: 'error-ratio',
  threshold: 0.3,
  minRequestAmount: 20,
  statIntervalMs: 1000,
  cooldownMs: 1000,
} as const

export const SLOWNESS = {
  id: 'slowness',
  strategy: 'slow-call-ratio',
  threshold: 0.5,
  maxAllowedRtMs: 400,
  minRequestAmount: 20,
  statIntervalMs: 1000,
  cooldownMs: 1000,
} as const
