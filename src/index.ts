// The public face: re-exports only.
export {
  BlockCode,
  type Controller,
  type DegradeRule,
  type DegradeRuleInput,
  type DegradeRuleOptions,
  type DegradeStrategy,
  type Fault,
  Outcome,
  type Permit,
  type RuleMatch,
  type RuleTarget,
  type SavedBreaker,
} from '../rules/index.js'
export {
  type Clock,
  CountingWindow,
  CountWindow,
  LatencyHistogram,
  LeapArray,
  type LeapArrayOptions,
  type MetricSnapshot,
  MetricWindow,
  type MetricWindowOptions,
  PreciseClock,
  type ResponseTimes,
  RollingLatencyHistogram,
  StartRing,
} from '../windows/index.js'
export { channels } from './channels.js'
export { CircuitBreaker, type CircuitBreakerOptions } from './circuit-breaker.js'
export * from './default-guard.js'
export { BlockedError, type BlockKind, type Code, isBlocked, RuleError, StateError } from './errors.js'
export { createGuard, Guard } from './guard.js'
export { type ParseRulesOptions, parseRules, type RuleFormat, readRules } from './sources/file.js'
export type * from './types.js'
