// The public vocabulary of the face: options, results and event payloads. No code.
import type {
  Controller,
  DegradeRule,
  DegradeRuleInput,
  RuleMatch,
  SavedBreaker,
  StateChangeReason,
  StateName,
} from '../rules/index.js'
import type { Clock, MetricSnapshot, MetricWindowOptions } from '../windows/index.js'

export type { StateChangeReason, StateName }

/** How a call ended: `'ignored'` enters no ratio. */
export type OutcomeName = 'success' | 'failure' | 'ignored'

/** What a guarded function is called with. */
export interface CallContext {
  /** The caller's signal if one was given, else a signal of this call that never aborts. */
  readonly signal: AbortSignal
  /** Number of this attempt, from 1. */
  readonly attempt: number
  /** Name of the resource. */
  readonly resource: string
}

/** Why a fallback runs. */
export interface FallbackContext {
  readonly resource: string
  /** As {@link CallContext.signal}. */
  readonly signal: AbortSignal
  /** Which fallback this is, from 0. */
  readonly level: number
  /** `'blocked'`: a refusal; `'failure'`: a throw or rejection; `'result'`: a result classified as failure; `'ignored'`: an ignored error. */
  readonly cause: 'blocked' | 'failure' | 'result' | 'ignored'
}

/** Answers in place of the function. `reason` is the refusal, the error (the same object), or the result classified as failure. */
export type Fallback<T = unknown> = (reason: unknown, context: FallbackContext) => T | PromiseLike<T>

/** A fallback of `entrySync`. */
export type SyncFallback<T = unknown> = (reason: unknown, context: FallbackContext) => T

// biome-ignore lint/suspicious/noExplicitAny: any error class is welcome, whatever its constructor takes
type ErrorClass = abstract new (...args: any[]) => unknown
/** An error class, a value of `error.code`, or a predicate. A function whose prototype is an error is a class; any other is a predicate. */
export type IgnoreMatcher = ErrorClass | string | ((error: unknown) => boolean)

/**
 * Judges a result (`threw` false) or an error (`threw` true). Anything but an outcome name falls through to the default:
 * a throw or rejection is a failure, a result a success.
 */
export type Classify = (resultOrError: unknown, threw: boolean) => OutcomeName | undefined

/** What is not JSON about a resource. A field that is present replaces the earlier one; `undefined` removes it; absent fields stay. */
export interface ResourceConfig {
  classify?: Classify | undefined
  /** Errors that count neither as success nor as failure, e.g. `[NotFoundError, 'ERR_CONFLICT', e => e.status === 404]`. */
  ignore?: IgnoreMatcher | readonly IgnoreMatcher[] | undefined
  /** Graded fallbacks, the first one first. */
  fallbacks?: readonly Fallback[] | undefined
  /** Run the fallbacks on ignored errors too. Default false. */
  fallbackOnIgnored?: boolean | undefined
  /** Custom controllers, checked after all rule families, in this order. */
  rules?: readonly CustomRule[] | undefined
  /**
   * Keep a rolling statistics window: `true` with the defaults, an object with these settings, `false` none. Default: as
   * {@link GuardOptions.statistics} says.
   */
  statistics?: boolean | MetricWindowOptions | undefined
}

/** A controller of the user's own. `id` names it in refusals; default `custom#1`, `custom#2`, ... by position. */
export interface CustomRule extends Controller {
  readonly id?: string
}

/** Options of one `entry`. Per-call fallbacks replace configured ones. */
export interface EntryOptions<T = unknown> {
  /** The caller's signal. Aborted at entry: nothing is asked or counted. Aborted while the call runs: it ends then, as ignored. */
  signal?: AbortSignal | undefined
  fallbacks?: readonly Fallback<T>[] | undefined
  /** Permits this call asks for, an integer >= 1. Default 1. */
  count?: number | undefined
  /** Arguments of the call, for rules that look at them. */
  args?: readonly unknown[] | undefined
  /** Who calls, for rules that look at it. */
  origin?: string | undefined
  /** The entry around this one, where it was made by `enter`; needed only inside a probe of the same resource. */
  parent?: EntryHandle | undefined
}

/** Options of `enter` and `tryEnter`. */
export type EnterOptions = Pick<EntryOptions, 'signal' | 'count' | 'args' | 'origin' | 'parent'>

/** One admitted call in the caller's hands. Ending it twice is harmless. */
export interface EntryHandle {
  readonly resource: string
  /** Ends the call: a success, or judged like a throw if `error` is given and not `undefined`. */
  exit(end?: { error?: unknown }): void
  /** Ends the call as ignored. */
  cancel(): void
  /** Ends the call as ignored if it was not ended: disposal learns nothing of a throw. */
  [Symbol.dispose](): void
}

export interface GuardOptions {
  /**
   * Time source for everything. `'auto'` and `'adaptive'` mean `'precise'` in this version: every call reads the monotonic clock
   * at both ends. An object is a clock of your own, in milliseconds. Default `'auto'`.
   */
  clock?: 'auto' | 'adaptive' | 'precise' | Clock
  /** What a reading earlier than the last one means. `'clamp'`: the last one (default). `'refuse'`: refuse the call. `'raw'`: believe it. */
  onClockBack?: 'clamp' | 'refuse' | 'raw'
  /** What a changed number in a reloaded rule does. `'keep'`: state and statistics stay (default). `'restart'`: the rule starts anew. */
  onRuleChange?: 'keep' | 'restart'
  /** Told once per cause of faults that must not reach a call. Default: `process.emitWarning` with a code. */
  onInternalError?: (error: unknown, where: InternalErrorInfo) => void
  /** Give refusals a stack trace (dear: several microseconds each). Default false. */
  refusalStacks?: boolean
  /** Uniform numbers in [0, 1) for jitter. Default `Math.random`. */
  random?: () => number
  /** Names the guard keeps at once, an integer 1 to 1,000,000. When it is full, a new name takes the place of an idle one. Default 10,000. */
  maxResources?: number
  /**
   * What becomes of a call with a new name when no other name can make room. `'unguarded'`: its function runs under no rule (default).
   * `'shared'`: it is a call of the one resource `(overflow)`, which all such names share and which default rules guard.
   */
  onRegistryFull?: 'unguarded' | 'shared'
  /** Names the guard in snapshots and on diagnostics channels, a non-empty string. Default `'guard'`. */
  name?: string
  /**
   * Keep a rolling statistics window for every resource that is not configured otherwise: `true` with the defaults (10 buckets in 10 s,
   * with percentiles), an object with other settings. `intervalMs` at most 2^30, `bucketCount` at most 10,000. Default false.
   */
  statistics?: boolean | MetricWindowOptions
  /**
   * What an earlier guard's `save()` returned, after any way through JSON. Its names are known at once, and its breakers go on from where
   * they were as soon as their rules are loaded. `null` and `undefined` restore nothing. Default `undefined`.
   */
  restore?: SavedState | null | undefined
}

export interface InternalErrorInfo {
  /** What failed: `'check'`, `'take'`, `'settle'`, `'advance'`, `'classify'`, `'ignore'`, `'listener'`, `'clock'`, ... */
  readonly where: string
  readonly resource: string | undefined
  /** Stable code, e.g. `LEAPGUARD_CUSTOM_RULE`; each is listed in docs/errors.md. */
  readonly code: string
}

/** Rules by family. A family that is absent is left alone. */
export interface RuleSet {
  /** For editors: which JSON Schema the file follows. Not looked at. */
  $schema?: string
  degrade?: readonly DegradeRuleInput[]
}

/** Rules in force, every option explicit. */
export interface LoadedRules {
  degrade: readonly DegradeRule[]
}

/** What a load did, rule by rule as it was loaded, whether or not a name that the rule is for is known. */
export interface ReloadReport {
  readonly at: number
  readonly added: readonly RuleRef[]
  readonly removed: readonly RuleRef[]
  /** Unchanged rules: everything kept. */
  readonly kept: readonly RuleRef[]
  /** Changed numbers, or another pattern under the same `id`: state and statistics kept. */
  readonly updated: readonly RuleRef[]
  /** Started anew: another strategy or window shape, or any change under `onRuleChange: 'restart'`. */
  readonly restarted: readonly RuleRef[]
  /** Breakers that were open or half-open and whose state was dropped by this load, each with the name it was for. */
  readonly dropped: readonly (RuleRef & { readonly resource: string; readonly state: StateName })[]
}

/** A rule by whom it is for and its id. */
export interface RuleRef {
  /** The name or pattern the rule is for; absent for a default rule. */
  readonly resource?: string
  readonly match: RuleMatch
  readonly rule: string
}

/** What a refusal or event says of the rule behind it: the rule in force, or the id of a custom controller. */
export type RuleInfo = DegradeRule | { readonly id: string }

export interface StateChangeEvent {
  readonly type: 'state'
  readonly resource: string
  /** The rule whose breaker changed; `rule.strategy` is its kind. */
  readonly rule: DegradeRule
  readonly from: StateName
  readonly to: StateName
  readonly reason: StateChangeReason
  /** Measured value that decided (ratio 0..1, or a count), 1 for a bad probe; `undefined` where good probes, time or an operator decided. */
  readonly value: number | undefined
  readonly threshold: number
  /** Calls behind `value`. */
  readonly total: number
  /** Epoch milliseconds of the guard's clock. */
  readonly at: number
}

/** Who refused a call. `kind` and `code` tell the cases apart, and with them what `rule` is. */
export type RefusalCause =
  /** The rule with the longest known wait among those that refused; none if the resource is forced open. */
  | { readonly kind: 'degrade'; readonly code: 'ERR_BLOCKED_DEGRADE'; readonly rule: DegradeRule | undefined }
  /** The id of the custom controller. */
  | { readonly kind: 'custom'; readonly code: 'ERR_BLOCKED_CUSTOM'; readonly rule: { readonly id: string } }
  /** The clock stepped back under `onClockBack: 'refuse'`. */
  | { readonly kind: 'clock'; readonly code: 'ERR_BLOCKED_CLOCK'; readonly rule: undefined }

export type BlockedEvent = {
  readonly type: 'blocked'
  readonly resource: string
  readonly retryAfterMs: number | undefined
  readonly at: number
} & RefusalCause

export interface ReloadEvent extends ReloadReport {
  readonly type: 'reload'
}

export interface GuardEvents {
  state: StateChangeEvent
  blocked: BlockedEvent
  reload: ReloadEvent
}

/** A fault that must not reach a call, as `onInternalError` is told. */
export interface FaultEvent extends InternalErrorInfo {
  readonly type: 'fault'
  readonly error: unknown
}

/** What is published on each of the `channels`: the event, and the name of the guard it is of. */
export type ChannelMessages = {
  readonly [N in keyof GuardEvents]: GuardEvents[N] & { readonly guard: string }
} & { readonly fault: FaultEvent & { readonly guard: string } }

/** A channel of `node:diagnostics_channel`, as far as it is needed here: its type asks for no types of Node.js. */
export interface EventChannel<Message> {
  readonly name: string | symbol
  readonly hasSubscribers: boolean
  subscribe(subscriber: (message: Message, name: string | symbol) => void): void
  unsubscribe(subscriber: (message: Message, name: string | symbol) => void): void
  publish(message: Message): void
}

/** Lifetime counts of a resource: integers that no breaker resets. */
export interface ResourceTotals {
  /** Calls admitted. */
  readonly passed: number
  /** Calls refused. They enter no ratio. */
  readonly blocked: number
  readonly succeeded: number
  readonly failed: number
  readonly ignored: number
  /** Ended calls that at least one slow-call rule counted slow, once per call. */
  readonly slow: number
  /** Calls that passed although a dry-run rule would have refused them. */
  readonly wouldBlock: number
  /** Calls in flight. */
  readonly running: number
}

export interface RuleStats {
  readonly id: string
  readonly strategy: DegradeRule['strategy']
  /** State as callers feel it: the stored one unless forced. Reading does not advance it: an open breaker past its cooldown reads `'open'`. */
  readonly state: StateName
  /** When it opened, epoch milliseconds; `undefined` unless open. */
  readonly openedAt?: number | undefined
  /** Cooldown left (0 once past), time until a half-open breaker has room again, or to the next step of a recovery; else `undefined`. */
  readonly retryAfterMs?: number | undefined
  /** Calls in the rule's window now, finished and folded running ones. For `consecutive-errors`: the present run of failures. */
  readonly total: number
  /** Bad ones among them. */
  readonly bad: number
  readonly probesOut: number
  /** Share of calls that are let in while traffic comes back (`recoveryMs`), 0.1 to 1; 1 at all other times. */
  readonly admittedShare: number
  readonly dryRun: boolean
  /** Calls this dry-run rule would have refused. */
  readonly wouldBlock: number
  readonly forced?: 'open' | 'closed' | undefined
}

/** What a guard leaves for the process after it, as plain JSON. All times are epoch ms. */
export interface SavedState {
  readonly version: 1
  readonly savedAt: number
  /** Only names that have something to keep. */
  readonly resources: readonly SavedResource[]
}

export interface SavedResource {
  readonly resource: string
  readonly forced?: 'open' | 'closed'
  /** Only rules whose breaker was not at rest with empty counts. */
  readonly rules: readonly SavedBreaker[]
}

/** The names a guard keeps. */
export interface RegistryStats {
  /** Names kept now. */
  readonly size: number
  readonly maxResources: number
  /** Idle names that were forgotten to make room for new ones. */
  readonly evicted: number
  /** Calls with a name that there was no room for. */
  readonly overflowed: number
}

export interface ResourceStats {
  readonly resource: string
  readonly totals: ResourceTotals
  readonly rules: readonly RuleStats[]
  /** The rolling statistics window; absent unless one is asked for by `statistics`. */
  readonly window?: MetricSnapshot
}

/** All that a guard counts, at one moment, as plain JSON: what would be `undefined` is absent. */
export interface GuardSnapshot {
  /** Of the form of snapshots. */
  readonly version: 1
  /** The guard's name. */
  readonly guard: string
  /** When, epoch milliseconds of the guard's clock. */
  readonly at: number
  /** In the order in which the names were made, the overflow resource last. */
  readonly resources: readonly ResourceStats[]
  readonly registry: RegistryStats
}
