// The diagnostics channels: what is published, when, in which order, and that nothing is made for nobody.
import { execFileSync } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { fileURLToPath } from 'node:url'
import {
  type BlockedEvent,
  type ChannelMessages,
  CircuitBreaker,
  channels,
  createGuard,
  type EventChannel,
  type GuardOptions,
  type StateChangeEvent,
} from 'leapguard'
import { ManualClock } from 'leapguard/testing'
import { afterEach, describe, expect, it } from 'vitest'
import { State } from '../../rules/index.js'
import { Events } from '../../src/events.js'
import { Faults } from '../../src/faults.js'
import { fail, HAIR, type Watched, watched } from './support.js'

type Name = keyof typeof channels
const NAMES = Object.keys(channels) as Name[]

const leave: (() => void)[] = []
afterEach(() => {
  for (const off of leave.splice(0)) off()
  for (const name of NAMES) expect(channels[name].hasSubscribers, name).toBe(false)
})

/** Listens until the end of the test, or until what is returned is called. */
function listen<N extends Name>(name: N, hear: (message: ChannelMessages[N]) => void): () => void {
  const channel = channels[name] as EventChannel<ChannelMessages[N]>
  channel.subscribe(hear)
  const off = () => channel.unsubscribe(hear)
  leave.push(off)
  return off
}

function hair(options: GuardOptions = {}): Watched {
  const setup = watched({ name: 'gateway', ...options })
  setup.guard.setRulesFor('r', { degrade: [HAIR] })
  return setup
}

it('the channels have the names that are documented', () => {
  expect(Object.entries(channels).map(([key, { name }]) => [key, name])).toEqual([
    ['state', 'leapguard:breaker:state'],
    ['blocked', 'leapguard:call:blocked'],
    ['reload', 'leapguard:rules:reload'],
    ['fault', 'leapguard:guard:fault'],
  ])
  expect(Object.isFrozen(channels)).toBe(true)
})

describe('a message', () => {
  it('of a state change, refusal or load is the event of the listeners, and the name of the guard', () => {
    const setup = watched({ name: 'gateway' })
    const { guard, clock } = setup
    const events: unknown[] = []
    const messages: unknown[] = []
    for (const name of ['state', 'blocked', 'reload'] as const) {
      guard.on(name, (event) => events.push({ ...event, guard: 'gateway' }))
      listen(name, (message) => messages.push(message))
    }
    guard.setRulesFor('r', { degrade: [HAIR] })
    clock.set(5)
    fail(guard)
    guard.tryEnter('r')
    clock.set(1005)
    guard.enter('r').exit()
    guard.remove('r')
    expect(messages).toStrictEqual(events)
    expect(messages.map((message) => (message as { type: string }).type)).toEqual([
      'reload',
      'state',
      'blocked',
      'state',
      'state',
    ])
  })

  it('names the rule in force, the same object', () => {
    const { guard } = hair()
    const told: StateChangeEvent[] = []
    listen('state', (message) => told.push(message))
    fail(guard)
    expect(told).toHaveLength(1)
    expect(told[0]?.rule).toBe(guard.rules().degrade[0])
  })

  it('is there for whoever knows only the name of the channel', () => {
    const heard: unknown[] = []
    const hear = (message: unknown, name: string | symbol) => heard.push([name, message])
    subscribe('leapguard:call:blocked', hear)
    leave.push(() => unsubscribe('leapguard:call:blocked', hear))
    const { guard } = watched()
    guard.forceOpen('r')
    guard.tryEnter('r')
    expect(heard).toStrictEqual([
      [
        'leapguard:call:blocked',
        {
          type: 'blocked',
          resource: 'r',
          kind: 'degrade',
          code: 'ERR_BLOCKED_DEGRADE',
          rule: undefined,
          retryAfterMs: undefined,
          at: 0,
          guard: 'guard',
        },
      ],
    ])
  })

  it('comes by every way in', async () => {
    const { guard } = hair()
    const told: BlockedEvent[] = []
    listen('blocked', (message) => told.push(message))
    guard.forceOpen('r')
    await guard.entry('r', () => 1).catch(() => {})
    for (const act of [() => guard.entrySync('r', () => 1), () => guard.enter('r')]) expect(act).toThrow()
    guard.tryEnter('r')
    expect(told.map(({ code }) => code)).toEqual(new Array(4).fill('ERR_BLOCKED_DEGRADE'))
  })

  it('says which guard it is of', () => {
    const told: string[] = []
    listen('state', ({ guard, resource }) => told.push(`${guard}: ${resource}`))
    for (const name of ['first', 'second']) {
      const { guard } = hair({ name })
      fail(guard)
    }
    expect(told).toEqual(['first: r', 'second: r'])
  })

  it("of a CircuitBreaker is of the guard 'circuit-breaker' and the resource of its name", async () => {
    const told: string[] = []
    listen('state', ({ guard, resource, from, to, reason }) =>
      told.push(`${guard}, ${resource}: ${from} > ${to}, ${reason}`),
    )
    const breaker = new CircuitBreaker({ failureThreshold: 1, clock: new ManualClock(0), name: 'mail' })
    await breaker.run(() => Promise.reject(new Error('down'))).catch(() => {})
    breaker.reset()
    expect(told).toEqual([
      'circuit-breaker, mail: closed > open, threshold',
      'circuit-breaker, mail: open > closed, reset',
    ])
  })
})

describe('timing', () => {
  it('is that of the listeners: after them, event by event, in the order in which things happened', () => {
    const { guard, clock } = watched()
    guard.setRulesFor('r', {
      degrade: [{ strategy: 'slow-call-ratio', threshold: 1, maxAllowedRtMs: 80, minRequestAmount: 1 }],
    })
    const told: string[] = []
    listen('blocked', () => told.push('channel: blocked'))
    listen('state', ({ to }) => told.push(`channel: ${to}`))
    guard.on('blocked', () => told.push('listener: blocked'))
    guard.on('state', ({ to }) => told.push(`listener: ${to}`))
    guard.enter('r')
    clock.set(1000)
    guard.tryEnter('r')
    expect(told).toEqual(['listener: open', 'channel: open', 'listener: blocked', 'channel: blocked'])
  })

  it('a subscriber finds the new state, the totals and the statistics settled', () => {
    const { guard, clock } = hair({ statistics: true })
    const seen: unknown[] = []
    listen('state', ({ to }) => {
      const { rules, totals, window } = guard.stats('r')
      seen.push([to, rules[0]?.state, totals.failed, totals.running, window?.failed, guard.tryEnter('r') >= 0])
    })
    listen('blocked', () => seen.push(guard.stats('r').totals.blocked))
    fail(guard)
    clock.set(1000)
    guard.enter('r').exit()
    expect(seen).toEqual([
      ['open', 'open', 1, 0, 1, false],
      1,
      ['half-open', 'half-open', 1, 1, 1, false],
      2,
      ['closed', 'closed', 1, 0, 1, true],
    ])
  })

  it('what a subscriber causes joins the end, and all hear everything in the same order', () => {
    const { guard } = watched()
    for (const name of ['a', 'b']) guard.setRulesFor(name, { degrade: [HAIR] })
    const told: string[] = []
    listen('state', ({ resource }) => {
      told.push(`first ${resource}`)
      if (resource === 'a') fail(guard, 'b')
    })
    listen('state', ({ resource }) => told.push(`second ${resource}`))
    fail(guard, 'a')
    expect(told).toEqual(['first a', 'second a', 'first b', 'second b'])
  })

  it('dispose ends it, for calls in flight too', () => {
    const { guard } = hair()
    const told: unknown[] = []
    listen('state', (message) => told.push(message))
    listen('blocked', (message) => told.push(message))
    const handle = guard.enter('r')
    guard.dispose()
    handle.exit({ error: new Error('late') })
    guard.on('state', (event) => told.push(event))
    expect(told).toEqual([])
  })
})

describe('subscribers may come and go at any time', () => {
  it('before and after the guard is made, between two calls, and while a message is published', () => {
    const told: string[] = []
    const offEarly = listen('blocked', () => told.push('early'))
    const { guard } = watched()
    guard.forceOpen('r')
    guard.tryEnter('r')
    offEarly()
    guard.tryEnter('r')
    listen('state', () => {
      told.push('state')
      listen('blocked', () => told.push('late'))
    })
    guard.setRulesFor('other', { degrade: [HAIR] })
    fail(guard, 'other')
    guard.tryEnter('r')
    expect(told).toEqual(['early', 'state', 'late'])
  })

  it('one that leaves before its message is told does not hear it', () => {
    const { guard } = hair()
    const told: string[] = []
    const off = listen('state', () => told.push('channel'))
    guard.on('state', () => off())
    fail(guard)
    expect(told).toEqual([])
  })

  it('without any, nothing is made and nothing is kept for later', () => {
    const events = new Events(new Faults(() => {}, 'g'), 'g')
    const rule = hair().guard.rules().degrade[0]
    if (rule === undefined) throw new Error('no rule')
    const change = () => events.stateChanged('r', rule, State.CLOSED, State.OPEN, 'threshold', 1, 1, 0)
    change()
    expect([events.waiting, events.hearsBlocked]).toEqual([false, false])
    const told: unknown[] = []
    const off = listen('state', (message) => told.push(message))
    const offBlocked = listen('blocked', () => {})
    events.deliver()
    expect([told.length, events.hearsBlocked]).toEqual([0, true])
    change()
    expect(events.waiting).toBe(true)
    events.deliver()
    expect(told).toHaveLength(1)
    off()
    offBlocked()
    change()
    expect([events.waiting, events.hearsBlocked]).toEqual([false, false])
  })
})

describe('a fault', () => {
  it('is published as onInternalError is told, once per cause, and after it', () => {
    const told: unknown[] = []
    const fault = new Error('classify')
    const guard = createGuard({
      name: 'gateway',
      clock: new ManualClock(0),
      onInternalError: (error, info) => told.push(['told', error, info]),
    })
    listen('fault', (message) => told.push(message))
    guard.configure('r', {
      classify: () => {
        throw fault
      },
    })
    for (let i = 0; i < 3; i++) guard.entrySync('r', () => 1)
    const info = { where: 'classify', resource: 'r', code: 'LEAPGUARD_CALLBACK' }
    expect(told).toStrictEqual([['told', fault, info], { type: 'fault', ...info, error: fault, guard: 'gateway' }])
  })

  it('of a listener is one, and does not disturb the message it failed at', () => {
    const { guard, told: faults } = hair()
    const told: string[] = []
    guard.on('state', () => {
      throw new Error('listener')
    })
    listen('state', () => told.push('state'))
    listen('fault', ({ code }) => told.push(code))
    fail(guard)
    expect(told).toEqual(['LEAPGUARD_LISTENER', 'state'])
    expect(faults()).toEqual([['LEAPGUARD_LISTENER', 'listener']])
  })

  it('is published even if onInternalError fails', () => {
    const told: string[] = []
    const off = (): void => {}
    const warn = process.emitWarning
    process.emitWarning = off
    try {
      const guard = createGuard({
        onInternalError: () => {
          throw new Error('deaf')
        },
      })
      listen('fault', ({ code, where, resource }) => told.push(`${code} ${where} ${resource}`))
      guard.dispose()
      guard.entrySync('r', () => 1)
    } finally {
      process.emitWarning = warn
    }
    expect(told).toEqual(['LEAPGUARD_DISPOSED entry undefined'])
  })
})

it('a subscriber that throws reaches no call: Node.js raises its error as an uncaught exception, later', {
  timeout: 60_000,
}, () => {
  const root = fileURLToPath(new URL('../../', import.meta.url))
  const args = ['--import', 'tsx', 'test/support/throwing-subscriber.ts']
  const { results, order, raised, heard, totals } = JSON.parse(
    execFileSync(process.execPath, args, { cwd: root, encoding: 'utf8' }),
  )
  const names = [
    'leapguard:rules:reload',
    'leapguard:breaker:state',
    'leapguard:call:blocked',
    'leapguard:guard:fault',
    'leapguard:call:blocked',
  ]
  expect(results).toEqual(['down', 'ERR_BLOCKED_DEGRADE', 'up', '-1'])
  expect(raised).toEqual(names.map((name) => `thrown on ${name}`))
  expect(order.indexOf('synchronous calls returned')).toBeLessThan(order.indexOf(`raised: thrown on ${names[3]}`))
  expect(heard).toEqual([names[0], 'open', ...names.slice(1)])
  expect(totals).toMatchObject({ passed: 1, failed: 1, blocked: 2, running: 0 })
})
