// A dependency behind one rule, in virtual time, and what is to be counted about it.
import { createGuard, type DegradeRuleOptions, type Guard } from 'leapguard'
import { ManualClock } from 'leapguard/testing'

export type Rule = DegradeRuleOptions

export class Service {
  readonly clock: ManualClock
  readonly guard: Guard
  /** Calls that reached the dependency. */
  reached = 0
  refused = 0
  /** Times the breaker opened because of the threshold. */
  trips = 0
  private readonly name: string
  private closedMs = 0
  private closedSince: number | undefined = 0

  constructor(rule: Rule, options: { name?: string; clock?: ManualClock; random?: () => number } = {}) {
    const { name = 'service', clock = new ManualClock(), random = () => 0 } = options
    this.name = name
    this.clock = clock
    this.guard = createGuard({ clock, random })
    this.guard.setRulesFor(name, { degrade: [rule] })
    this.guard.on('state', ({ from, to, reason, at }) => {
      if (reason === 'threshold') this.trips++
      if (from === 'closed') this.closedMs += at - (this.closedSince ?? at)
      this.closedSince = to === 'closed' ? at : undefined
    })
  }

  /** A call that takes no time. Returns whether it reached the dependency. */
  call(fails: boolean): boolean {
    const permit = this.guard.tryEnter(this.name)
    if (permit < 0) {
      this.refused++
      return false
    }
    this.reached++
    this.guard.leave(permit, fails ? 'failure' : 'success')
    return true
  }

  /** A call that ends well after `rtMs`, if it is let in. */
  callTaking(rtMs: number): void {
    const permit = this.guard.tryEnter(this.name)
    if (permit < 0) {
      this.refused++
      return
    }
    this.reached++
    this.clock.setTimer(() => this.guard.leave(permit), rtMs)
  }

  get state(): string {
    return this.guard.stats(this.name).rules[0]?.state ?? 'closed'
  }

  /** As {@link call}, from the clock's time on in steps of `gapMs`. Moves the clock past refusals, which change nothing. Not counted as refused. */
  callEvery(gapMs: number, fails: () => boolean): void {
    const reached = this.call(fails())
    const waitMs = reached ? 0 : (this.guard.stats(this.name).rules[0]?.retryAfterMs ?? 0)
    this.clock.advance(Math.max(1, Math.ceil(waitMs / gapMs)) * gapMs)
  }

  /** Share of the time so far for which the breaker was closed. */
  get closedShare(): number {
    const now = this.clock.now()
    return (this.closedMs + (this.closedSince === undefined ? 0 : now - this.closedSince)) / now
  }

  /** Share of the calls so far that were refused. */
  get refusedShare(): number {
    return this.refused / (this.refused + this.reached)
  }
}
