// The caller: asks for users through the guard and takes whatever answer it can get. The whole use of leapguard is in `ask`.
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { CallContext, Guard } from 'leapguard'
import { percentile } from './percentile.js'
import { RESOURCE } from './rules-file.js'

interface User {
  id: number
  name: string
}

/** A caller who waits for an answer, and may give up. */
interface Caller {
  since: number
  /** Let through to the upstream. */
  sent: boolean
  slow: boolean
  patience: AbortController
}

interface Answer {
  user: User
  from: 'upstream' | 'cache' | 'default'
}

/** What the callers met in one slice. */
export interface Felt {
  calls: number
  slow: number
  /** Includes those still waiting, with their wait so far: a p99 of finished calls alone would look best when everything hangs. */
  p99Ms: number | undefined
  fromUpstream: number
  fromCache: number
  fromDefault: number
  /** Callers whose request was aborted by the demo. */
  aborted: number
  /** Calls not made because too many were in flight. */
  heldBack: number
  /** Callers that got an error: none, as long as the last fallback works. */
  unanswered: number
}

export interface ClientOptions {
  guard: Guard
  url: string
  cacheMs: number
  slowLimitMs: number | undefined
  now: () => number
  maxInFlight?: number
}

const USERS = 50

export class Client {
  readonly #o: ClientOptions
  readonly #maxInFlight: number
  readonly #cache = new Map<number, { user: User; at: number }>()
  readonly #waiting = new Set<Caller>()
  #felt = nothingFelt()
  #waits: number[] = []
  #turn = 0

  constructor(options: ClientOptions) {
    this.#o = options
    this.#maxInFlight = options.maxInFlight ?? 600
  }

  get inFlight(): number {
    return this.#waiting.size
  }

  /** One guarded call with graded fallbacks: the upstream, else a cached answer that is not too old, else a default. */
  #ask(id: number, caller: Caller): Promise<Answer> {
    const fetchUser = ({ signal }: CallContext) => {
      caller.sent = true
      return this.#fetchUser(id, signal)
    }
    return this.#o.guard.entry(RESOURCE, fetchUser, {
      signal: caller.patience.signal,
      fallbacks: [() => this.#cached(id), () => ({ user: { id, name: 'somebody' }, from: 'default' })],
    })
  }

  async #fetchUser(id: number, signal: AbortSignal): Promise<Answer> {
    const response = await fetch(`${this.#o.url}/users/${id}`, { signal })
    const body = await response.text()
    if (!response.ok) throw new Error(`${response.status}: ${body}`)
    const user = JSON.parse(body) as User
    this.#cache.set(id, { user, at: this.#o.now() })
    return { user, from: 'upstream' }
  }

  #cached(id: number): Answer {
    const kept = this.#cache.get(id)
    if (kept === undefined) throw new Error(`user ${id} was never seen`)
    if (this.#o.now() - kept.at > this.#o.cacheMs) throw new Error(`what we know of user ${id} is too old`)
    return { user: kept.user, from: 'cache' }
  }

  call(): void {
    if (this.#waiting.size >= this.#maxInFlight) {
      this.#felt.heldBack++
      return
    }
    this.#felt.calls++
    const caller: Caller = { since: this.#o.now(), sent: false, slow: false, patience: new AbortController() }
    this.#waiting.add(caller)
    this.#ask(1 + (this.#turn++ % USERS), caller).then(
      (answer) => {
        this.#end(caller)
        this.#waits.push(this.#o.now() - caller.since)
        if (answer.from === 'upstream') this.#felt.fromUpstream++
        else if (answer.from === 'cache') this.#felt.fromCache++
        else this.#felt.fromDefault++
      },
      () => {
        this.#end(caller)
        if (caller.patience.signal.aborted) this.#felt.aborted++
        else this.#felt.unanswered++
      },
    )
  }

  /** Loads the HTTP client and opens connections, so that the first guarded calls are not slow for reasons of their own. */
  async warmUp(): Promise<void> {
    const ids = Array.from({ length: USERS }, (_, i) => i + 1)
    for (let round = 0; round < 4; round++) {
      await Promise.all(ids.map((id) => this.#fetchUser(id, new AbortController().signal)))
    }
  }

  /**
   * Everybody who waits now gives up; later calls are not concerned. A few at a time: to abort hundreds of requests at once
   * stops the event loop long enough to make healthy calls slow.
   */
  async abortAll(why: string): Promise<void> {
    const leaving = [...this.#waiting]
    while (leaving.length > 0) {
      for (const caller of leaving.splice(0, 5)) caller.patience.abort(new Error(why))
      await nextTurn()
    }
  }

  /** What was felt since the last time this was asked. */
  takeFelt(): Felt {
    const now = this.#o.now()
    const waits = this.#waits
    for (const caller of this.#waiting) {
      waits.push(now - caller.since)
      this.#noticeSlow(caller, now)
    }
    const felt = { ...this.#felt, p99Ms: percentile(waits, 0.99) }
    this.#felt = nothingFelt()
    this.#waits = []
    return felt
  }

  #end(caller: Caller): void {
    this.#waiting.delete(caller)
    this.#noticeSlow(caller, this.#o.now())
  }

  /** Once per call, in the slice in which it is noticed, ended or not. */
  #noticeSlow(caller: Caller, now: number): void {
    const limit = this.#o.slowLimitMs
    if (limit === undefined || !caller.sent || caller.slow || now - caller.since <= limit) return
    caller.slow = true
    this.#felt.slow++
  }
}

function nothingFelt(): Felt {
  return {
    calls: 0,
    slow: 0,
    p99Ms: undefined,
    fromUpstream: 0,
    fromCache: 0,
    fromDefault: 0,
    aborted: 0,
    heldBack: 0,
    unanswered: 0,
  }
}
