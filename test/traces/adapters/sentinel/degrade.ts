// Sentinel's circuit breaking, one rule (`degrade`) or several (`degrade-multi`) on one resource.
import {
  BlockCode,
  type CustomRule,
  createGuard,
  type DegradeRuleInput,
  type Guard,
  isBlocked,
  type Permit,
  type StateName,
} from 'leapguard'
import { ManualClock } from 'leapguard/testing'
import type { Adapter, Player, Trace } from '../../types.js'
import { type SentinelDegradeRule, toDegradeRules } from './degrade-rule.js'

const SOURCE = 'alibaba/Sentinel'
const STATE: Record<StateName, string> = { closed: 'CLOSED', open: 'OPEN', 'half-open': 'HALF_OPEN' }

export const degrade: Adapter = {
  source: SOURCE,
  kind: 'degrade',
  open: (trace) =>
    open(
      trace,
      (config) => [config as unknown as SentinelDegradeRule],
      ([state]) => state,
    ),
}

export const degradeMulti: Adapter = {
  source: SOURCE,
  kind: 'degrade-multi',
  open: (trace) =>
    open(
      trace,
      (config) => config.rules as SentinelDegradeRule[],
      (states) => states,
    ),
}

/** Stands behind the breakers: refuses when told to, and notes how long the library says an ended call took. */
class LaterRule implements CustomRule {
  readonly id = 'later'
  refuses = false
  rtMs: number | undefined

  check(): number {
    return this.refuses ? BlockCode.CUSTOM : 0
  }

  settle(now: number, permit: Permit): void {
    this.rtMs = now - permit.start
  }
}

function open(
  { config, steps }: Trace,
  rulesOf: (config: Trace['config']) => readonly SentinelDegradeRule[],
  show: (states: string[]) => unknown,
): Player {
  const resource = String(rulesOf(config)[0]?.resource)
  const clock = new ManualClock(Number(steps[0]?.[0] ?? 0))
  const guard = createGuard({ clock, onClockBack: 'raw', onRuleChange: 'restart' })
  const later = new LaterRule()
  const permits = new Map<unknown, number>()
  const load = (ruleConfig: Trace['config']) => reload(guard, toDegradeRules(rulesOf(ruleConfig)))
  const stateAfter = () => show(guard.stats(resource).rules.map((rule) => STATE[rule.state]))

  guard.configure(resource, { rules: [later] })
  load(config)

  return (step) => {
    const [at, op, subject] = step
    clock.set(at as number)
    switch (op) {
      case 'enter': {
        const permit = guard.tryEnter(resource)
        if (permit >= 0) permits.set(subject, permit)
        return [at, op, subject, permit >= 0, stateAfter()]
      }
      case 'exit': {
        const [, , , , isError] = step
        const permit = permits.get(subject)
        if (permit === undefined) throw new Error(`call ${subject} is not in flight here`)
        permits.delete(subject)
        later.rtMs = undefined
        guard.leave(permit, isError === true ? 'failure' : 'success')
        return [at, op, subject, later.rtMs, isError, stateAfter()]
      }
      case 'enterBlocked':
        return [at, op, subject, passesBreakers(guard, resource, later), stateAfter()]
      case 'rule':
        load(subject as Trace['config'])
        return [at, op, subject, stateAfter()]
      default:
        throw new Error(`unknown operation ${JSON.stringify(op)}`)
    }
  }
}

/**
 * Loads rules after unloading those whose id is gone: a rule that is new in Sentinel's eyes may be equal in ours, and an equal rule
 * would be kept whatever its id.
 */
function reload(guard: Guard, rules: readonly DegradeRuleInput[]): void {
  const inForce = new Set(guard.rules().degrade.map((rule) => rule.id))
  guard.loadDegradeRules(rules.filter((rule) => rule.id !== undefined && inForce.has(rule.id)))
  guard.loadDegradeRules(rules)
}

/** The breakers' own verdict on a call that is refused in any case: a breaker that refuses ranks before the later rule. */
function passesBreakers(guard: Guard, resource: string, later: LaterRule): boolean {
  later.refuses = true
  try {
    guard.enter(resource)
  } catch (error) {
    if (!isBlocked(error)) throw error
    return error.rule?.id === later.id
  } finally {
    later.refuses = false
  }
  throw new Error('a call that the later rule refuses was admitted')
}
