// A round with a model: one resource, random rules and random events, guard and model side by side. After every step they must agree.
import type { CustomRule, GuardOptions } from 'leapguard'
import { anyRule, anyStart, LANDMARKS, landmarkMs } from '../support/model-arbitraries.js'
import { RESOURCE, type RuleDraft, Twin } from '../support/model-guard.js'
import { Caller } from './calls.js'
import { anyRuleFor, drawn } from './drawn.js'
import { anyFallbacks, CONFIG } from './endings.js'
import { heldIn } from './inside.js'
import type { Random } from './random.js'
import type { Make, Round } from './soak.js'

const anyRules = (random: Random): RuleDraft[] =>
  Array.from({ length: random.pick([1, 1, 2, 3]) }, (_, i) => anyRuleFor(random, `rule ${i}`))

/**
 * Other numbers, the same window. Where it holds few calls, what may be asked of them stays too. Running calls, once they are not watched,
 * are not watched again: a call booked before and still running would be booked twice.
 */
const redrawn = (random: Random, old: RuleDraft): RuleDraft => {
  const { statIntervalMs, bucketCount, statCallCount, maxAllowedRtMs, id, ...drawnNumbers } = drawn(
    anyRule(old.strategy),
    random,
  )
  const { threshold, minRequestAmount, comparison, ...harmless } = drawnNumbers
  return {
    ...old,
    ...(old.statCallCount === undefined && statCallCount === undefined ? drawnNumbers : harmless),
    ...(old.countRunning === false && { countRunning: false }),
  }
}

/** Lets in so many at once. Made to fail, it throws instead of counting one more. */
class Semaphore implements CustomRule {
  held = 0
  failing = false

  constructor(
    readonly id: string,
    readonly limit: number,
  ) {}

  check(): number {
    return this.held >= this.limit ? 1 : 0
  }

  take(): void {
    if (this.failing) throw new Error('made to fail')
    this.held++
  }

  settle(): void {
    this.held--
  }
}

export class ModelRound implements Round {
  readonly name = 'model'
  readonly #random: Random
  readonly #twin: Twin
  readonly #caller: Caller
  readonly #faults = new Set<string>()
  #gate: Semaphore | undefined
  /** Calls that were in flight before the gate was put up. */
  #before = new Set<unknown>()
  #step = 'the start'

  constructor(random: Random, make: Make) {
    this.#random = random
    this.#twin = new Twin(anyRules(random), drawn(anyStart, random), {
      make,
      onClockBack: random.pick<NonNullable<GuardOptions['onClockBack']>>(['clamp', 'refuse']),
      onRuleChange: random.pick<NonNullable<GuardOptions['onRuleChange']>>(['keep', 'keep', 'restart']),
      onInternalError: (_error, { code }) => this.#faults.add(code),
    })
    this.#twin.guard.configure(RESOURCE, CONFIG)
    this.#caller = new Caller(this.#twin, random)
  }

  get calls(): number {
    return this.#caller.calls
  }

  async step(): Promise<void> {
    this.#step = this.#random.weighted({
      enter: this.#caller.held.length < 12 ? 10 : 2,
      end: 9,
      nest: 2,
      abort: 1.5,
      'end an abandoned one': 0.5,
      wait: 5,
      'wait for': 4,
      'step back': 0.7,
      'force open': 0.3,
      'force closed': 0.3,
      auto: 1,
      reset: 0.2,
      reload: 0.7,
      'change the gate': 0.4,
      'fail the gate': 0.3,
      'change fallbacks': 0.4,
    })
    await this.#act()
    this.#agree()
  }

  async finish(): Promise<void> {
    this.#step = 'the end of all calls'
    const { guard } = this.#twin
    await this.#caller.endAll()
    this.#agree()
    const { totals, rules } = guard.stats(RESOURCE)
    const { permits, probes } = heldIn(guard)
    const listeners = this.#caller.listeners()
    const left = { running: totals.running, probesOut: rules.reduce((sum, rule) => sum + rule.probesOut, 0) }
    for (const [what, count] of Object.entries({ ...left, permits, probes, listeners }))
      if (count !== 0) throw new Error(`after ${this.#step}: ${what} is ${count}`)
    for (const code of this.#faults)
      if (code !== 'LEAPGUARD_CUSTOM_RULE') throw new Error(`after ${this.#step}: a fault ${code} was reported`)
    guard.dispose()
  }

  where(): string {
    return `${this.#step}, rules ${JSON.stringify(this.#twin.rules)}`
  }

  async #act(): Promise<void> {
    const random = this.#random
    const twin = this.#twin
    const caller = this.#caller
    switch (this.#step) {
      case 'enter':
        return caller.start()
      case 'end':
        return random.takeOut(caller.held)?.end()
      case 'nest':
        return random.pick(caller.held)?.nest?.()
      case 'abort':
        return caller.abort()
      case 'end an abandoned one':
        return caller.endAbandoned()
      case 'wait':
        return twin.wait(random.chance(0.5) ? random.int(40) : random.int(400) / 4)
      case 'wait for':
        return twin.wait(
          Math.max(0, landmarkMs(random.pick(LANDMARKS), random.pick(twin.rules)) + random.pick([-1, 0, 0, 0.25, 1])),
        )
      case 'step back':
        return twin.wait(-random.int(200))
      case 'force open':
        return twin.forceOpen()
      case 'force closed':
        return twin.forceClosed()
      case 'auto':
        return twin.auto()
      case 'reset':
        return twin.reset()
      case 'reload':
        return twin.reload(this.#reloaded())
      case 'change the gate':
        return this.#changeGate()
      case 'fail the gate':
        return this.#failGate()
      default:
        return this.#changeFallbacks()
    }
  }

  #reloaded(): RuleDraft[] {
    const random = this.#random
    const rules = this.#twin.rules.flatMap((old) => {
      const fate = random.weighted({ keep: 4, redraw: 4, reshape: 2, drop: 1 })
      if (fate === 'keep') return [old]
      if (fate === 'redraw') return [redrawn(random, old)]
      return fate === 'reshape' ? [anyRuleFor(random, old.id as string)] : []
    })
    const ids = rules.map(({ id }) => id)
    const free = [0, 1, 2].map((i) => `rule ${i}`).find((id) => !ids.includes(id))
    if (free !== undefined && (rules.length === 0 || random.chance(0.2))) rules.push(anyRuleFor(random, free))
    return random.chance(0.2) ? rules.reverse() : rules
  }

  #changeGate(): void {
    const limit = this.#random.pick([0, 1, 3, 5])
    const gate = this.#random.chance(0.5) ? new Semaphore('gate', limit) : undefined
    this.#twin.guard.configure(RESOURCE, { rules: gate === undefined ? [] : [gate] })
    this.#gate = gate
    this.#before = new Set(this.#caller.held)
    this.#twin.gate = gate && { id: gate.id, refuses: () => gate.held >= gate.limit, fails: () => gate.failing }
  }

  async #failGate(): Promise<void> {
    if (this.#gate === undefined) return
    this.#gate.failing = true
    await this.#caller.start()
    this.#gate.failing = false
  }

  #changeFallbacks(): void {
    this.#caller.configured = this.#random.chance(0.5) ? anyFallbacks(this.#random, false) : undefined
    this.#twin.guard.configure(RESOURCE, { fallbacks: this.#caller.configured?.list })
  }

  #agree(): void {
    this.#twin.agree(this.#step)
    const { held } = this.#caller
    const through = held.filter((call) => !this.#before.has(call) && !call.live.unguarded).length
    if (this.#gate !== undefined && this.#gate.held !== through)
      throw new Error(`after ${this.#step}: the gate holds ${this.#gate.held} of ${through} calls`)
    const { permits } = heldIn(this.#twin.guard)
    if (permits !== held.length) throw new Error(`after ${this.#step}: ${permits} permits for ${held.length} calls`)
  }
}
