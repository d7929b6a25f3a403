// Calling conventions: any thrown value comes back as it is, and only functions are called.
import { isBlocked, type ResourceConfig } from 'leapguard'
import { describe, expect, it } from 'vitest'
import { flush, Scenario, thrownBy } from '../support/scenario.js'

const errors = { strategy: 'error-count', threshold: 2, cooldownMs: 5000 } as const

const VALUES: readonly (readonly [string, unknown])[] = [
  ['"nope"', 'nope'],
  ['undefined', undefined],
  ['null', null],
  ['0', 0],
  ['a frozen Error', Object.freeze(new Error('frozen'))],
]

/** Fails with a value through an entrance: rejected where the function is asynchronous, thrown where it is not. */
const WAYS = {
  'entry, rejected': (s: Scenario, value: unknown) => s.guard.entry('r', () => Promise.reject(value)),
  'entry, thrown': (s: Scenario, value: unknown) =>
    s.guard.entry('r', () => {
      throw value
    }),
  'entry, thrown by an async function': (s: Scenario, value: unknown) =>
    s.guard.entry('r', async (context) => {
      expect(context.resource).toBe('r')
      throw value
    }),
  'entrySync, thrown': (s: Scenario, value: unknown) =>
    s.guard.entrySync('r', () => {
      throw value
    }),
  'wrap, rejected': (s: Scenario, value: unknown) => s.guard.wrap('r', () => Promise.reject(value))(),
  'wrap, thrown': (s: Scenario, value: unknown) =>
    s.guard.wrap('r', () => {
      throw value
    })(),
} as const

const CONFIGS: readonly (readonly [string, ResourceConfig])[] = [
  ['plain', {}],
  ['with filters', { ignore: [TypeError, 'ERR_OTHER', (error) => error === 'other'], classify: () => undefined }],
]

describe.each(Object.keys(WAYS) as (keyof typeof WAYS)[])('%s', (way) => {
  it.each(CONFIGS.flatMap(([kind, config]) => VALUES.map(([name, value]) => [name, kind, value, config] as const)))(
    'F46 %s reaches the caller as the very same value and counts as a failure (%s)',
    async (_name, _kind, value, config) => {
      const s = new Scenario('entry', [errors])
      s.guard.configure('r', config)

      const caught = await thrownBy(() => WAYS[way](s, value))

      expect(caught).not.toBe('nothing')
      expect(caught !== 'nothing' && Object.is(caught.error, value)).toBe(true)
      expect(isBlocked(value)).toBe(false)
      expect(s.totals()).toMatchObject({ passed: 1, failed: 1, succeeded: 0, ignored: 0, running: 0 })
      expect(s.rule()).toMatchObject({ state: 'closed', total: 1, bad: 1 })
      await thrownBy(() => WAYS[way](s, value))
      expect(s.rule().state).toBe('open')
      expect(s.faults).toEqual([])
    },
  )

  it('F46 an error that could be written to is not', async () => {
    const s = new Scenario('entry', [errors])
    const error = new Error('untouched')
    const before = Object.getOwnPropertyDescriptors(error)
    const caught = await thrownBy(() => WAYS[way](s, error))
    expect(caught !== 'nothing' && caught.error).toBe(error)
    expect(Object.getOwnPropertyDescriptors(error)).toEqual(before)
    expect(Object.getPrototypeOf(error)).toBe(Error.prototype)
  })
})

it.each(VALUES)('F46 %s thrown by the last fallback reaches the caller as it is', async (_name, value) => {
  const s = new Scenario('entry', [errors])
  const fallbacks = [
    () => {
      throw new Error('first level')
    },
    () => {
      throw value
    },
  ]
  const reasons = [
    await thrownBy(() => s.guard.entry<unknown>('r', () => Promise.reject(new Error('down')), { fallbacks })),
    await thrownBy(() =>
      s.guard.entrySync<unknown>(
        'r',
        () => {
          throw new Error('down')
        },
        { fallbacks },
      ),
    ),
  ]
  expect(reasons).toEqual([{ error: value }, { error: value }])
  for (const reason of reasons) expect(reason !== 'nothing' && Object.is(reason.error, value)).toBe(true)
})

it.each(VALUES)('F46 %s given at exit is a failure, save undefined, which means no error', (_name, value) => {
  const s = new Scenario('enter', [errors])
  s.guard.enter('r').exit({ error: value })
  const failed = value === undefined ? 0 : 1
  expect(s.totals()).toMatchObject({ passed: 1, failed, succeeded: 1 - failed })
  expect(s.rule()).toMatchObject({ total: 1, bad: failed })
})

async function fetchUser(): Promise<{ name: string }> {
  return { name: 'Ada' }
}

const invalid = { name: 'TypeError', code: 'ERR_INVALID_ARGUMENT', message: expect.stringMatching(/function/i) }

it.each(['closed', 'open', 'forced open'])(
  'F47 a promise in place of a function rejects at once (%s)',
  async (state) => {
    const s = new Scenario('entry', [errors])
    if (state === 'open') await s.calls(2, 'fail')
    if (state === 'forced open') s.guard.forceOpen('r')
    const before = s.totals()

    let rejection: unknown
    const promise = s.guard.entry(
      'r',
      // @ts-expect-error a promise is not a function
      fetchUser(),
    )
    promise.catch((error: unknown) => {
      rejection = error
    })
    await flush()

    expect(rejection).toBeInstanceOf(TypeError)
    expect(rejection).toMatchObject(invalid)
    expect(isBlocked(rejection)).toBe(false)
    expect(s.totals()).toEqual(before)
    expect(s.blocked).toEqual([])
  },
)

it('F47 entrySync and wrap throw the same TypeError', () => {
  const s = new Scenario('entry', [errors])
  const calls = [
    () =>
      s.guard.entrySync(
        'r',
        // @ts-expect-error a promise is not a function
        fetchUser(),
      ),
    () =>
      s.guard.wrap(
        'r',
        // @ts-expect-error a promise is not a function
        fetchUser(),
      ),
  ]
  for (const call of calls) {
    expect(call).toThrow(TypeError)
    expect(call).toThrow(expect.objectContaining(invalid))
  }
  expect(s.totals()).toMatchObject({ passed: 0, failed: 0, running: 0 })
})

it('F47 the type checker refuses everything that is not a function', async () => {
  const s = new Scenario('entry', [errors])
  const rejections = [
    // @ts-expect-error a result is not a function
    s.guard.entry('r', { name: 'Ada' }),
    // @ts-expect-error text is not a function
    s.guard.entry('r', 'fetchUser'),
    // @ts-expect-error nothing is not a function
    s.guard.entry('r', undefined),
    // @ts-expect-error null is not a function
    s.guard.entry('r', null),
  ]
  for (const rejection of rejections) await expect(rejection).rejects.toMatchObject(invalid)
  expect(s.totals()).toMatchObject({ passed: 0, failed: 0, running: 0 })
  expect(await s.guard.entry('r', fetchUser)).toEqual({ name: 'Ada' })
})
