// What a pattern says, whichever language it was written in. Characters are code points.

/** Sorted, disjoint ranges of code points: [first, last, first, last, ...], both ends included. */
export type Ranges = readonly number[]

export const Assertion = { START: 0, END: 1, WORD_EDGE: 2, NO_WORD_EDGE: 3 } as const
export type Assertion = (typeof Assertion)[keyof typeof Assertion]

export type Node =
  | { readonly kind: 'set'; readonly ranges: Ranges }
  | { readonly kind: 'assert'; readonly assertion: Assertion }
  | { readonly kind: 'all'; readonly of: readonly Node[] }
  | { readonly kind: 'any'; readonly of: readonly Node[] }
  | { readonly kind: 'repeat'; readonly of: Node; readonly min: number; readonly max: number }

export const LAST_CODE_POINT = 0x10ffff
export const ANYTHING: Ranges = [0, LAST_CODE_POINT]

/** A pattern that cannot be used, and where (index of a UTF-16 code unit). */
export class PatternFault extends Error {
  readonly at: number

  constructor(at: number, reason: string) {
    super(reason)
    this.at = at
  }
}

export function one(codePoint: number): Node {
  return { kind: 'set', ranges: [codePoint, codePoint] }
}

/** Ranges in any order, overlapping or not, made sorted and disjoint. */
export function tidy(ranges: Ranges): Ranges {
  const pairs: [number, number][] = []
  for (let i = 0; i < ranges.length; i += 2) pairs.push([ranges[i] as number, ranges[i + 1] as number])
  pairs.sort((a, b) => a[0] - b[0])
  const tidied: number[] = []
  for (const [first, last] of pairs) {
    const end = tidied.length - 1
    if (end > 0 && first <= (tidied[end] as number) + 1) tidied[end] = Math.max(tidied[end] as number, last)
    else tidied.push(first, last)
  }
  return tidied
}

/** All code points that are not in sorted, disjoint ranges. */
export function complement(ranges: Ranges): Ranges {
  const rest: number[] = []
  let next = 0
  for (let i = 0; i < ranges.length; i += 2) {
    if ((ranges[i] as number) > next) rest.push(next, (ranges[i] as number) - 1)
    next = (ranges[i + 1] as number) + 1
  }
  if (next <= LAST_CODE_POINT) rest.push(next, LAST_CODE_POINT)
  return rest
}

/** Is the code point in sorted, disjoint ranges? By halving: a class may have hundreds, and is asked at every instruction. */
export function holds(ranges: Ranges, codePoint: number): boolean {
  let from = 0
  let to = ranges.length >> 1
  while (from < to) {
    const middle = (from + to) >> 1
    if (codePoint < (ranges[2 * middle] as number)) to = middle
    else if (codePoint > (ranges[2 * middle + 1] as number)) from = middle + 1
    else return true
  }
  return false
}
