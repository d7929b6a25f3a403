// Faults that must not reach a call: told once per cause, by the listener or as a warning, and not without end.
import { createGuard, type Guard } from 'leapguard'
import { ManualClock } from 'leapguard/testing'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { Breaker } from '../../rules/index.js'
import { Faults } from '../../src/faults.js'
import { fail, HAIR, unhandledBy, watched } from './support.js'

afterEach(() => {
  vi.restoreAllMocks()
})

const silenced = () => vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
const brokenClassify = (guard: Guard, resource: string) =>
  guard.configure(resource, {
    classify: () => {
      throw new Error('in classify')
    },
  })

describe('without a listener', () => {
  it('a fault is a warning with a code, once', async () => {
    const warn = silenced()
    const guard = createGuard({ clock: new ManualClock() })
    brokenClassify(guard, 'r')
    for (let i = 0; i < 3; i++) await guard.entry('r', () => 1)
    expect(warn.mock.calls).toEqual([
      [expect.stringMatching(/classify.*"r".*in classify/), { type: 'LeapguardWarning', code: 'LEAPGUARD_CALLBACK' }],
    ])
  })

  it('a fault of a custom rule names it', () => {
    const warn = silenced()
    const guard = createGuard({ clock: new ManualClock() })
    guard.configure('r', { rules: [{ id: 'mine', check: () => Number.NaN }] })
    guard.enter('r').exit()
    expect(warn.mock.calls).toEqual([
      [expect.stringMatching(/check.*"mine".*"r"/), { type: 'LeapguardWarning', code: 'LEAPGUARD_CUSTOM_RULE' }],
    ])
  })
})

describe('a listener that cannot listen', () => {
  it('because it throws is replaced by the warning', async () => {
    const warn = silenced()
    const { guard } = watched({
      onInternalError: () => {
        throw new Error('in the listener')
      },
    })
    brokenClassify(guard, 'r')
    expect(await guard.entry('r', () => 1)).toBe(1)
    expect(warn).toHaveBeenCalledTimes(1)
  })

  it('because it rejects later leaves nothing unhandled', async () => {
    silenced()
    const { guard } = watched({
      onInternalError: async () => {
        throw new Error('in the listener')
      },
    })
    brokenClassify(guard, 'r')
    expect(await unhandledBy(() => guard.entry('r', () => 1))).toEqual([])
  })
})

describe('the limit', () => {
  it('of a thousand causes ends with one last report, and the rest is silent', () => {
    const told: string[] = []
    const faults = new Faults(
      (_error, { code, where, resource }) => told.push(`${code} ${where} ${resource ?? '-'}`),
      'guard',
    )
    for (let i = 0; i < 3000; i++) {
      faults.report('LEAPGUARD_CALLBACK', 'classify', `r${i}`, new Error('e'))
      faults.report('LEAPGUARD_CALLBACK', 'classify', `r${i}`, new Error('again'))
    }
    expect(told.length).toBeGreaterThanOrEqual(1001)
    expect(told.length).toBeLessThanOrEqual(1002)
    expect(told.at(-1)).toBe('LEAPGUARD_INTERNAL faults -')
    expect(told.filter((line) => line.startsWith('LEAPGUARD_INTERNAL'))).toHaveLength(1)
    expect(told[0]).toBe('LEAPGUARD_CALLBACK classify r0')
  })

  it('causes are told apart by code, place, resource and detail, whatever these contain', () => {
    let told = 0
    const faults = new Faults(() => told++, 'guard')
    for (let twice = 0; twice < 2; twice++) {
      faults.report('LEAPGUARD_CUSTOM_RULE', 'take', 'a', 1, 'b')
      faults.report('LEAPGUARD_CUSTOM_RULE', 'take', 'a","b', 1, '')
      faults.report('LEAPGUARD_CUSTOM_RULE', 'take', 'a', 1, '')
      faults.report('LEAPGUARD_CUSTOM_RULE', 'check', 'a', 1, '')
      faults.report('LEAPGUARD_CALLBACK', 'check', 'a', 1, '')
      faults.report('LEAPGUARD_CALLBACK', 'check', undefined, 1, '')
    }
    expect(told).toBe(6)
  })

  it('any value can be a fault, and none breaks the warning', () => {
    const warn = silenced()
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    const hostile = Object.defineProperty(new Error('e'), 'message', {
      get() {
        throw new Error('no message')
      },
    })
    const values = [undefined, null, Symbol('s'), 1n, 'text', Object.create(null), hostile, proxy]
    const faults = new Faults(undefined, 'guard')
    values.forEach((value, i) => {
      faults.report('LEAPGUARD_LISTENER', 'listener', `r${i}`, value)
    })
    expect(warn).toHaveBeenCalledTimes(values.length)
  })
})

describe('a fault of our own', () => {
  const throwing = (verb: 'advance' | 'check' | 'take' | 'settle' | 'waitMs') =>
    vi.spyOn(Breaker.prototype, verb).mockImplementation(() => {
      throw new Error(`our own, in ${verb}`)
    })

  it.each(['advance', 'check', 'take', 'settle'] as const)(
    'in %s never blocks a call: it runs, is counted, and the fault is told once',
    async (verb) => {
      const { guard, told } = watched()
      guard.setRulesFor('r', { degrade: [HAIR, { ...HAIR, id: 'second' }] })
      throwing(verb)
      for (let i = 0; i < 3; i++) expect(await guard.entry('r', async () => i)).toBe(i)
      expect(guard.entrySync('r', () => 7)).toBe(7)
      guard.enter('r').exit()
      guard.leave(guard.tryEnter('r'))
      expect(guard.stats('r').totals).toMatchObject({ passed: 6, succeeded: 6, blocked: 0, running: 0 })
      const [[code, where] = [], ...rest] = told()
      expect([code, rest]).toEqual(['LEAPGUARD_INTERNAL', []])
      expect(where).toBe(verb === 'advance' ? 'check' : verb)
    },
  )

  it('in waitMs, while a call is being refused, lets it pass', async () => {
    const { guard, told } = watched()
    guard.setRulesFor('r', { degrade: [HAIR] })
    fail(guard)
    const broken = throwing('waitMs')
    expect(await guard.entry('r', () => 'value')).toBe('value')
    broken.mockRestore()
    expect(told()).toEqual([['LEAPGUARD_INTERNAL', 'check']])
    expect(guard.stats('r').totals).toMatchObject({ blocked: 0, wouldBlock: 0, running: 0 })
  })

  it('in settle, while another rule gives back, still lets the call run', async () => {
    const { guard } = watched()
    guard.setRulesFor('r', { degrade: [HAIR] })
    guard.configure('r', {
      rules: [
        {
          check: () => 0,
          take: () => {
            throw new Error('the user’s own')
          },
        },
      ],
    })
    throwing('settle')
    let promise: Promise<unknown> | undefined
    expect(() => {
      promise = guard.entry('r', () => 'value')
    }).not.toThrow()
    expect(await promise).toBe('value')
    expect(guard.stats('r').totals).toMatchObject({ succeeded: 1, running: 0 })
  })
})

describe('a random source of the user’s own', () => {
  const jittery = { ...HAIR, cooldownJitter: 0.5 } as const

  it('that throws is told, and the breaker opens all the same', () => {
    const { guard, faults } = watched({
      random: () => {
        throw new Error('no dice')
      },
    })
    guard.setRulesFor('r', { degrade: [jittery] })
    fail(guard)
    expect(guard.stats('r').rules[0]?.state).toBe('open')
    expect(faults).toMatchObject([{ error: new Error('no dice') }])
  })

  it('that gives no number holds no breaker open for ever', () => {
    for (const nonsense of [Number.NaN, undefined, 'half', {}]) {
      const { guard, clock } = watched({ random: () => nonsense as number })
      guard.setRulesFor('r', { degrade: [jittery] })
      fail(guard)
      expect(guard.stats('r').rules[0]?.state).toBe('open')
      clock.set(1500)
      guard.enter('r').exit()
      expect(guard.stats('r').rules[0]?.state).toBe('closed')
    }
  })

  it('that answers by a promise has not answered, and its rejection ends no process', async () => {
    const failing = async (): Promise<never> => Promise.reject(new Error('no dice'))
    const { guard, told } = watched({ random: failing as unknown as () => number })
    guard.setRulesFor('r', { degrade: [jittery] })
    expect(await unhandledBy(() => fail(guard))).toEqual([])
    expect(guard.stats('r').rules[0]?.state).toBe('open')
    expect(told()).toEqual([['LEAPGUARD_CALLBACK', 'random']])
  })

  it('is asked only where there is jitter, once per opening', () => {
    let asked = 0
    const { guard } = watched({ random: () => ++asked * 0 })
    guard.setRulesFor('plain', { degrade: [HAIR] })
    guard.setRulesFor('jittery', { degrade: [jittery] })
    fail(guard, 'plain')
    expect(asked).toBe(0)
    fail(guard, 'jittery')
    expect(asked).toBe(1)
  })
})
