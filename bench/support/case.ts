// What is a case? The contract of every file in bench/: a case names a question, its loops answer it.

/** Makes `calls` calls and returns something that depends on all of them, so that none can be optimised away. */
export type Loop = (calls: number) => number | Promise<number>

/** Two loops that differ in the thing measured only. They share a process and take turns. */
export interface Pair {
  readonly raw: Loop
  readonly guarded: Loop
}

export interface PairCase {
  readonly kind: 'pair'
  /** Stable name `file/what`: the key in result files. */
  readonly id: string
  readonly title: string
  /** Unit of the ratio: what the raw side does. */
  readonly against: string
  /** Report bytes per call too. */
  readonly bytes: boolean
  /** Builds both sides; run in the child process only. */
  build(): Pair | Promise<Pair>
}

/** A case that measures itself and reports named numbers. */
export interface ReadingCase {
  readonly kind: 'reading'
  readonly id: string
  readonly title: string
  read(): Promise<Record<string, number>>
}

export type Case = PairCase | ReadingCase

/** Short form of a pair case. */
export function pair(id: string, title: string, against: string, build: PairCase['build'], bytes = true): PairCase {
  return { kind: 'pair', id, title, against, bytes, build }
}
