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
export function admit(resource: Resource, now: number, count: number, parents: readonly number[] | null): number {
  const { controllers, runtime } = resource
  if (runtime.time.wentBack) return refuseWithoutRule(BlockCode.CLOCK, runtime.time, now)
  if (resource.forcedOpen) return refuseWithoutRule(BlockCode.DEGRADE, runtime.time, now)
  try {
    for (let i = 0; i < controllers.length; i++) {
      const controller = controllers[i] as CompiledController
      controller.advance(now)
      const verdict = controller.check(now, count)
      if (verdict !== 0) return weigh(controllers, i, now, count, parents)
    }
  } catch (error) {
    runtime.faults.report('LEAPGUARD_INTERNAL', 'check', resource.name, error)
  }
  return 0
}

/** The resource is forced open, or the clock stepped back where that refuses. */
function refuseWithoutRule(code: BlockCode, time: GuardTime, now: number): number {
  time.wentBack = false
  refusal.by = undefined
  refusal.waitMs = undefined
  refusal.at = now
  return code
}

/** Somebody refused: ask the rest as well, and name the one with the longest known wait. */
function weigh(
  controllers: readonly CompiledController[],
  from: number,
  now: number,
  count: number,
  parents: readonly number[] | null,
): number {
  let code = 0
  let longest = UNKNOWN_WAIT
  for (let i = from; i < controllers.length; i++) {
    const controller = controllers[i] as CompiledController
    if (i > from) controller.advance(now)
    const verdict = controller.check(now, count)
    if (verdict === 0 || (parents !== null && controller.holdsProbe(parents))) continue
    const waitMs = verdict < 0 ? -verdict : controller.waitMs(now)
    if (code !== 0 && !outranks(waitMs ?? UNKNOWN_WAIT, longest)) continue
    code = verdict < 0 ? BlockCode.CUSTOM : verdict
    longest = waitMs ?? UNKNOWN_WAIT
    refusal.by = controller
    refusal.waitMs = waitMs
    refusal.at = now
  }
  return code
}

/** All agreed: count the call in and let every controller take what it uses. */
export function take(resource: Resource, now: number, permit: PooledPermit): void {
  resource.passed++
  resource.running++
  const { controllers, runtime } = resource
  let i = 0
  try {
    while (i < controllers.length && (controllers[i] as CompiledController).take(now, permit)) i++
  } catch (error) {
    runtime.faults.report('LEAPGUARD_INTERNAL', 'take', resource.name, error)
  }
  if (i < controllers.length) giveBack(controllers, i, now, permit)
  if ((permit.flags & Flag.WOULD_BLOCK) !== 0) resource.wouldBlock++
  if (runtime.events.waiting) runtime.events.deliver()
}

/** A controller failed while taking: those before it get their part back, and the call runs unguarded. */
function giveBack(controllers: readonly CompiledController[], failed: number, now: number, permit: PooledPermit): void {
  for (let i = 0; i < failed; i++) (controllers[i] as CompiledController).settle(now, permit, Outcome.IGNORED)
  permit.unguarded = true
  permit.special = true
  permit.flags &= ~Flag.PROBE
}

/** The call has ended: every controller learns, the counters too, the permit goes back. */
export function settle(permit: PooledPermit, outcome: Outcome): void {
  const resource = permit.owner
  const { runtime, controllers } = resource
  const now = runtime.time.readSettled()
  let flags = 0
  if (!permit.unguarded) {
    try {
      for (let i = 0; i < controllers.length; i++) {
        flags |= (controllers[i] as CompiledController).settle(now, permit, outcome)
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
  runtime.permits.release(permit)
  if (runtime.events.waiting) runtime.events.deliver()
}

/** The function gave a result. */
export function returned(permit: PooledPermit, result: unknown): Outcome {
  const { judge } = permit.owner
  const outcome = judge === null ? Outcome.SUCCESS : judge.ofResult(result)
  settle(permit, outcome)
  return outcome
}

/** The function threw or rejected. */
export function failed(permit: PooledPermit, error: unknown): Outcome {
  const outcome = outcomeOfError(permit.owner.judge, error)
  settle(permit, outcome)
  return outcome
}
