// Wraps a user's controller: whatever it does wrong stays here, is reported, and never reaches the call.
import {
  BlockCode,
  type CompiledController,
  type Controller,
  Flag,
  type Moment,
  type Outcome,
  type Permit,
} from './contract.js'
import { isThenable, swallow } from './thenable.js'

export type CustomVerb = 'advance' | 'check' | 'take' | 'settle' | 'waitMs'

export class CustomController implements CompiledController {
  readonly rule: { readonly id: string }
  readonly inner: Controller
  readonly since: number
  private readonly report: (error: unknown, verb: CustomVerb, id: string) => void

  /** @param since first sequence number that concerns this rule: calls from before it was configured are not its own. */
  constructor(
    id: string,
    inner: Controller,
    since: number,
    report: (error: unknown, verb: CustomVerb, id: string) => void,
  ) {
    this.rule = Object.freeze({ id })
    this.inner = inner
    this.since = since
    this.report = report
  }

  advance(moment: Moment): void {
    if (this.inner.advance === undefined) return
    const { now } = moment
    try {
      synchronous(this.inner.advance(now))
    } catch (error) {
      this.report(error, 'advance', this.rule.id)
    }
    moment.now = now // the user's code may have made calls of its own
  }

  /** A positive answer is `BlockCode.CUSTOM`; a negative one is passed on; one that throws or is no number passes the call. */
  check(moment: Moment, count: number): number {
    const { now } = moment
    let verdict: unknown
    try {
      verdict = synchronous(this.inner.check(now, count))
      if (typeof verdict !== 'number' || Number.isNaN(verdict)) throw new TypeError('check must return a number')
    } catch (error) {
      this.report(error, 'check', this.rule.id)
      verdict = 0
    }
    moment.now = now
    return (verdict as number) > 0 ? BlockCode.CUSTOM : (verdict as number)
  }

  take(moment: Moment, permit: Permit): boolean {
    if (this.inner.take === undefined) return true
    const { now } = moment
    let taken = true
    try {
      synchronous(this.inner.take(now, permit))
    } catch (error) {
      this.report(error, 'take', this.rule.id)
      taken = false
    }
    moment.now = now
    return taken
  }

  settle(moment: Moment, permit: Permit, outcome: Outcome): number {
    if (this.inner.settle === undefined || ((permit.seq - this.since) | 0) < 0) return 0
    const { now } = moment
    let flags: unknown
    try {
      flags = synchronous(this.inner.settle(now, permit, outcome))
    } catch (error) {
      this.report(error, 'settle', this.rule.id)
    }
    moment.now = now
    return typeof flags === 'number' ? flags & Flag.SLOW : 0
  }

  waitMs(now: number): number | undefined {
    if (this.inner.waitMs === undefined) return undefined
    try {
      const wait = synchronous(this.inner.waitMs(now))
      return typeof wait === 'number' && wait >= 0 ? wait : undefined
    } catch (error) {
      this.report(error, 'waitMs', this.rule.id)
      return undefined
    }
  }

  holdsProbe(): boolean {
    return false
  }
}

/** A verb that returns a promise has not decided anything yet: that is a fault, and its rejection must not end the process. */
function synchronous(result: unknown): unknown {
  if (!isThenable(result)) return result
  swallow(result)
  throw new TypeError('a controller must answer at once, not with a promise')
}
