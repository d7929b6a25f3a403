// What the parts of the replayer hand to one another. No code.

/** One recorded step: inputs and results in a fixed order, e.g. `[at, 'enter', callId, admitted, stateAfter]`. */
export type Step = readonly unknown[]

/** One line of a recording: what an original system decided, call by call, under a controlled clock. */
export interface Trace {
  readonly source: string
  readonly kind: string
  readonly name: string
  readonly config: Readonly<Record<string, unknown>>
  readonly steps: readonly Step[]
  /** Where it was read, `file:line`. */
  readonly place: string
}

/** Plays one step on the library and returns it as the library would have recorded it: the same inputs, its own results. */
export type Player = (step: Step) => Step

/**
 * Translates the recordings of one source and kind (and `config.class`, where a kind has classes) into calls of the public API.
 * It knows words, not algorithms, and nothing about any single recording.
 */
export interface Adapter {
  readonly source: string
  readonly kind: string
  readonly class?: string
  open(trace: Trace): Player
}

/** What became of one trace. */
export interface Replayed {
  readonly trace: Trace
  /** Steps whose every result was equal. */
  readonly matched: number
  /** The first difference in words; `undefined` if all was equal. */
  readonly difference: string | undefined
  /** False if no adapter knows this source, kind and class: nothing was played. */
  readonly known: boolean
}
