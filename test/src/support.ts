// A guard whose faults are written down, and an ear for rejections that nobody handles.
import { setImmediate } from 'node:timers/promises'
import { createGuard, type Guard, type GuardOptions, type InternalErrorInfo } from 'leapguard'
import { ManualClock } from 'leapguard/testing'

export interface ToldFault extends InternalErrorInfo {
  readonly error: unknown
}

export interface Watched {
  readonly guard: Guard
  readonly clock: ManualClock
  readonly faults: ToldFault[]
  /** Code and verb of each fault told so far. */
  told(): [string, string][]
}

export function watched(options: GuardOptions = {}): Watched {
  const clock = new ManualClock(0)
  const faults: ToldFault[] = []
  const guard = createGuard({ clock, onInternalError: (error, info) => faults.push({ error, ...info }), ...options })
  return { guard, clock, faults, told: () => faults.map(({ code, where }) => [code, where]) }
}

/** A rule that opens at the first failure, for a second. */
export const HAIR = { strategy: 'error-count', threshold: 1, cooldownMs: 1000 } as const

/** Opens every breaker of a resource by a failure. */
export const fail = (guard: Guard, resource = 'r'): void => guard.enter(resource).exit({ error: new Error('failed') })

/** Rejections that `act` leaves unhandled. Meanwhile nobody else hears of them. */
export async function unhandledBy(act: () => unknown): Promise<unknown[]> {
  const others = process.listeners('unhandledRejection')
  const seen: unknown[] = []
  process.removeAllListeners('unhandledRejection')
  process.on('unhandledRejection', (reason) => seen.push(reason))
  try {
    await act()
    await setImmediate() // real time: node tells of unhandled rejections once a turn of the event loop
    await setImmediate() // real time: the same
  } finally {
    process.removeAllListeners('unhandledRejection')
    for (const other of others) process.on('unhandledRejection', other)
  }
  return seen
}

/** What `act` throws. */
export function thrown(act: () => unknown): unknown {
  try {
    act()
  } catch (error) {
    return error
  }
  throw new Error('nothing was thrown')
}

export const INVALID = { name: 'TypeError', code: 'ERR_INVALID_ARGUMENT' }
