export { Breaker, type BreakerSnapshot } from './breaker.js'
export { type Compiled, compileDegrade, type Dropped, type Fate, fatesOf, type RuleFate } from './compile.js'
export {
  BlockCode,
  type CompiledController,
  type Controller,
  Flag,
  type Host,
  type Moment,
  Outcome,
  type Permit,
  STATE_NAMES,
  State,
  type StateChangeReason,
  type StateName,
} from './contract.js'
export { CustomController, type CustomVerb } from './custom.js'
export {
  type DegradeRule,
  type DegradeRuleInput,
  type DegradeRuleOptions,
  type DegradeStrategy,
  type NormalizedRule,
  normalizeDegradeRules,
  type RuleMatch,
  type RuleTarget,
  sameShape,
  type WindowShape,
} from './degrade/rule.js'
export { RuleLevels } from './levels.js'
export { outranks, UNKNOWN_WAIT } from './order.js'
export type { Program } from './pattern/index.js'
export { readRingShape } from './ring-shape.js'
export { checkSavedBreaker, type SavedBreaker } from './saved-breaker.js'
export { isThenable, swallow } from './thenable.js'
export { Checker, type Fault, isPlainObject, show } from './validate.js'
