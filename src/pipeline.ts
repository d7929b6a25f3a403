// The gatehouse: the three loops over a resource's controllers, and its counters. Hot; nothing else lives here.
import { BlockCode, type CompiledController, Flag, Outcome, outranks, UNKNOWN_WAIT } from '../rules/index.js'
import { outcomeOfError } from './outcome.js'
import type { PooledPermit } from './permit.js'
import type { Resource } from './resource.js'
import type { GuardTime } from './time.js'

/** What the last refusal was about. Read at once by the entrance, before anything else can be refused. */
export const refusal: { by: CompiledController | undefined; waitMs: number | undefined; at: number } = {
  by: undefined,
  waitMs: undefined,
  at: 0,
}

/** May a call pass? 0, or the block code of the refusal that {@link refusal} describes. Takes nothing. */
export function admit(resource: Resource, count: number, parents: readonly number[] | null): number {
  const { controllers, runtime } = resource
  const { time } = runtime
  resource.lastUsed = time.now
  if (time.wentBack) return refuseWithoutRule(BlockCode.CLOCK, time)
  if (resource.forcedOpen) return refuseForced(resource, time)
  try {
    for (let i = 0; i < controllers.length; i++) {
      const controller = controllers[i] as CompiledController
      controller.advance(time)
      const verdict = controller.check(time, count)
      if (verdict !== 0) return weigh(controllers, i, time, count, parents)
    }
  } catch (error) {
    runtime.faults.report('LEAPGUARD_INTERNAL', 'check', resource.name, error)
  }
  return 0
}

/** The resource is forced open, or the clock stepped back where that refuses. */
function refuseWithoutRule(code: BlockCode, time: GuardTime): number {
  time.wentBack = false
  refusal.by = undefined
  refusal.waitMs = undefined
  refusal.at = time.now
  return code
}

/** What time alone decides goes on underneath. */
function refuseForced({ controllers, runtime, name }: Resource, time: GuardTime): number {
  try {
    for (const controller of controllers) controller.advance(time)
  } catch (error) {
    runtime.faults.report('LEAPGUARD_INTERNAL', 'advance', name, error)
  }
  return refuseWithoutRule(BlockCode.DEGRADE, time)
}

/** Somebody refused: ask the rest as well, and name the one with the longest known wait. */
function weigh(
  controllers: readonly CompiledController[],
  from: number,
  time: GuardTime,
  count: number,
  parents: readonly number[] | null,
): number {
  let code = 0
  let longest = UNKNOWN_WAIT
  let by: CompiledController | undefined
  let wait: number | undefined
  for (let i = from; i < controllers.length; i++) {
    const controller = controllers[i] as CompiledController
    if (i > from) controller.advance(time)
    const verdict = controller.check(time, count)
    if (verdict === 0 || (parents !== null && controller.holdsProbe(parents))) continue
    const waitMs = verdict < 0 ? -verdict : controller.waitMs(time.now)
    if (code !== 0 && !outranks(waitMs ?? UNKNOWN_WAIT, longest)) continue
    code = verdict < 0 ? BlockCode.CUSTOM : verdict
    longest = waitMs ?? UNKNOWN_WAIT
    by = controller
    wait = waitMs
  }
  // Written last: a custom rule that was asked may have been refused elsewhere meanwhile.
  refusal.by = by
  refusal.waitMs = wait
  refusal.at = time.now
  return code
}

/** All agreed: count the call in and let every controller take what it uses. */
export function take(resource: Resource, permit: PooledPermit): void {
  resource.passed++
  resource.running++
  const { controllers, runtime, statistics } = resource
  if (statistics !== null) statistics.passed(runtime.time)
  let i = 0
  try {
    while (i < controllers.length && (controllers[i] as CompiledController).take(runtime.time, permit)) i++
  } catch (error) {
    runtime.faults.report('LEAPGUARD_INTERNAL', 'take', resource.name, error)
  }
  if (i < controllers.length) giveBack(resource, controllers, i, permit)
  if ((permit.flags & Flag.WOULD_BLOCK) !== 0) resource.wouldBlock++
  if (runtime.events.waiting) runtime.events.deliver()
}

/** A controller failed while taking: those before it get their part back, and the call runs unguarded. */
function giveBack(
  { runtime, name }: Resource,
  controllers: readonly CompiledController[],
  failedAt: number,
  permit: PooledPermit,
): void {
  permit.unguarded = true
  permit.special = true
  permit.flags &= ~Flag.PROBE
  for (let i = 0; i < failedAt; i++) {
    try {
      ;(controllers[i] as CompiledController).settle(runtime.time, permit, Outcome.IGNORED)
    } catch (error) {
      runtime.faults.report('LEAPGUARD_INTERNAL', 'settle', name, error)
    }
  }
}

/** The call has ended: every controller learns, the counters too, the permit goes back. */
export function settle(permit: PooledPermit, outcome: Outcome): void {
  const resource = permit.owner
  const { runtime, controllers, statistics } = resource
  const { time } = runtime
  time.tickSettled()
  let flags = 0
  if (!permit.unguarded) {
    try {
      for (let i = 0; i < controllers.length; i++) {
        flags |= (controllers[i] as CompiledController).settle(time, permit, outcome)
      }
    } catch (error) {
      runtime.faults.report('LEAPGUARD_INTERNAL', 'settle', resource.name, error)
    }
  }
  resource.running--
  if (outcome === Outcome.SUCCESS) resource.succeeded++
  else if (outcome === Outcome.FAILURE) resource.failed++
  else resource.ignored++
  if ((flags & Flag.SLOW) !== 0) resource.slow++
  if (statistics !== null) statistics.ended(time, permit, outcome, flags)
  runtime.permits.release(permit)
  if (runtime.events.waiting) runtime.events.deliver()
}

/** The function gave a result. */
export function returned(permit: PooledPermit, result: unknown): Outcome {
  const { judge } = permit.owner
  if (judge === null) {
    settle(permit, Outcome.SUCCESS)
    return Outcome.SUCCESS
  }
  const { life } = permit
  const outcome = judge.ofResult(result)
  if (permit.isLive(life)) settle(permit, outcome) // else the judging callback has ended the call itself
  return outcome
}

/** The function threw or rejected. */
export function failed(permit: PooledPermit, error: unknown): Outcome {
  const { life } = permit
  const outcome = outcomeOfError(permit.owner.judge, error)
  if (permit.isLive(life)) settle(permit, outcome)
  return outcome
}
