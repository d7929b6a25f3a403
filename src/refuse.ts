// From a block code to what the caller gets: a fresh error, on a promise that is handled before it rejects.
import { BlockedError } from './errors.js'
import { refusal } from './pipeline.js'
import type { Resource } from './resource.js'

/** The error of the refusal that was just decided, counted and told to those who listen. */
export function refuse(resource: Resource, code: number): BlockedError {
  const error = blockedError(resource, code)
  tally(resource, error)
  return error
}

/** The same for a caller who wants no error. */
export function countRefusal(resource: Resource, code: number): void {
  tally(resource, resource.runtime.events.hearsBlocked ? blockedError(resource, code) : undefined)
}

function tally(resource: Resource, error: BlockedError | undefined): void {
  resource.blocked++
  const { events, time } = resource.runtime
  if (resource.statistics !== null) resource.statistics.blocked(time)
  if (error !== undefined && events.hearsBlocked) events.blocked(error, refusal.at)
  if (events.waiting) events.deliver()
}

function blockedError(resource: Resource, code: number): BlockedError {
  const error = new BlockedError(code, resource.name, refusal.by?.rule, refusal.waitMs)
  if (resource.runtime.refusalStacks) Error.captureStackTrace(error, refuse)
  return error
}

let rejectLast: (reason: unknown) => void
const keepReject = (_resolve: unknown, reject: (reason: unknown) => void): void => {
  rejectLast = reject
}
const nothing = (): void => {}

/**
 * A promise rejected with a refusal. It has a handler before it rejects, so a refusal that nobody awaits raises no
 * unhandledRejection, and the hook that Node runs for those, which would be most of the cost, is never entered.
 */
export function refusedPromise(error: BlockedError): Promise<never> {
  const promise = new Promise<never>(keepReject)
  promise.then(undefined, nothing)
  rejectLast(error)
  return promise
}
