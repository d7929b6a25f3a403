// In which order the families of one resource are asked, and which of several refusals a caller hears.

/**
 * Order of the rule families. It decides ties between refusals and nothing else: all controllers are asked anyway, and asking changes nothing.
 */
export const FAMILY_ORDER = [
  'degrade', // the dependency's own health
  'custom', // whatever the user adds comes last, so that it can trust the rest
] as const

/** Rank of an unknown wait: below every known one. */
export const UNKNOWN_WAIT = -1

/** Does a later refusal replace an earlier one? Only with a longer wait; ties keep the earlier controller. */
export function outranks(wait: number, best: number): boolean {
  return wait > best
}
