// Has it become worse, or is it noise?

/** A ratio is beyond the bound if it is more than this share above the baseline. */
export const SLACK = 0.15
/** Runs made at most, and how many of them must agree. */
export const RUNS = 3
export const AGREEING = 2
/**
 * Processes behind one run, whose lowest ratio is its result. The engine does not optimise the same code alike in every process, and an
 * unlucky one is up to 30 % slower: noise only ever adds, a real slow-down lifts the lowest too.
 */
export const PROCESSES_LEAST = 2
export const PROCESSES_MOST = 4
/** Bytes a call may rise by: the smallest thing V8 allocates has 16, and counting is exact to about 1 %. */
export const BYTES_SLACK = 8
export const BYTES_SLACK_SHARE = 0.01
/** Byte counts that must all be beyond the bound. One within it proves that no more is allocated; inlining alone can add a boxed number. */
export const BYTE_COUNTS = 4

export type Verdict = 'same' | 'worse' | 'better' | 'undecided'

export function ratioBound(baseline: number): number {
  return baseline * (1 + SLACK)
}

export function bytesBound(baseline: number): number {
  return baseline * (1 + BYTES_SLACK_SHARE) + BYTES_SLACK
}

/** Has a run seen enough processes? More are asked only while all of them are beyond the bound. */
export function runIsDone(baseline: number, ratios: readonly number[]): boolean {
  if (ratios.length < PROCESSES_LEAST) return false
  return ratios.length >= PROCESSES_MOST || Math.min(...ratios) <= ratioBound(baseline)
}

/** Judges the runs made so far, each by its lowest ratio: `AGREEING` of `RUNS` decide. */
export function judge(baseline: number, runs: readonly number[]): Verdict {
  const beyond = runs.filter((ratio) => ratio > ratioBound(baseline)).length
  if (beyond >= AGREEING) return 'worse'
  if (runs.length - beyond < AGREEING) return 'undecided'
  return runs.filter((ratio) => ratioBound(ratio) < baseline).length >= AGREEING ? 'better' : 'same'
}

/** Judges the byte counts made so far. */
export function judgeBytes(baseline: number, counts: readonly number[]): Verdict {
  if (counts.some((bytes) => bytes <= bytesBound(baseline))) {
    if (!counts.every((bytes) => bytesBound(bytes) < baseline)) return 'same'
    return counts.length >= AGREEING ? 'better' : 'undecided'
  }
  return counts.length >= BYTE_COUNTS ? 'worse' : 'undecided'
}
