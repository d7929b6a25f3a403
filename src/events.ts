// Events: queued while an operation runs, delivered synchronously once it is complete, to the guard's own listeners and then on the
// diagnostics channels. Free when nobody listens.
import { type DegradeRule, isThenable, STATE_NAMES, type State, type StateChangeReason } from '../rules/index.js'
import { channels } from './channels.js'
import type { BlockedError } from './errors.js'
import { invalidArgument } from './errors.js'
import type { Faults } from './faults.js'
import type { BlockedEvent, EventChannel, GuardEvents, ReloadReport, StateChangeEvent } from './types.js'

type Name = keyof GuardEvents
type AnyEvent = GuardEvents[Name]
interface Listener {
  readonly hear: (event: never) => unknown
  /** Tells listeners apart when they fail. */
  readonly id: string
}

export class Events {
  /** Events wait to be delivered. The gatehouse looks at this after every operation. */
  waiting = false
  private readonly faults: Faults
  /** The guard's name. */
  private readonly guard: string
  /** Copied on write, so that a delivery under way keeps the list it began with. */
  private readonly listenersOf: Record<Name, readonly Listener[]> = { state: [], blocked: [], reload: [] }
  private queue: AnyEvent[] = []
  private delivering = false
  private subscriptions = 0
  private closed = false

  constructor(faults: Faults, guard: string) {
    this.faults = faults
    this.guard = guard
  }

  /** Somebody listens to refusals. */
  get hearsBlocked(): boolean {
    return this.hears('blocked')
  }

  on<N extends Name>(name: N, listener: (event: GuardEvents[N]) => void): () => void {
    if (!Object.hasOwn(this.listenersOf, name)) {
      throw invalidArgument(`there is no event '${String(name)}'; there are 'state', 'blocked' and 'reload'`)
    }
    if (typeof listener !== 'function') throw invalidArgument('an event listener must be a function')
    const entry: Listener = { hear: listener as (event: never) => unknown, id: `${name} #${++this.subscriptions}` }
    this.set(name, [...this.listenersOf[name], entry])
    return () =>
      this.set(
        name,
        this.listenersOf[name].filter((other) => other !== entry),
      )
  }

  /** Nothing is told any more. */
  close(): void {
    this.closed = true
    for (const name of Object.keys(this.listenersOf) as Name[]) this.set(name, [])
    this.queue = []
    this.waiting = false
  }

  stateChanged(
    resource: string,
    rule: DegradeRule,
    from: State,
    to: State,
    reason: StateChangeReason,
    value: number | undefined,
    total: number,
    at: number,
  ): void {
    if (!this.hears('state')) return
    this.push({
      type: 'state',
      resource,
      rule,
      from: STATE_NAMES[from] as StateChangeEvent['from'],
      to: STATE_NAMES[to] as StateChangeEvent['to'],
      reason,
      value,
      threshold: rule.threshold,
      total,
      at,
    })
  }

  blocked(refusal: BlockedError, at: number): void {
    const { resource, kind, code, rule, retryAfterMs } = refusal
    this.push({ type: 'blocked', resource, kind, code, rule, retryAfterMs, at } as BlockedEvent)
  }

  reloaded(report: ReloadReport): void {
    if (this.hears('reload')) this.push({ type: 'reload', ...report })
  }

  /** Delivers what waits, in order. What listeners cause meanwhile joins the end of the same queue. */
  deliver(): void {
    if (this.delivering) return
    this.delivering = true
    for (let i = 0; i < this.queue.length; i++) {
      const event = this.queue[i] as AnyEvent
      for (const listener of this.listenersOf[event.type]) this.tell(listener, event)
      const channel = channels[event.type] as EventChannel<AnyEvent & { guard: string }>
      if (channel.hasSubscribers) channel.publish({ ...event, guard: this.guard })
    }
    this.queue = []
    this.waiting = false
    this.delivering = false
  }

  /** Subscribers of a channel come and go at any time and tell nobody: looked at anew each time. */
  private hears(name: Name): boolean {
    return !this.closed && (this.listenersOf[name].length > 0 || channels[name].hasSubscribers)
  }

  private tell(listener: Listener, event: AnyEvent): void {
    try {
      const result: unknown = listener.hear(event as never)
      if (isThenable(result)) Promise.resolve(result).catch((error: unknown) => this.failed(error, listener))
    } catch (error) {
      this.failed(error, listener)
    }
  }

  private failed(error: unknown, listener: Listener): void {
    this.faults.report('LEAPGUARD_LISTENER', 'listener', undefined, error, listener.id)
  }

  private push(event: AnyEvent): void {
    this.queue.push(event)
    this.waiting = true
  }

  private set(name: Name, listeners: readonly Listener[]): void {
    this.listenersOf[name] = listeners
  }
}
