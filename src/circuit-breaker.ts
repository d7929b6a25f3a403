// CircuitBreaker: a thin face on the state machine of consecutive-errors, usable without a guard.

import type { Breaker } from '../rules/index.js'
import { compileDegrade, type Fault, normalizeDegradeRules, STATE_NAMES, show } from '../rules/index.js'
import { entry } from './entry.js'
import { invalidArgument, RuleError } from './errors.js'
import { Resource } from './resource.js'
import { Runtime } from './runtime.js'
import type { CallContext, GuardOptions, StateName } from './types.js'

export interface CircuitBreakerOptions {
  /** Failures in a row that open, integer >= 1. Default 5. */
  failureThreshold?: number
  /** Good probes, one after another, that close, integer >= 1. Default 1. */
  successThreshold?: number
  /** How long it stays open, integer ms, 1 to 2^30. Default 30,000. */
  cooldownMs?: number
  /** As in {@link GuardOptions}. */
  clock?: GuardOptions['clock']
  /** Named in refusals. Default `'circuit-breaker'`. */
  name?: string
}

const OPTIONS: ReadonlySet<string> = new Set<keyof CircuitBreakerOptions>([
  'failureThreshold',
  'successThreshold',
  'cooldownMs',
  'clock',
  'name',
])

/**
 * Opens after `failureThreshold` failures in a row; a success in between starts the count again. After `cooldownMs` one probe at a time is
 * let through; `successThreshold` good ones close it, a bad one opens it again.
 */
export class CircuitBreaker {
  readonly #resource: Resource
  readonly #breaker: Breaker

  /** @throws TypeError for an unknown option, RuleError for a value out of bounds. */
  constructor(options: CircuitBreakerOptions = {}) {
    if (typeof options !== 'object' || options === null)
      throw invalidArgument('CircuitBreaker options must be an object')
    for (const key of Object.keys(options)) {
      if (!OPTIONS.has(key)) throw invalidArgument(`unknown option '${key}'; there are ${[...OPTIONS].join(', ')}`)
    }
    const { failureThreshold = 5, successThreshold = 1, cooldownMs = 30_000, clock, name = 'circuit-breaker' } = options
    const runtime = new Runtime({ name: 'circuit-breaker', ...(clock === undefined ? {} : { clock }) })
    const faults: Fault[] = []
    const rules = normalizeDegradeRules(
      [{ resource: name, strategy: 'consecutive-errors', threshold: failureThreshold, successThreshold, cooldownMs }],
      'options',
      faults,
      undefined,
    )
    if (faults.length > 0) throw new RuleError(faults.map(renamed))
    this.#resource = new Resource(name, runtime)
    const { compiled } = compileDegrade(rules, [], this.#resource, runtime.time.read(), false)
    this.#resource.adopt(compiled)
    this.#breaker = (compiled[0] as (typeof compiled)[0]).breaker
  }

  /** Calls `fn` unless open. Settles like `fn`; rejects with a {@link BlockedError} when open. */
  run<T>(fn: (context: CallContext) => T): Promise<Awaited<T>> {
    return entry(this.#resource, fn, undefined) as Promise<Awaited<T>>
  }

  /** The stored state; an open breaker past its cooldown reads `'open'` until a call comes. */
  get state(): StateName {
    return STATE_NAMES[this.#breaker.snapshot(this.#resource.runtime.time.read()).state] as StateName
  }

  /** Closed, with the count at 0. Calls in flight decide nothing any more. */
  reset(): void {
    const { time, events } = this.#resource.runtime
    this.#resource.reset(time.read())
    if (events.waiting) events.deliver()
  }
}

/** Faults name the options of this class, not the fields of the rule underneath. */
function renamed(fault: Fault): Fault {
  const path = fault.path
    .replace('options[0].', '')
    .replace(/^threshold$/, 'failureThreshold')
    .replace(/^resource$/, 'name')
  return { ...fault, path, message: `${path}: must be ${fault.bound}, got ${show(fault.value)}` }
}
