// Which outcome a result or an error is. First that applies: own refusal, ignore, classify, the default.
// (The caller's abort comes before all of them and is decided in entry.ts.)
import { isThenable, Outcome, swallow } from '../rules/index.js'
import { carriesRefusal, invalidArgument } from './errors.js'
import type { Faults } from './faults.js'
import type { Classify, Fallback, IgnoreMatcher, OutcomeName, ResourceConfig } from './types.js'

const OUTCOMES: Readonly<Record<OutcomeName, Outcome>> = {
  success: Outcome.SUCCESS,
  failure: Outcome.FAILURE,
  ignored: Outcome.IGNORED,
}

/** Outcome of a name as users write it, or undefined. */
export function outcomeOf(name: unknown): Outcome | undefined {
  return typeof name === 'string' && Object.hasOwn(OUTCOMES, name) ? OUTCOMES[name as OutcomeName] : undefined
}

/** What `configure` was told about one resource, checked. */
export class Judge {
  readonly classify: Classify | undefined
  readonly fallbacks: readonly Fallback[]
  readonly fallbackOnIgnored: boolean
  readonly #ignore: readonly ((error: unknown) => boolean)[]
  readonly #resource: string
  readonly #faults: Faults

  constructor(resource: string, config: ResourceConfig, faults: Faults) {
    this.#resource = resource
    this.#faults = faults
    if (config.classify !== undefined && typeof config.classify !== 'function')
      throw invalidArgument('classify must be a function')
    this.classify = config.classify
    this.fallbacks = checkFallbacks(config.fallbacks)
    if (config.fallbackOnIgnored !== undefined && typeof config.fallbackOnIgnored !== 'boolean') {
      throw invalidArgument('fallbackOnIgnored must be true or false')
    }
    this.fallbackOnIgnored = config.fallbackOnIgnored ?? false
    const { ignore = [] } = config
    this.#ignore = (Array.isArray(ignore) ? (ignore as readonly IgnoreMatcher[]) : [ignore as IgnoreMatcher]).map(
      toPredicate,
    )
  }

  ofResult(result: unknown): Outcome {
    return this.#classified(result, false) ?? Outcome.SUCCESS
  }

  /** Of an error that is not a refusal. */
  ofError(error: unknown): Outcome {
    for (const matches of this.#ignore) {
      try {
        const answer: unknown = matches(error)
        if (isThenable(answer)) throw asynchronous('ignore', answer)
        if (answer) return Outcome.IGNORED
      } catch (fault) {
        this.#faults.report('LEAPGUARD_CALLBACK', 'ignore', this.#resource, fault)
      }
    }
    return this.#classified(error, true) ?? Outcome.FAILURE
  }

  #classified(resultOrError: unknown, threw: boolean): Outcome | undefined {
    if (this.classify === undefined) return undefined
    try {
      const name: unknown = this.classify(resultOrError, threw)
      if (isThenable(name)) throw asynchronous('classify', name)
      const outcome = outcomeOf(name)
      if (outcome === undefined && name !== undefined) {
        throw new TypeError(`classify must return 'success', 'failure', 'ignored' or undefined, got ${String(name)}`)
      }
      return outcome
    } catch (fault) {
      this.#faults.report('LEAPGUARD_CALLBACK', 'classify', this.#resource, fault)
      return undefined
    }
  }
}

export function outcomeOfError(judge: Judge | null, error: unknown): Outcome {
  if (carriesRefusal(error)) return Outcome.IGNORED
  return judge === null ? Outcome.FAILURE : judge.ofError(error)
}

export function checkFallbacks(fallbacks: unknown): readonly Fallback[] {
  if (fallbacks === undefined) return []
  if (!Array.isArray(fallbacks) || !fallbacks.every((f) => typeof f === 'function')) {
    throw invalidArgument('fallbacks must be an array of functions, the first one first')
  }
  return [...fallbacks]
}

function toPredicate(matcher: IgnoreMatcher): (error: unknown) => boolean {
  if (typeof matcher === 'string') return (error) => codeOf(error) === matcher
  if (typeof matcher !== 'function') {
    throw invalidArgument('ignore takes error classes, error codes (strings) and predicates')
  }
  if (matcher === Error || matcher.prototype instanceof Error) {
    return (error) => error instanceof (matcher as unknown as new () => unknown)
  }
  return matcher as (error: unknown) => boolean
}

/** A promise is no answer, and its rejection must not end the process. */
function asynchronous(callback: string, answer: PromiseLike<unknown>): TypeError {
  swallow(answer)
  return new TypeError(`${callback} must answer at once, not with a promise`)
}

function codeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null ? (error as { code?: unknown }).code : undefined
}
