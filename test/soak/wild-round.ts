// A round without a model: a whole guard, many names, rude callbacks, operators, and listeners that call back. What must hold whatever
// happens is checked: sums, bounds, and that nothing is left when all calls have ended.
import { getEventListeners } from 'node:events'
import { type DegradeRuleInput, type Guard, type GuardOptions, isBlocked, type ResourceStats } from 'leapguard'
import { ManualClock } from 'leapguard/testing'
import type { Resource } from '../../src/resource.js'
import { flush } from '../support/deferred.js'
import { anyRuleFor } from './drawn.js'
import { COSTUMES, Driver } from './driver.js'
import { anyEnding, anyFallbacks, anyOutcome, type Ending, type Fallbacks } from './endings.js'
import { heldIn, resourceOf, resourcesOf } from './inside.js'
import type { Random } from './random.js'
import { nonsense, rudeChance, rudeClassify, rudeIgnore, rudeListener, rudeRule } from './rude.js'
import type { Make, Round } from './soak.js'

const NAMES = ['a', 'b', 'c', 'd/1', 'd/2', 'd/e/3', '__proto__', 'constructor', 'toString', ' ', '\0', '(overflow)']
const MOST_PROBES = 3

interface Flight {
  readonly controller: AbortController | undefined
  readonly end: () => Promise<void> | void
}

export class WildRound implements Round {
  readonly name: string
  calls = 0
  readonly #random: Random
  readonly #clock: ManualClock
  readonly #guard: Guard
  readonly #options: GuardOptions
  readonly #flights: Flight[] = []
  readonly #abandoned: Driver[] = []
  readonly #listeners: (() => void)[] = []
  readonly #faults = new Set<string>()
  /** What the sums of a resource lack since it was reset in the middle of calls. */
  readonly #carried = new WeakMap<Resource, number>()
  #names: readonly string[]
  #meddling = 0
  #step = 'the start'

  /** @param isLong it lives through many rounds, with a bound on names that is worth the name. */
  constructor(random: Random, make: Make, isLong = false) {
    this.name = isLong ? 'long' : 'wild'
    this.#random = random
    this.#clock = new ManualClock(random.pick([0, 1.7e12, -50, 2 ** 31 - 1000]))
    this.#names = random.chance(0.5) ? NAMES : NAMES.slice(0, 4)
    this.#options = {
      onClockBack: random.pick(['clamp', 'refuse', 'raw'] as const),
      onRuleChange: random.pick(['keep', 'restart'] as const),
      maxResources: isLong ? 50 : random.pick([1, 3, 10, 1000]),
      onRegistryFull: random.pick(['unguarded', 'shared'] as const),
      refusalStacks: random.chance(0.1),
    }
    const clock = {
      now: () => (random.chance(0.002) ? (nonsense(random) as number) : this.#clock.now()),
      setTimer: () => {
        throw new Error('the core sets no timer')
      },
      clearTimer: () => {},
    }
    this.#guard = make({
      ...this.#options,
      clock: random.chance(0.5) ? clock : this.#clock,
      random: rudeChance(random),
      onInternalError: (error, { code, where }) => {
        if (code === 'LEAPGUARD_INTERNAL' && where !== 'faults') this.#faults.add(`${where}: ${String(error)}`)
      },
    })
    this.#load()
  }

  async step(): Promise<void> {
    this.#step = this.#random.weighted({
      call: this.#flights.length < 20 ? 14 : 4,
      end: 10,
      abort: 1,
      'end an abandoned one': 0.5,
      wait: 6,
      'step the clock': 0.5,
      operate: 1.5,
      load: 0.6,
      configure: 0.5,
      listen: 0.3,
      read: 0.5,
    })
    await this.#act()
    this.#look()
  }

  async finish(): Promise<void> {
    this.#step = 'the end of all calls'
    while (this.#flights.length > 0) await this.#random.takeOut(this.#flights)?.end()
    while (this.#abandoned.length > 0) this.#random.takeOut(this.#abandoned)?.end(this.#ending())
    await flush()
    this.#look()
    for (const name of this.#guard.resources()) {
      const { totals, rules } = this.#guard.stats(name)
      if (totals.running !== 0) this.#fail(`${totals.running} calls of ${JSON.stringify(name)} run`)
      if (rules.some(({ probesOut }) => probesOut !== 0)) this.#fail(`probes of ${JSON.stringify(name)} are out`)
    }
    if (this.#clock.pendingTimers !== 0) this.#fail(`${this.#clock.pendingTimers} timers are set`)
    this.#guard.dispose()
  }

  where(): string {
    return `${this.#step}, ${JSON.stringify(this.#options)}`
  }

  async #act(): Promise<void> {
    const random = this.#random
    switch (this.#step) {
      case 'call':
        return this.#call()
      case 'end':
        return random.takeOut(this.#flights)?.end()
      case 'abort':
        return this.#abort()
      case 'end an abandoned one':
        random.takeOut(this.#abandoned)?.end(this.#ending())
        return flush()
      case 'wait':
        return this.#clock.advance(random.pick([0, 1, 10, random.int(400) / 4, random.int(100_000)]))
      case 'step the clock':
        return this.#clock.set(this.#clock.now() + random.pick([-1, -1000, 2 ** 31, 2 ** 32 + 1]))
      case 'operate':
        return this.#operate()
      case 'load':
        return this.#load()
      case 'configure':
        return this.#configure()
      case 'listen':
        return this.#listen()
      default:
        return this.#read()
    }
  }

  #anyName(): string {
    return this.#random.chance(0.1) ? `made up ${this.#random.int(500)}` : this.#random.pick(this.#names)
  }

  #ending(): Ending {
    return anyEnding(this.#random, anyOutcome(this.#random))
  }

  // ---- calls ----

  async #call(): Promise<void> {
    this.calls++
    const random = this.#random
    const controller = random.chance(0.3) ? new AbortController() : undefined
    const options = controller === undefined ? undefined : { signal: controller.signal }
    const way = random.weighted({ permit: 3, handle: 2, sync: 3, entry: 5 })
    if (way === 'permit') {
      const permit = this.#guard.tryEnter(this.#anyName(), options)
      if (permit >= 0) this.#fly(controller, () => this.#guard.leave(permit, anyOutcome(random)))
    } else if (way === 'handle') this.#enter(controller)
    else if (way === 'sync') this.#sync(options)
    else await this.#entry(controller)
  }

  #enter(controller: AbortController | undefined): void {
    try {
      const handle = this.#guard.enter(this.#anyName(), controller && { signal: controller.signal })
      this.#fly(controller, () => {
        const { threw, value } = this.#ending()
        if (threw) handle.exit({ error: value })
        else if (this.#random.chance(0.3)) handle[Symbol.dispose]()
        else handle.exit()
        if (this.#random.chance(0.2)) handle.cancel()
      })
    } catch (error) {
      if (!isBlocked(error)) throw error
    }
  }

  #sync(options: { readonly signal: AbortSignal } | undefined): void {
    const ending = this.#ending()
    let ran = false
    const isPromise = this.#random.chance(0.05)
    try {
      const value: unknown = this.#guard.entrySync(
        this.#anyName(),
        () => {
          ran = true
          if (this.#random.chance(0.3)) this.#meddle()
          if (isPromise) return Promise.reject(new Error('in a synchronous call')) as never
          if (ending.threw) throw ending.value
          return ending.value as never
        },
        options,
      )
      if (value !== ending.value || ending.threw) this.#fail('a synchronous call gave another value')
    } catch (error) {
      if (isPromise && ran) return
      if (ran ? error !== ending.value || !ending.threw : !isBlocked(error)) throw error
    }
  }

  async #entry(controller: AbortController | undefined): Promise<void> {
    const random = this.#random
    const ending = this.#ending()
    const driver = new Driver(random.pick(COSTUMES))
    const fallbacks = random.chance(0.3) ? anyFallbacks(random, true) : undefined
    let ran = false
    let settled = false
    const promise = this.#guard.entry(
      this.#anyName(),
      () => {
        ran = true
        if (random.chance(0.2)) this.#meddle()
        return driver.start()
      },
      {
        ...(controller && { signal: controller.signal }),
        ...(fallbacks && { fallbacks: fallbacks.list }),
      },
    )
    const watched = promise.then(
      (value) => this.#settled({ value }, ran, ending, controller, fallbacks),
      (error: unknown) => this.#settled({ error }, ran, ending, controller, fallbacks),
    )
    const done = watched.finally(() => {
      settled = true
    })
    if (!ran) return done
    this.#fly(controller, async () => {
      if (controller?.signal.aborted === true && random.chance(0.5)) this.#abandoned.push(driver)
      else driver.end(ending)
      await done
      if (!settled) this.#fail('a call never settled')
    })
  }

  /** The value or error is the function's own, the refusal, the reason of the abort, or what a fallback says. */
  #settled(
    got: { readonly value: unknown } | { readonly error: unknown },
    ran: boolean,
    ending: Ending,
    controller: AbortController | undefined,
    fallbacks: Fallbacks | undefined,
  ): void {
    const { signal } = controller ?? {}
    if ('value' in got) {
      if (ran && !ending.threw && got.value === ending.value) return
      if (fallbacks?.asked !== undefined && 'value' in fallbacks.answer && got.value === fallbacks.answer.value) return
    } else {
      if (ran ? ending.threw && got.error === ending.value : isBlocked(got.error)) return
      if (signal?.aborted === true && got.error === signal.reason) return
      if (fallbacks?.asked !== undefined && 'error' in fallbacks.answer && got.error === fallbacks.answer.error) return
    }
    this.#fail(`a call ${ran ? '' : 'that did not run '}settled as ${'value' in got ? 'a value' : String(got.error)}`)
  }

  #fly(controller: AbortController | undefined, end: Flight['end']): void {
    this.#flights.push({ controller, end })
  }

  async #abort(): Promise<void> {
    const flight = this.#random.pick(this.#flights.filter(({ controller }) => controller !== undefined))
    if (flight === undefined) return
    this.#flights.splice(this.#flights.indexOf(flight), 1)
    flight.controller?.abort(new Error('the caller has gone'))
    await flight.end()
    const left = getEventListeners(flight.controller?.signal as AbortSignal, 'abort').length
    if (left > 0) this.#fail(`${left} listeners are left on a signal`)
  }

  // ---- everybody else ----

  /** What a callback may do to the guard that calls it. */
  readonly #meddle = (): void => {
    if (this.#meddling >= 2) return
    this.#meddling++
    try {
      const what = this.#random.weighted({ call: 6, wait: 2, operate: 1, load: 0.3, read: 1 })
      if (what === 'call') this.#guard.leave(this.#guard.tryEnter(this.#anyName()), anyOutcome(this.#random))
      else if (what === 'wait') this.#clock.advance(this.#random.int(50))
      else if (what === 'operate') this.#operate()
      else if (what === 'load') this.#load()
      else this.#read()
    } finally {
      this.#meddling--
    }
  }

  #operate(): void {
    const name = this.#anyName()
    const guard = this.#guard
    const act = this.#random.weighted({ open: 2, closed: 2, auto: 4, reset: 1, 'reset all': 0.5, remove: 1 })
    if (act === 'open') this.#orFull(() => guard.forceOpen(name))
    else if (act === 'closed') this.#orFull(() => guard.forceClosed(name))
    else if (act === 'auto') guard.auto(name)
    else if (act === 'remove') guard.remove(name)
    else guard.reset(act === 'reset' ? name : undefined)
    if (act === 'reset' || act === 'reset all') this.#carry()
  }

  /** A guard without room may say so, in one way. */
  #orFull(act: () => void): void {
    try {
      act()
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'ERR_REGISTRY_FULL') throw error
    }
  }

  #load(): void {
    const random = this.#random
    const some = (resource: string): DegradeRuleInput[] =>
      Array.from({ length: random.int(3) }, (_, i) => ({ resource, ...anyRuleFor(random, `rule ${i}`) }))
    if (random.chance(0.2)) this.#loadFaulty()
    else if (random.chance(0.6)) {
      const name = this.#anyName()
      const rules = some(name)
      this.#guard.setRulesFor(name, { degrade: rules })
    } else {
      const degrade = [...new Set([this.#anyName(), this.#anyName(), this.#anyName()])].flatMap(some)
      this.#guard.loadRules({ degrade })
      const loaded = this.#guard.rules().degrade.length
      // A listener may have loaded others meanwhile.
      if (loaded !== degrade.length && this.#listeners.length === 0)
        this.#fail(`${loaded} of ${degrade.length} rules loaded`)
    }
    if (random.chance(0.2)) this.#reloadTheSame()
  }

  #loadFaulty(): void {
    const before = JSON.stringify(this.#guard.rules())
    try {
      this.#guard.loadDegradeRules([{ resource: 'a', ...anyRuleFor(this.#random, 'x') }, { resource: 'b' } as never])
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'ERR_RULE_INVALID') throw error
      if (JSON.stringify(this.#guard.rules()) !== before) this.#fail('a faulty list was loaded')
      return
    }
    this.#fail('a faulty list was accepted')
  }

  #reloadTheSame(): void {
    const { dropped, added, removed, restarted, updated } = this.#guard.loadRules(this.#guard.rules())
    const changed = dropped.length + added.length + removed.length + restarted.length + updated.length
    if (changed !== 0) this.#fail('a reload of the same rules changed something')
  }

  #configure(): void {
    const random = this.#random
    this.#orFull(() =>
      this.#guard.configure(this.#anyName(), {
        ...(random.chance(0.5) && {
          rules: Array.from({ length: random.int(3) }, () => rudeRule(random, this.#meddle)),
        }),
        ...(random.chance(0.5) && { classify: random.chance(0.5) ? rudeClassify(random, this.#meddle) : undefined }),
        ...(random.chance(0.5) && { ignore: random.chance(0.5) ? rudeIgnore(random, this.#meddle) : undefined }),
      }),
    )
  }

  #listen(): void {
    if (this.#listeners.length < 3) this.#listeners.push(rudeListener(this.#random, this.#guard, this.#meddle))
    else this.#random.takeOut(this.#listeners)?.()
  }

  #read(): void {
    const name = this.#anyName()
    const once = JSON.stringify(this.#guard.stats(name))
    if (JSON.stringify(this.#guard.stats(name)) !== once) this.#fail('a second reading differs')
  }

  // ---- what must hold ----

  #look(): void {
    const { permits, probes } = heldIn(this.#guard)
    if (permits !== this.#flights.length) this.#fail(`${permits} permits for ${this.#flights.length} calls`)
    for (const fault of this.#faults) this.#fail(`a fault of our own in ${fault}`)
    const names = this.#guard.resources()
    if (names.length > (this.#options.maxResources as number)) this.#fail(`${names.length} names`)
    let probesOut = 0
    for (const name of resourceOf(this.#guard, '(overflow)') === undefined
      ? names
      : new Set([...names, '(overflow)'])) {
      const stats = this.#guard.stats(name)
      this.#sums(stats)
      for (const rule of stats.rules) {
        this.#bounds(rule)
        probesOut += rule.probesOut
      }
    }
    // A name of the user's own may hide the overflow resource.
    if (probesOut !== probes && !names.includes('(overflow)'))
      this.#fail(`${probes} probes out, and ${probesOut} listed`)
  }

  #sums({ resource, totals }: ResourceStats): void {
    const { passed, blocked, succeeded, failed, ignored, slow, wouldBlock, running } = totals
    const carried = this.#carried.get(resourceOf(this.#guard, resource) as Resource) ?? 0
    if (passed + carried !== succeeded + failed + ignored + running)
      this.#fail(`sums ${JSON.stringify(totals)}, ${carried}`)
    if (Math.min(...Object.values(totals)) < 0 || !Object.values(totals).every(Number.isSafeInteger))
      this.#fail(`totals ${JSON.stringify(totals)}`)
    if (slow > succeeded + failed + ignored || wouldBlock > passed || blocked > this.calls * 100)
      this.#fail(`too many: ${JSON.stringify(totals)}`)
  }

  #bounds(rule: ResourceStats['rules'][number]): void {
    const { state, total, bad, probesOut, retryAfterMs = 0, forced } = rule
    const isWell =
      probesOut >= 0 &&
      probesOut <= MOST_PROBES &&
      (state === 'half-open' || forced !== undefined || probesOut === 0) &&
      bad >= 0 &&
      total >= bad &&
      retryAfterMs >= 0
    if (!isWell) this.#fail(`rule ${JSON.stringify(rule)}`)
  }

  /** After a reset in the middle of calls these end without having begun. */
  #carry(): void {
    for (const resource of resourcesOf(this.#guard)) {
      const { passed, succeeded, failed, ignored, running } = resource
      this.#carried.set(resource, succeeded + failed + ignored + running - passed)
    }
  }

  #fail(what: string): never {
    throw new Error(`after ${this.#step}: ${what}`)
  }
}
