// The ways in which a guarded function may end, and what its caller must then get.
import { BlockCode, BlockedError, type Fallback, type OutcomeName, type ResourceConfig } from 'leapguard'
import type { Random } from './random.js'

/** Thrown or returned with what `classify` is to make of it. */
export class Classified extends Error {
  constructor(readonly verdict: OutcomeName) {
    super(`classified as ${verdict}`)
  }
}

export class Benign extends Error {}

/** Judges by the verdict that results and errors carry. */
export const CONFIG: ResourceConfig = {
  ignore: [Benign, 'E_BENIGN', (error) => error === 'benign'],
  classify: (value) => (value instanceof Classified ? value.verdict : undefined),
}

export interface Ending {
  readonly outcome: OutcomeName
  readonly threw: boolean
  /** What is returned or thrown. */
  readonly value: unknown
}

const returning = (outcome: OutcomeName, value: unknown): Ending => ({ outcome, threw: false, value })
const throwing = (outcome: OutcomeName, value: unknown): Ending => ({ outcome, threw: true, value })

const refusal = (): unknown =>
  new Error('refused within', { cause: new BlockedError(BlockCode.DEGRADE, 'elsewhere', undefined, 5) })

const ENDINGS: Readonly<Record<OutcomeName, readonly (() => Ending)[]>> = {
  success: [
    () => returning('success', { plain: true }),
    () => returning('success', undefined),
    () => returning('success', new Classified('success')),
    () => throwing('success', new Classified('success')),
  ],
  failure: [
    () => throwing('failure', new Error('bad')),
    () => throwing('failure', undefined),
    () => throwing('failure', new Classified('failure')),
    () => returning('failure', new Classified('failure')),
  ],
  ignored: [
    () => throwing('ignored', new Benign()),
    () => throwing('ignored', Object.assign(new Error('coded'), { code: 'E_BENIGN' })),
    () => throwing('ignored', 'benign'),
    () => throwing('ignored', refusal()),
    () => throwing('ignored', new Classified('ignored')),
    () => returning('ignored', new Classified('ignored')),
  ],
}

export const anyEnding = (random: Random, outcome: OutcomeName): Ending => random.pick(ENDINGS[outcome])()

export const anyOutcome = (random: Random): OutcomeName =>
  random.weighted<OutcomeName>({ success: 5, failure: 4, ignored: 1 })

/** How a call settled. */
export type Settled = { readonly value: unknown } | { readonly error: unknown }

/** A list of fallbacks, and what comes of it when it is asked. */
export interface Fallbacks {
  readonly list: readonly Fallback[]
  readonly answer: Settled
  /** The reason that the levels were given, if they were asked. */
  asked: { readonly reason: unknown } | undefined
}

const SYNCHRONOUS = ['at once', 'at the second level', 'never'] as const
const ANSWERS = [...SYNCHRONOUS, 'by promise'] as const

/** @param mayWait an asynchronous caller, to whom a promise is an answer. */
export const anyFallbacks = (random: Random, mayWait: boolean): Fallbacks => {
  const kind = random.pick<(typeof ANSWERS)[number]>(mayWait ? ANSWERS : SYNCHRONOUS)
  const result = { answered: kind }
  const error = new Error('no level answers')
  const fallbacks: { asked: Fallbacks['asked'] } & Omit<Fallbacks, 'asked'> = {
    asked: undefined,
    answer: kind === 'never' ? { error } : { value: result },
    list: [
      (reason) => {
        fallbacks.asked = { reason }
        if (kind === 'at once') return result
        if (kind === 'by promise') return Promise.resolve(result)
        throw error
      },
      () => {
        if (kind === 'at the second level') return result
        throw error
      },
    ],
  }
  return fallbacks
}

/** Do fallbacks answer for it? They do for failures, thrown or not, and for a refusal that a nested call passed on. */
export const isAnsweredFor = ({ outcome, threw, value }: Ending): boolean =>
  outcome === 'failure' || (threw && value instanceof Error && value.cause instanceof BlockedError)
