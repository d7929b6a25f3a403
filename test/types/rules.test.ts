// What the compiler makes of rules, events, configuration and errors. The type checker judges these; running them shows that the values agree.
import {
  BlockedError,
  type BlockedEvent,
  createGuard,
  type DegradeRule,
  type DegradeRuleInput,
  type Fault,
  type GuardEvents,
  type IgnoreMatcher,
  isBlocked,
  type LoadedRules,
  type ReloadEvent,
  type ReloadReport,
  RuleError,
  type RuleInfo,
  type RuleSet,
  type StateChangeEvent,
  type StateName,
} from 'leapguard'
import { ManualClock } from 'leapguard/testing'
import { describe, expect, expectTypeOf, it } from 'vitest'

const guardOf = () => createGuard({ clock: new ManualClock(0) })

describe('rules', () => {
  it('ask for resource, strategy and threshold, and nothing more', () => {
    const least: DegradeRuleInput = { resource: 'r', strategy: 'error-ratio', threshold: 0.5 }
    expect(guardOf().loadDegradeRules([least]).added).toHaveLength(1)
    // @ts-expect-error without a threshold
    const noThreshold: DegradeRuleInput = { resource: 'r', strategy: 'error-ratio' }
    // @ts-expect-error without a resource
    const noResource: DegradeRuleInput = { strategy: 'error-ratio', threshold: 0.5 }
    const typo: DegradeRuleInput = {
      resource: 'r',
      strategy: 'error-ratio',
      threshold: 0.5,
      // @ts-expect-error there is no such field
      minReqests: 5,
    }
    // @ts-expect-error there is no such strategy
    const other: DegradeRuleInput = { resource: 'r', strategy: 'error-rate', threshold: 0.5 }
    for (const rule of [noThreshold, noResource, typo, other]) {
      expect(() => guardOf().loadDegradeRules([rule])).toThrow('nothing was applied')
    }
  })

  it('of one resource may leave its name out', () => {
    const guard = guardOf()
    expect(guard.setRulesFor('r', { degrade: [{ strategy: 'error-count', threshold: 1 }] }).added).toHaveLength(1)
    // @ts-expect-error rules of all resources may not
    expect(() => guard.loadRules({ degrade: [{ strategy: 'error-count', threshold: 1 }] })).toThrow()
  })

  it('in force have every option, are read-only, and can be loaded again', () => {
    const guard = guardOf()
    guard.loadDegradeRules([{ resource: 'r', strategy: 'slow-call-ratio', threshold: 1, maxAllowedRtMs: 5 }] as const)
    const shown = guard.rules()
    expectTypeOf(shown).toEqualTypeOf<LoadedRules>()
    expectTypeOf(shown).toExtend<RuleSet>()
    expectTypeOf<DegradeRule['id']>().toEqualTypeOf<string>()
    expectTypeOf<DegradeRule['probeTimeoutMs']>().toEqualTypeOf<number | null>()
    expectTypeOf<DegradeRule['statIntervalMs']>().toEqualTypeOf<number | undefined>()
    expectTypeOf<DegradeRule['minRequestAmount']>().toEqualTypeOf<number | undefined>()
    expectTypeOf(guard.loadRules(shown)).toEqualTypeOf<ReloadReport>()
    // @ts-expect-error a rule in force is read-only
    expect(() => ((shown.degrade[0] as DegradeRule).threshold = 0.1)).toThrow(TypeError)
    expect(guard.rules()).toEqual(shown)
  })
})

describe('events', () => {
  it('carry the payload of their name', () => {
    const guard = guardOf()
    const seen: string[] = []
    guard.on('state', (event) => {
      expectTypeOf(event).toEqualTypeOf<StateChangeEvent>()
      expectTypeOf(event.to).toEqualTypeOf<StateName>()
      expectTypeOf(event.value).toEqualTypeOf<number | undefined>()
      expectTypeOf(event.rule).toEqualTypeOf<DegradeRule>()
      seen.push(event.type)
    })
    guard.on('blocked', (event) => {
      expectTypeOf(event).toEqualTypeOf<BlockedEvent>()
      expectTypeOf(event.rule).toEqualTypeOf<RuleInfo | undefined>()
      seen.push(event.type)
    })
    const tell = (event: GuardEvents[keyof GuardEvents]): string => {
      switch (event.type) {
        case 'state':
          expectTypeOf(event).toEqualTypeOf<StateChangeEvent>()
          return `${event.rule.id} ${event.to}`
        case 'blocked':
          expectTypeOf(event).toEqualTypeOf<BlockedEvent>()
          return event.code
        case 'reload':
          expectTypeOf(event).toEqualTypeOf<ReloadEvent>()
          return `${event.added.length} added`
        default:
          return event satisfies never
      }
    }
    const told: string[] = []
    for (const name of ['state', 'blocked', 'reload'] as const) guard.on(name, (event) => told.push(tell(event)))
    const off = guard.on('reload', (event) => {
      expectTypeOf(event).toEqualTypeOf<ReloadEvent>()
      seen.push(event.type)
    })
    expectTypeOf(off).toEqualTypeOf<() => void>()
    guard.setRulesFor('r', { degrade: [{ strategy: 'error-count', threshold: 1 }] })
    guard.enter('r').exit({ error: 1 })
    guard.tryEnter('r')
    expect(seen).toEqual(['reload', 'state', 'blocked'])
    expect(told).toEqual(['1 added', 'error-count#1 open', 'ERR_BLOCKED_DEGRADE'])
    // @ts-expect-error there is no such event
    expect(() => guard.on('open', () => {})).toThrow(TypeError)
  })
})

describe('configuration', () => {
  it('takes error classes of any constructor, codes and predicates', () => {
    class HttpError extends Error {
      constructor(
        readonly status: number,
        options: { url: string },
      ) {
        super(options.url)
      }
    }
    abstract class Base extends Error {}
    const matchers: IgnoreMatcher[] = [HttpError, Base, Error, DOMException, 'ENOENT', (error) => error === 1]
    const guard = guardOf()
    guard.configure('r', { ignore: matchers })
    guard.configure('r', { ignore: HttpError, classify: undefined, fallbacks: undefined })
    // @ts-expect-error a number is no matcher
    expect(() => guard.configure('r', { ignore: 404 })).toThrow(TypeError)
    // @ts-expect-error there is no such outcome
    guard.configure('r', { classify: () => 'bad' })
    // @ts-expect-error there is no such option
    expect(() => guard.configure('r', { retry: 3 })).toThrow(TypeError)
  })

  it('of a guard knows its options only', () => {
    // @ts-expect-error there is no such option
    expect(() => createGuard({ clocks: 'auto' })).toThrow(TypeError)
    // @ts-expect-error there is no such value
    expect(() => createGuard({ onClockBack: 'ignore' })).toThrow(TypeError)
  })
})

describe('refusals', () => {
  it('are recognised from unknown, by brand and by class', () => {
    const guard = guardOf()
    guard.forceOpen('r')
    let error: unknown
    try {
      guard.enter('r')
    } catch (caught) {
      error = caught
    }
    if (!isBlocked(error)) throw error
    expectTypeOf(error).toEqualTypeOf<BlockedError>()
    expectTypeOf(error).toExtend<Error>()
    expectTypeOf(error.retryAfterMs).toEqualTypeOf<number | undefined>()
    expectTypeOf(error.kind).toEqualTypeOf<'degrade' | 'custom' | 'clock'>()
    expectTypeOf(error.code).toEqualTypeOf<'ERR_BLOCKED_DEGRADE' | 'ERR_BLOCKED_CUSTOM' | 'ERR_BLOCKED_CLOCK'>()
    expect(error instanceof BlockedError && error.resource).toBe('r')
  })

  it('F72: are a union told apart by kind or by code, and so are their events', () => {
    const ruleOf = (refusal: BlockedError | BlockedEvent): string => {
      switch (refusal.kind) {
        case 'degrade':
          expectTypeOf(refusal.code).toEqualTypeOf<'ERR_BLOCKED_DEGRADE'>()
          expectTypeOf(refusal.rule).toEqualTypeOf<DegradeRule | undefined>()
          return refusal.rule?.strategy ?? 'forced'
        case 'custom':
          expectTypeOf(refusal.rule).toEqualTypeOf<{ readonly id: string }>()
          return refusal.rule.id
        case 'clock':
          expectTypeOf(refusal.rule).toEqualTypeOf<undefined>()
          return 'clock'
        default:
          return refusal satisfies never
      }
    }
    const byCode = (refusal: BlockedError): DegradeRule | undefined =>
      refusal.code === 'ERR_BLOCKED_DEGRADE' ? refusal.rule : undefined
    // @ts-expect-error a rule of whichever kind need not have a strategy
    const careless = (refusal: BlockedError): unknown => refusal.rule?.strategy

    const clock = new ManualClock(10)
    const guard = createGuard({ clock, onClockBack: 'refuse' })
    const events: string[] = []
    guard.on('blocked', (event) => events.push(ruleOf(event)))
    const rule: DegradeRuleInput = { resource: 'r', strategy: 'error-count', threshold: 1 }
    guard.loadDegradeRules([rule])
    guard.configure('custom', { rules: [{ id: 'lunch', check: () => 1 }] })
    guard.enter('r').exit({ error: 1 })
    const refused = (resource: string): BlockedError => {
      try {
        guard.enter(resource)
      } catch (error) {
        if (isBlocked(error)) return error
      }
      throw new Error('was let in')
    }
    const tripped = refused('r')
    const seen = [tripped, refused('custom')]
    guard.forceOpen('other')
    seen.push(refused('other'))
    clock.set(0)
    seen.push(refused('other'))
    expect(seen.map(ruleOf)).toEqual(['error-count', 'lunch', 'forced', 'clock'])
    expect(events).toEqual(seen.map(ruleOf))
    expect(byCode(tripped)).toBe(guard.rules().degrade[0])
    expect(careless(tripped)).toBe('error-count')
  })

  it('and refused rule lists are told apart from unknown by class', () => {
    const faultsOf = (error: unknown): string[] => {
      // @ts-expect-error nothing is known of what was caught
      if (error.faults === undefined) return []
      if (!(error instanceof RuleError)) throw error
      expectTypeOf(error.code).toEqualTypeOf<'ERR_RULE_INVALID'>()
      expectTypeOf(error.faults).toEqualTypeOf<readonly Fault[]>()
      return error.faults.map(({ path }) => path)
    }
    try {
      guardOf().loadDegradeRules([{ resource: 'r', strategy: 'error-ratio', threshold: 2 }])
    } catch (error) {
      expect(faultsOf(error)).toEqual(['degrade[0].threshold'])
    }
    expect.assertions(1)
  })
})
