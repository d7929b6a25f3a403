// Wraps a user's controller: whatever it does wrong stays here, is reported, and never reaches the call.
import { BlockCode, type CompiledController, type Controller, Flag, type Outcome, type Permit } from './contract.js'

export type CustomVerb = 'advance' | 'check' | 'take' | 'settle' | 'waitMs'

export class CustomController implements CompiledController {
  readonly rule: { readonly id: string }
  readonly #inner: Controller
  readonly #report: (error: unknown, verb: CustomVerb, id: string) => void

  constructor(id: string, inner: Controller, report: (error: unknown, verb: CustomVerb, id: string) => void) {
    this.rule = Object.freeze({ id })
    this.#inner = inner
    this.#report = report
  }

  advance(now: number): void {
    if (this.#inner.advance === undefined) return
    try {
      this.#inner.advance(now)
    } catch (error) {
      this.#report(error, 'advance', this.rule.id)
    }
  }

  /** A positive answer is `BlockCode.CUSTOM`; a negative one is passed on; one that throws or is no number passes the call. */
  check(now: number, count: number): number {
    try {
      const verdict: unknown = this.#inner.check(now, count)
      if (typeof verdict === 'number' && !Number.isNaN(verdict)) return verdict > 0 ? BlockCode.CUSTOM : verdict
      this.#report(new TypeError('check must return a number'), 'check', this.rule.id)
    } catch (error) {
      this.#report(error, 'check', this.rule.id)
    }
    return 0
  }

  take(now: number, permit: Permit): boolean {
    if (this.#inner.take === undefined) return true
    try {
      this.#inner.take(now, permit)
      return true
    } catch (error) {
      this.#report(error, 'take', this.rule.id)
      return false
    }
  }

  settle(now: number, permit: Permit, outcome: Outcome): number {
    if (this.#inner.settle === undefined) return 0
    try {
      const flags: unknown = this.#inner.settle(now, permit, outcome)
      return typeof flags === 'number' ? flags & Flag.SLOW : 0
    } catch (error) {
      this.#report(error, 'settle', this.rule.id)
      return 0
    }
  }

  waitMs(now: number): number | undefined {
    if (this.#inner.waitMs === undefined) return undefined
    try {
      const wait = this.#inner.waitMs(now)
      return typeof wait === 'number' && wait >= 0 ? wait : undefined
    } catch (error) {
      this.#report(error, 'waitMs', this.rule.id)
      return undefined
    }
  }

  holdsProbe(): boolean {
    return false
  }
}
