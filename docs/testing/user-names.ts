// A guarded service as an application might have it. It is handed its guard, so that a test can hand it one with a clock of its own.
import type { Guard, RuleSet } from 'leapguard'

export const RULES: RuleSet = {
  degrade: [
    { resource: 'users', strategy: 'error-ratio', threshold: 0.5, cooldownMs: 5000 },
    { resource: 'users', strategy: 'slow-call-ratio', threshold: 0.5, maxAllowedRtMs: 800, cooldownMs: 5000 },
  ],
}

export type FetchName = (id: string, signal: AbortSignal) => Promise<string>

/** Asks the service for the name of a user, or says 'somebody' on bad days. */
export function userNames(guard: Guard, fetchName: FetchName): (id: string) => Promise<string> {
  return (id) => guard.entry('users', ({ signal }) => fetchName(id, signal), { fallbacks: [() => 'somebody'] })
}
