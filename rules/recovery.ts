// Gradual recovery: which calls a breaker that has just closed lets back in. Pure, so that a check may ask as often as it likes.

/** Steps of a recovery: the share let in grows by a tenth at each. */
const STEPS = 10

/**
 * Ten calls in a row, by their number modulo ten, in the order in which a growing share takes them in:
 *
 * ```
 * number   0 1 2 3 4 5 6 7 8 9
 * 1 of 10                    x
 * 2 of 10          x         x
 * 4 of 10      x   x     x   x
 * 8 of 10  x   x x x x   x x x      what is left out lies apart too
 * ```
 *
 * A call that passes at one share passes at every greater one. So where several rules recover at once, the least share decides, and not
 * the small part that their choices happen to have in common.
 */
const RANKS = [4, 9, 3, 7, 1, 5, 8, 2, 6, 0] as const

/** How many of ten calls pass when `elapsedMs` of a recovery are over: 1 to 10; 10 once it has ended. */
export function tenthsAt(elapsedMs: number, recoveryMs: number): number {
  const elapsed = Math.max(0, elapsedMs)
  return elapsed >= recoveryMs ? STEPS : Math.min(STEPS, 1 + Math.floor((elapsed * STEPS) / recoveryMs))
}

/** Does the call with this number, counting all that were offered, pass at a share of so many tenths? */
export function isLetIn(offered: number, tenths: number): boolean {
  return (RANKS[offered % STEPS] as number) < tenths
}

/** When, counted from the beginning, more than `tenths` of ten calls pass. */
export function nextStepMs(tenths: number, recoveryMs: number): number {
  return (tenths * recoveryMs) / STEPS
}
