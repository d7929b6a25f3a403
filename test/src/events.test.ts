// Events: in order, after the operation, to those who listened when it was delivered, and harmless whatever they do.
import type { BlockedEvent, GuardEvents, StateChangeEvent } from 'leapguard'
import { describe, expect, it } from 'vitest'
import { flush } from '../support/scenario.js'
import { fail, HAIR, INVALID, thrown, unhandledBy, watched } from './support.js'

function hair(resource = 'r') {
  const setup = watched()
  setup.guard.setRulesFor(resource, { degrade: [HAIR] })
  return setup
}

describe('payloads', () => {
  it('of a state change say from, to, why, what was measured and when', () => {
    const { guard, clock } = hair()
    const events: StateChangeEvent[] = []
    guard.on('state', (event) => events.push(event))
    clock.set(5)
    fail(guard)
    clock.set(1005)
    guard.enter('r').exit()
    const { rules } = { rules: guard.rules().degrade }
    const common = { type: 'state', resource: 'r', rule: rules[0], threshold: 1 }
    expect(events).toStrictEqual([
      { ...common, from: 'closed', to: 'open', reason: 'threshold', value: 1, total: 1, at: 5 },
      { ...common, from: 'open', to: 'half-open', reason: 'cooldown-elapsed', value: undefined, total: 0, at: 1005 },
      { ...common, from: 'half-open', to: 'closed', reason: 'probe-succeeded', value: undefined, total: 1, at: 1005 },
    ])
    expect(events[0]?.rule).toBe(rules[0])
  })

  it('of a refusal are those of the error', async () => {
    const { guard, clock } = hair()
    fail(guard)
    const events: BlockedEvent[] = []
    guard.on('blocked', (event) => events.push(event))
    clock.set(400)
    const error = (await guard.entry('r', () => 1).catch((refusal: unknown) => refusal)) as BlockedEvent
    guard.tryEnter('r')
    const { code, kind, rule, retryAfterMs } = error
    const expected = { type: 'blocked', resource: 'r', code, kind, rule, retryAfterMs, at: 400 }
    expect(events).toStrictEqual([expected, expected])
    expect(retryAfterMs).toBe(600)
  })

  it('of a forced resource name no rule and no wait', () => {
    const { guard } = hair()
    const events: BlockedEvent[] = []
    guard.on('blocked', (event) => events.push(event))
    guard.forceOpen('r')
    guard.tryEnter('r')
    expect(events).toMatchObject([
      { kind: 'degrade', code: 'ERR_BLOCKED_DEGRADE', rule: undefined, retryAfterMs: undefined },
    ])
  })

  it('of a load are its report', () => {
    const { guard, clock } = watched()
    const events: GuardEvents['reload'][] = []
    guard.on('reload', (event) => events.push(event))
    clock.set(7)
    const report = guard.loadDegradeRules([{ ...HAIR, resource: 'r' }])
    expect(events).toStrictEqual([{ type: 'reload', ...report }])
    expect(report.at).toBe(7)
    expect(() => guard.loadDegradeRules([{} as never])).toThrow()
    expect(events).toHaveLength(1)
  })
})

describe('order', () => {
  it('a refusal is told after the state change that caused it', () => {
    const { guard, clock } = watched()
    guard.setRulesFor('r', {
      degrade: [{ strategy: 'slow-call-ratio', threshold: 1, maxAllowedRtMs: 80, minRequestAmount: 1 }],
    })
    const told: string[] = []
    guard.on('blocked', () => told.push('blocked'))
    guard.on('state', ({ to }) => told.push(to))
    guard.enter('r')
    clock.set(1000)
    expect(guard.tryEnter('r')).toBe(-1)
    expect(told).toEqual(['open', 'blocked'])
  })

  it('dropped states are told before the load that dropped them', () => {
    const { guard } = hair()
    fail(guard)
    const told: string[] = []
    guard.on('reload', () => told.push('reload'))
    guard.on('state', ({ to, reason }) => told.push(`${to}: ${reason}`))
    guard.loadDegradeRules([])
    expect(told).toEqual(['closed: reload', 'reload'])
  })

  it('listeners hear in the order in which they were added, one added twice hears twice', () => {
    const { guard } = hair()
    const told: number[] = []
    const second = () => told.push(2)
    guard.on('state', () => told.push(1))
    const offFirst = guard.on('state', second)
    guard.on('state', second)
    fail(guard)
    expect(told).toEqual([1, 2, 2])
    offFirst()
    offFirst()
    guard.reset('r')
    expect(told).toEqual([1, 2, 2, 1, 2])
  })

  it('what a listener causes joins the end, and every listener hears everything in the same order', () => {
    const { guard } = watched()
    for (const name of ['a', 'b', 'c']) guard.setRulesFor(name, { degrade: [HAIR] })
    const told: string[] = []
    guard.on('state', ({ resource }) => {
      told.push(`first hears ${resource}`)
      if (resource === 'a') fail(guard, 'b')
      if (resource === 'b') fail(guard, 'c')
    })
    guard.on('state', ({ resource }) => told.push(`second hears ${resource}`))
    fail(guard, 'a')
    expect(told).toEqual(['a', 'b', 'c'].flatMap((name) => [`first hears ${name}`, `second hears ${name}`]))
  })
})

describe('subscribing and unsubscribing', () => {
  it('inside a listener does not change who hears the event that is being told', () => {
    const { guard } = hair()
    const told: string[] = []
    const offLater = { off: () => {} }
    guard.on('state', () => {
      told.push('first')
      offLater.off()
      guard.on('state', () => told.push('new'))
    })
    offLater.off = guard.on('state', () => told.push('removed'))
    fail(guard)
    expect(told).toEqual(['first', 'removed'])
    guard.reset('r')
    expect(told).toEqual(['first', 'removed', 'first', 'new'])
  })

  it('of oneself works while being told', () => {
    const { guard } = hair()
    let heard = 0
    const off = guard.on('state', () => {
      heard++
      off()
    })
    fail(guard)
    guard.reset('r')
    expect(heard).toBe(1)
  })

  it.each(['open', 'States', '', '__proto__', 'toString', Symbol('state'), undefined, 7])(
    'to the event %s is refused',
    (name) => {
      const { guard } = watched()
      // @ts-expect-error there is no such event
      expect(thrown(() => guard.on(name, () => {}))).toMatchObject(INVALID)
    },
  )

  it.each([undefined, null, {}, 'fn'])('with %s in place of a listener is refused', (listener) => {
    const { guard } = watched()
    // @ts-expect-error a listener is a function
    expect(thrown(() => guard.on('state', listener))).toMatchObject(INVALID)
  })
})

describe('a listener that fails', () => {
  it('harms neither the call nor other listeners, and is told once', async () => {
    const { guard, faults, told } = watched()
    const fault = new Error('listener')
    let heard = 0
    guard.on('blocked', () => {
      throw fault
    })
    guard.on('blocked', () => heard++)
    guard.forceOpen('r')
    for (let i = 0; i < 3; i++) expect(guard.tryEnter('r')).toBe(-1)
    await expect(guard.entry('r', () => 1)).rejects.toMatchObject({ code: 'ERR_BLOCKED_DEGRADE' })
    expect(heard).toBe(4)
    expect(told()).toEqual([['LEAPGUARD_LISTENER', 'listener']])
    expect(faults[0]?.error).toBe(fault)
  })

  it('later is told too, and nothing is left unhandled', async () => {
    const { guard, faults, told } = watched()
    const fault = new Error('listener, later')
    guard.on('blocked', async () => {
      throw fault
    })
    guard.forceOpen('r')
    const seen = await unhandledBy(async () => {
      for (let i = 0; i < 3; i++) guard.tryEnter('r')
      await flush()
    })
    expect(seen).toEqual([])
    expect(told()).toEqual([['LEAPGUARD_LISTENER', 'listener']])
    expect(faults[0]?.error).toBe(fault)
  })

  it('does not hide that another one fails as well', () => {
    const { guard, faults } = watched()
    const [a, b] = [new Error('a'), new Error('b')]
    for (const fault of [a, b])
      guard.on('blocked', () => {
        throw fault
      })
    guard.forceOpen('r')
    guard.tryEnter('r')
    guard.tryEnter('r')
    expect(faults.map(({ error }) => error)).toEqual([a, b])
  })
})

describe('reentrancy', () => {
  it('a listener may reload, reset, force and configure, and finds everything in place', () => {
    const { guard } = hair()
    const seen: unknown[] = []
    guard.on('state', ({ to }) => {
      seen.push([to, guard.stats('r').rules[0]?.state])
      if (seen.length === 1) {
        guard.setRulesFor('r', { degrade: [{ ...HAIR, threshold: 2 }] })
        guard.reset('r')
        guard.configure('r', { fallbacks: [() => 'instead'] })
      }
    })
    fail(guard)
    expect(seen).toEqual([
      ['open', 'open'],
      ['closed', 'closed'],
    ])
    expect(guard.rules().degrade).toMatchObject([{ threshold: 2 }])
  })

  it('a listener may dispose of the guard: nobody hears any more, and the call goes on', async () => {
    const { guard, clock } = hair()
    fail(guard)
    clock.set(1000)
    const told: string[] = []
    guard.on('state', () => {
      told.push('first')
      guard.dispose()
    })
    expect(await guard.entry('r', () => 'value')).toBe('value')
    expect(told).toEqual(['first'])
  })
})

it('without listeners nothing is kept for later ones', () => {
  const { guard } = hair()
  fail(guard)
  guard.tryEnter('r')
  const told: string[] = []
  guard.on('state', ({ to }) => told.push(to))
  guard.on('blocked', () => told.push('blocked'))
  guard.reset('r')
  expect(told).toEqual(['closed'])
})
