// Every code the library can show, in one table, and the errors that carry them. A code is for ever; a message may improve.
import { BlockCode, type Fault, show } from '../rules/index.js'
import type { RefusalCause, RuleInfo } from './types.js'

/** Code -> what it means. docs/errors.md says what to do; a test holds the two together. */
export const CODES = {
  ERR_BLOCKED_DEGRADE:
    'A degrade rule refused the call: its breaker is open, or half-open with all probes out, or forced open.',
  ERR_BLOCKED_CUSTOM: 'A custom controller refused the call.',
  ERR_BLOCKED_CLOCK: "The clock stepped back and the guard was made with onClockBack: 'refuse'.",
  ERR_RULE_INVALID: 'A rule list was refused as a whole; the rules in force are unchanged.',
  ERR_STATE_INVALID: 'A saved state was refused as a whole; nothing of it was restored and there is no guard.',
  ERR_INVALID_ARGUMENT: 'An argument or option is not what the documentation asks for.',
  ERR_SYNC_PROMISE: 'entrySync was given a function that returns a promise.',
  ERR_REGISTRY_FULL: 'A new name was to be configured or forced, and no name the guard knows could make room for it.',
  ERR_GUARD_DISPOSED: 'The guard was configured after dispose().',
  ERR_PEER_MISSING: 'A package that is needed for what was asked is not installed.',
  LEAPGUARD_CUSTOM_RULE: 'A custom controller threw or answered nonsense; the call went on without it.',
  LEAPGUARD_CALLBACK: 'A classify, ignore or random callback threw or answered nonsense; the default was used.',
  LEAPGUARD_LISTENER: 'An event listener threw; calls and other listeners went on.',
  LEAPGUARD_CLOCK: 'The clock threw or gave no finite number; the last good reading was used.',
  LEAPGUARD_INTERNAL: 'A fault of the library itself; the call went on unguarded.',
  LEAPGUARD_REGISTRY_FULL:
    'A call came with a new name and no known name could make room; such calls run as onRegistryFull says.',
  LEAPGUARD_TWO_VERSIONS: 'Two versions of the package are in one process, and each has a default guard of its own.',
  LEAPGUARD_DISPOSED: 'A call was made through a guard after dispose(); it ran unguarded.',
} as const

export type Code = keyof typeof CODES
export type BlockKind = RefusalCause['kind']

const BLOCKS: Readonly<Record<number, { code: Code; kind: BlockKind }>> = {
  [BlockCode.DEGRADE]: { code: 'ERR_BLOCKED_DEGRADE', kind: 'degrade' },
  [BlockCode.CUSTOM]: { code: 'ERR_BLOCKED_CUSTOM', kind: 'custom' },
  [BlockCode.CLOCK]: { code: 'ERR_BLOCKED_CLOCK', kind: 'clock' },
}

const BRAND = Symbol.for('leapguard.blocked')
const RULE_BRAND = Symbol.for('leapguard.rule-error')

/**
 * A refusal: the function was not called. Fresh for every refused call, extensible, and without a stack unless the guard was made with
 * `refusalStacks: true`; an instance of `Error`, recognised across copies of the package by {@link isBlocked} and by `instanceof`.
 * `kind`, `code` and `rule` go together: once `kind` is known, so is the type of `rule`.
 */
export type BlockedError = Refused & RefusalCause

interface Refused extends Error {
  readonly name: 'BlockedError'
  readonly resource: string
  /** How long to wait before trying again, ms: cooldown left, or time to probe takeover. `undefined` if nobody knows. */
  readonly retryAfterMs: number | undefined
}

// Not `extends Error`: running Error's constructor costs a microsecond even with a stack limit of 0, which under overload would be
// most of a refusal. The prototype chain is Error's all the same. `message` and `stack` are made when somebody reads them.
class Refusal {
  readonly code: Code
  readonly resource: string
  readonly kind: BlockKind
  readonly rule: RuleInfo | undefined
  readonly retryAfterMs: number | undefined

  constructor(blockCode: number, resource: string, rule: RuleInfo | undefined, retryAfterMs: number | undefined) {
    const { code, kind } = BLOCKS[blockCode] as { code: Code; kind: BlockKind }
    this.code = code
    this.resource = resource
    this.kind = kind
    this.rule = rule
    this.retryAfterMs = retryAfterMs
  }

  get message(): string {
    const by =
      this.rule === undefined
        ? this.kind === 'clock'
          ? 'a clock that stepped back'
          : 'forced open'
        : `rule ${show(this.rule.id)}`
    const wait = this.retryAfterMs === undefined ? '' : `, retry after ${Math.ceil(this.retryAfterMs)} ms`
    return `resource ${show(this.resource)} is blocked (${by}${wait})`
  }

  set message(value: string) {
    own(this, 'message', value)
  }

  get stack(): string {
    return `BlockedError: ${this.message}`
  }

  set stack(value: string) {
    own(this, 'stack', value)
  }
}

function own(target: object, key: string, value: unknown): void {
  Object.defineProperty(target, key, { value, writable: true, configurable: true, enumerable: false })
}

Object.setPrototypeOf(Refusal.prototype, Error.prototype)
own(Refusal.prototype, 'name', 'BlockedError')
Object.defineProperty(Refusal.prototype, BRAND, { value: true })
Object.defineProperty(Refusal, 'name', { value: 'BlockedError' })
instanceByBrand(Refusal, BRAND)

/** The class of refusals, for `instanceof`: true of the refusals of any copy of the package. */
export const BlockedError = Refusal as unknown as {
  readonly prototype: BlockedError
  new (blockCode: number, resource: string, rule: RuleInfo | undefined, retryAfterMs: number | undefined): BlockedError
}

/** Is this a refusal of this library, whichever copy of it made it? Never throws. */
export function isBlocked(error: unknown): error is BlockedError {
  return carries(error, BRAND)
}

function carries(value: unknown, brand: symbol): boolean {
  if (typeof value !== 'object' || value === null) return false
  try {
    return (value as Record<symbol, unknown>)[brand] === true
  } catch {
    return false // a proxy that throws is nothing of ours
  }
}

/** `instanceof` by brand, so that it holds across copies of the package. A subclass of the user's own is one class, as ever. */
function instanceByBrand(own: abstract new (...args: never[]) => unknown, brand: symbol): void {
  const ordinary = Function.prototype[Symbol.hasInstance]
  Object.defineProperty(own, Symbol.hasInstance, {
    value(this: unknown, value: unknown): boolean {
      return this === own ? carries(value, brand) : ordinary.call(this, value)
    },
  })
}

/** How many causes deep a refusal is looked for. */
const CAUSE_DEPTH = 4

/** Is this a refusal, or an error with one within four causes? */
export function carriesRefusal(error: unknown): boolean {
  try {
    let link: unknown = error
    for (let depth = 0; depth <= CAUSE_DEPTH; depth++) {
      if (typeof link !== 'object' || link === null) return false
      if ((link as Record<symbol, unknown>)[BRAND] === true) return true
      link = (link as { cause?: unknown }).cause
    }
  } catch {
    // reading a stranger's property threw: then it is not ours
  }
  return false
}

/** A rule list that was refused as a whole. `instanceof` is true of those of any copy of the package. */
export class RuleError extends Error {
  override readonly name = 'RuleError' as const
  readonly code = 'ERR_RULE_INVALID' as const
  /** Everything that is wrong with the list. */
  readonly faults: readonly Fault[]
  /** The file that the rules were read from. */
  readonly file: string | undefined

  constructor(faults: readonly Fault[], file?: string) {
    const lines = faults.map((fault) => placeOf(fault, file) + fault.message)
    super(listed(`in ${file === undefined ? 'the rules' : file}, nothing was applied`, lines))
    this.faults = faults
    this.file = file
  }
}
Object.defineProperty(RuleError.prototype, RULE_BRAND, { value: true })
instanceByBrand(RuleError, RULE_BRAND)

/** As editors and terminals know it: `rules.yaml:12:5: `. */
function placeOf({ line, column }: Fault, file: string | undefined): string {
  if (line === undefined) return ''
  return file === undefined ? `line ${line}, column ${column}: ` : `${file}:${line}:${column}: `
}

/** A saved state that was refused as a whole. */
export class StateError extends TypeError {
  override readonly name = 'StateError'
  readonly code = 'ERR_STATE_INVALID'
  /** Everything that is wrong with it. */
  readonly faults: readonly Fault[]

  constructor(faults: readonly Fault[]) {
    const lines = faults.map(({ message }) => message)
    super(listed('in the saved state, nothing was restored', lines))
    this.faults = faults
  }
}

function listed(what: string, lines: readonly string[]): string {
  if (lines.length === 1) return `1 fault ${what}: ${lines[0]}`
  return `${lines.length} faults ${what}:\n${lines.map((line) => `  - ${line}`).join('\n')}`
}

/** A package that is needed for what was asked, and is not there. */
export function peerMissing(message: string, cause?: unknown): Error {
  return Object.assign(new Error(message, { cause }), { code: 'ERR_PEER_MISSING' satisfies Code })
}

/** A wrong argument: the caller's mistake, told at once. */
export function invalidArgument(message: string, code: Code = 'ERR_INVALID_ARGUMENT'): TypeError {
  return Object.assign(new TypeError(message), { code })
}
