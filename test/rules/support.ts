// A breaker on its own: a host that only counts and listens, and calls driven by hand through the four verbs.
import {
  Breaker,
  type BreakerSnapshot,
  type DegradeRule,
  type DegradeRuleOptions,
  type Fault,
  type Host,
  type Moment,
  type NormalizedRule,
  normalizeDegradeRules,
  Outcome,
  type Permit,
  type RuleTarget,
  STATE_NAMES,
  type StateName,
} from '../../rules/index.js'

export type Fields = DegradeRuleOptions & Partial<RuleTarget>

/** A list as it may come from a file: whatever it holds, the types did not check it. */
export function check(list: unknown, only?: string): { rules: NormalizedRule[]; faults: Fault[] } {
  const faults: Fault[] = []
  const rules = normalizeDegradeRules(list, 'degrade', faults, only)
  return { rules, faults }
}

/** Rules of the resource `r`, if they do not say otherwise, checked, which must be free of faults. */
export function checked(...list: Fields[]): NormalizedRule[] {
  const { rules, faults } = check(
    list.map((fields) => (fields.match === 'default' ? fields : { resource: 'r', ...fields })),
  )
  if (faults.length > 0) throw new Error(faults.map((fault) => fault.message).join('\n'))
  return rules
}

export const ruleOf = (fields: Fields): DegradeRule => (checked(fields)[0] as NormalizedRule).rule

/** A resource as a breaker sees it. */
export class FakeHost implements Host {
  readonly forcedOpen = false
  readonly forcedClosed = false
  probesOut = 0
  offered = 0
  /** State changes so far, e.g. `'6000 open > half-open: cooldown-elapsed'`. */
  readonly changes: string[] = []
  readonly measured: [number | undefined, number][] = []
  draws = 0
  constructor(
    public seq = 0,
    private readonly numbers: readonly number[] = [0],
  ) {}

  random(): number {
    return this.numbers[this.draws++ % this.numbers.length] as number
  }

  changed: Host['changed'] = (_rule, from, to, reason, value, total, now) => {
    this.changes.push(`${now} ${STATE_NAMES[from]} > ${STATE_NAMES[to]}: ${reason}`)
    this.measured.push([value, total])
  }
}

export type OutcomeName = 'success' | 'failure' | 'ignored'
const OUTCOMES = { success: Outcome.SUCCESS, failure: Outcome.FAILURE, ignored: Outcome.IGNORED } as const

/** One breaker, its host, and the time, which the test moves. */
export class Rig {
  readonly breaker: Breaker
  private readonly moment: Moment
  constructor(
    fields: Fields,
    readonly host = new FakeHost(),
    now = 0,
  ) {
    this.moment = { now }
    this.breaker = new Breaker(ruleOf(fields), host, now)
  }

  get now(): number {
    return this.moment.now
  }

  set now(ms: number) {
    this.moment.now = ms
  }

  /** Asks for entry; undefined if refused. */
  enter(parents: readonly number[] | null = null): Permit | undefined {
    this.breaker.advance(this.moment)
    const refused = this.breaker.check(this.moment, 1) !== 0
    this.host.offered++
    if (refused && !(parents !== null && this.breaker.holdsProbe(parents))) return undefined
    this.host.seq = (this.host.seq + 1) | 0
    const { seq } = this.host
    const permit = {
      resource: 'r',
      seq,
      start: this.now,
      count: 1,
      parents,
      args: undefined,
      origin: undefined,
      flags: 0,
    }
    this.breaker.take(this.moment, permit)
    return permit
  }

  /** A call that must be admitted. */
  begin(parents: readonly number[] | null = null): Permit {
    const permit = this.enter(parents)
    if (permit === undefined) throw new Error(`refused at ${this.now}`)
    return permit
  }

  /** Ends a call now. Returns the flags. */
  end(permit: Permit, outcome: OutcomeName = 'success'): number {
    return this.breaker.settle(this.moment, permit, OUTCOMES[outcome])
  }

  /** A whole call; false if refused. */
  call(outcome: OutcomeName = 'success', lastsMs = 0): boolean {
    const permit = this.enter()
    if (permit === undefined) return false
    this.now += lastsMs
    this.end(permit, outcome)
    return true
  }

  get seen(): BreakerSnapshot {
    return this.breaker.snapshot(this.now)
  }

  get state(): StateName {
    return STATE_NAMES[this.seen.state] as StateName
  }

  /** Calls in the window, and bad ones. */
  get counts(): [number, number] {
    return [this.seen.total, this.seen.bad]
  }
}
