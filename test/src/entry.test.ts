// The contract of entry: one promise, settled like the function's own result, whatever that is.
import { runInNewContext } from 'node:vm'
import type { CallContext } from 'leapguard'
import { describe, expect, it } from 'vitest'
import { deferred, flush, thrownBy } from '../support/scenario.js'
import { HAIR, INVALID, unhandledBy, watched } from './support.js'

const OVER = { passed: 1, running: 0 }

describe('the context', () => {
  it('of a function without parameters is one frozen object for all calls', async () => {
    const { guard } = watched()
    const contexts: CallContext[] = []
    // Whatever it is called with, its length is 0.
    const spy = (...args: [CallContext]) => {
      contexts.push(...args)
    }
    await guard.entry('r', spy)
    await guard.entry('r', async (...args: [CallContext]) => spy(...args))
    guard.entrySync('r', spy)
    expect(contexts).toHaveLength(3)
    const [context] = contexts
    expect(contexts.every((other) => other === context)).toBe(true)
    expect(Object.isFrozen(context)).toBe(true)
    expect([context?.resource, context?.attempt, context?.signal.aborted]).toEqual(['r', 1, false])
  })

  it('of a function with a parameter is its own, and its signal is made when asked for and stays the same', async () => {
    const { guard } = watched()
    const contexts: CallContext[] = []
    for (let i = 0; i < 2; i++) await guard.entry('r', (context) => contexts.push(context))
    const [a, b] = contexts
    expect(a).not.toBe(b)
    expect(a?.signal).toBe(a?.signal)
    expect(a?.signal).not.toBe(b?.signal)
    expect(a?.signal).toBeInstanceOf(AbortSignal)
    expect([a?.signal.aborted, a?.attempt, a?.resource]).toEqual([false, 1, 'r'])
  })

  it('carries the signal of the caller, to functions without parameters too', async () => {
    const { guard } = watched()
    const { signal } = new AbortController()
    const seen: unknown[] = []
    await guard.entry('r', (context) => seen.push(context.signal), { signal })
    await guard.entry('r', (...[context]: [CallContext]) => seen.push(context.signal), { signal })
    guard.entrySync('r', (context) => seen.push(context.signal), { signal })
    expect(seen).toEqual([signal, signal, signal])
  })

  it('names each resource by itself', async () => {
    const { guard } = watched()
    const name = (context: CallContext) => context.resource
    expect([await guard.entry('a', name), await guard.entry('__proto__', name)]).toEqual(['a', '__proto__'])
    expect(await guard.entry('b', (...[context]: [CallContext]) => context.resource)).toBe('b')
  })
})

describe('what the function returns comes back as it is', () => {
  const object: unknown = Object.fromEntries([['then', 'not a function']])
  it.each([
    ['undefined', undefined],
    ['null', null],
    ['0', 0],
    ['an object with a then that is no function', object],
    ['a function', () => 1],
    ['an error', new Error('a value')],
  ])('%s', async (_what, value) => {
    const { guard } = watched()
    expect(await guard.entry('r', (): unknown => value)).toBe(value)
    expect(await guard.entry('r', async (): Promise<unknown> => value)).toBe(value)
    expect(guard.stats('r').totals).toMatchObject({ succeeded: 2, running: 0 })
  })

  it('a subclassed promise is adopted', async () => {
    class Tracked<T> extends Promise<T> {}
    const { guard } = watched()
    const good = guard.entry('r', () => Tracked.resolve(7))
    const bad = guard.entry('r', () => Tracked.reject(new Error('no')))
    expect(await good).toBe(7)
    await expect(bad).rejects.toThrow('no')
    expect(guard.stats('r').totals).toMatchObject({ passed: 2, succeeded: 1, failed: 1, running: 0 })
  })

  it('a promise of another realm is adopted', async () => {
    const { guard } = watched()
    expect(await guard.entry('r', () => runInNewContext('Promise.resolve(7)') as Promise<number>)).toBe(7)
    expect(guard.stats('r').totals).toMatchObject({ succeeded: 1, running: 0 })
  })

  it('one promise that two calls return settles both', async () => {
    const { guard } = watched()
    const shared = Promise.resolve('shared')
    expect(await Promise.all([guard.entry('r', () => shared), guard.entry('r', () => shared)])).toEqual([
      'shared',
      'shared',
    ])
    expect(guard.stats('r').totals).toMatchObject({ succeeded: 2, running: 0 })
  })
})

describe('odd thenables', () => {
  /** A thenable of the given `then`. */
  const thenable = (then: PromiseLike<unknown>['then']): PromiseLike<unknown> => ({ then }) as PromiseLike<unknown>

  it('that call back twice settle the call once, by the first', async () => {
    const { guard } = watched()
    guard.setRulesFor('r', { degrade: [{ ...HAIR, threshold: 2 }] })
    const twice = thenable((resolve, reject) => {
      resolve?.('first')
      reject?.(new Error('second'))
      resolve?.('third')
      return twice as never
    })
    expect(await guard.entry('r', () => twice)).toBe('first')
    await flush()
    expect(guard.stats('r')).toMatchObject({ totals: { succeeded: 1, failed: 0, running: 0 }, rules: [{ bad: 0 }] })
  })

  it('that throw from then are failures', async () => {
    const { guard } = watched()
    const broken = thenable(() => {
      throw new Error('in then')
    })
    await expect(guard.entry('r', () => broken)).rejects.toThrow('in then')
    expect(guard.stats('r').totals).toMatchObject({ failed: 1, running: 0 })
  })

  it('that call back and then throw are what they called back', async () => {
    const { guard } = watched()
    const both = thenable((resolve) => {
      resolve?.('called back')
      throw new Error('afterwards')
    })
    expect(await guard.entry('r', () => both)).toBe('called back')
    expect(guard.stats('r').totals).toMatchObject({ succeeded: 1, running: 0 })
  })

  it('that never call back stay in flight, and nobody else notices', async () => {
    const { guard } = watched()
    let settled = false
    const note = () => {
      settled = true
    }
    guard.entry('r', () => thenable(() => undefined as never)).then(note, note)
    await flush()
    expect([settled, guard.stats('r').totals]).toEqual([false, expect.objectContaining({ passed: 1, running: 1 })])
    expect(await guard.entry('r', () => 'other')).toBe('other')
  })

  it('that resolve to another thenable are followed to the end', async () => {
    const { guard } = watched()
    const inner = thenable((_resolve, reject) => {
      reject?.(new Error('deep'))
      return inner as never
    })
    const outer = thenable((resolve) => {
      resolve?.(inner)
      return outer as never
    })
    await expect(guard.entry('r', () => outer)).rejects.toThrow('deep')
    expect(guard.stats('r').totals).toMatchObject({ failed: 1, running: 0 })
  })

  const throwing = (target: object, key: string): object =>
    Object.defineProperty(target, key, {
      get() {
        throw new Error(`read ${key}`)
      },
    })
  const revoked = (): object => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    return proxy
  }
  const UNREADABLE: readonly (readonly [string, () => unknown])[] = [
    ['an object with a then that throws when read', () => throwing({}, 'then')],
    ['a promise with a then that throws when read', () => throwing(Promise.resolve(1), 'then')],
    ['a promise with a constructor that throws when read', () => throwing(Promise.resolve(1), 'constructor')],
    ['an object that answers nothing', revoked],
  ]

  it.each(UNREADABLE)('%s is a failure, never a synchronous throw', async (_what, make) => {
    for (const options of [undefined, {}, { signal: new AbortController().signal }]) {
      const { guard } = watched()
      let promise: Promise<unknown> | undefined
      expect(() => {
        promise = guard.entry('r', make, options)
      }).not.toThrow()
      expect(await thrownBy(() => promise)).not.toBe('nothing')
      expect(guard.stats('r').totals).toMatchObject({ ...OVER, failed: 1 })
    }
  })
})

describe('a synchronous throw', () => {
  it('becomes a rejection with the same error', async () => {
    const { guard } = watched()
    const error = new Error('at once')
    let promise: Promise<unknown> | undefined
    expect(() => {
      promise = guard.entry('r', () => {
        throw error
      })
    }).not.toThrow()
    expect(guard.stats('r').totals).toMatchObject({ ...OVER, failed: 1 })
    await expect(promise).rejects.toBe(error)
  })
})

describe('invalid use', () => {
  it.each([
    ['an empty name', ''],
    ['no name', undefined],
    ['null', null],
    ['a number', 7],
    ['a symbol', Symbol('r')],
    ['an object', {}],
  ])('of entry rejects for %s', async (_what, name) => {
    const { guard } = watched()
    const calls = [
      // @ts-expect-error a name is text
      () => guard.entry(name, () => 1),
    ]
    for (const call of calls) await expect(call()).rejects.toMatchObject(INVALID)
    expect(guard.resources()).toEqual([])
  })

  it.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, '1', null, 1n, {}])(
    'a count of %s is refused by every entrance',
    async (count) => {
      const { guard } = watched()
      const options = { count: count as number }
      let ran = 0
      const fn = () => {
        ran++
      }
      await expect(guard.entry('r', fn, options)).rejects.toMatchObject(INVALID)
      expect(() => guard.entrySync('r', fn, options)).toThrow(expect.objectContaining(INVALID))
      expect(() => guard.enter('r', options)).toThrow(expect.objectContaining(INVALID))
      expect(() => guard.tryEnter('r', options)).toThrow(expect.objectContaining(INVALID))
      await expect(guard.wrap('r', fn, options)()).rejects.toMatchObject(INVALID)
      expect([ran, guard.stats('r').totals]).toEqual([
        0,
        expect.objectContaining({ passed: 0, running: 0, blocked: 0 }),
      ])
    },
  )

  it.each([
    ['signal', 'stop'],
    ['signal', null],
    ['signal', {}],
    ['signal', new AbortController()],
    ['parent', {}],
    ['parent', 7],
    ['fallbacks', () => 1],
    ['fallbacks', [() => 1, 'default']],
    ['fallbacks', {}],
  ])('an option %s that is %o is refused before anything is counted', async (name, value) => {
    const { guard } = watched()
    const options = { [name]: value }
    await expect(guard.entry('r', () => 1, options)).rejects.toMatchObject(INVALID)
    expect(() => guard.entrySync('r', () => 1, options)).toThrow(expect.objectContaining(INVALID))
    expect(guard.stats('r').totals.passed).toBe(0)
  })

  it.each([7, 'options', true, Symbol('options')])('options that are %s are refused', async (options) => {
    const { guard } = watched()
    await expect(guard.entry('r', () => 1, options as never)).rejects.toMatchObject(INVALID)
    for (const call of [
      () => guard.entrySync('r', () => 1, options as never),
      () => guard.enter('r', options as never),
      () => guard.tryEnter('r', options as never),
    ])
      expect(call).toThrow(expect.objectContaining(INVALID))
  })

  it('a count that is good reaches the rules', async () => {
    const { guard } = watched()
    const seen: number[] = []
    guard.configure('r', {
      rules: [{ check: (_now, count) => seen.push(count) * 0, take: (_now, permit) => seen.push(permit.count) }],
    })
    await guard.entry('r', () => 1)
    await guard.entry('r', () => 1, { count: 2 ** 53 - 1 })
    guard.enter('r', { count: 3 }).cancel()
    expect(seen).toEqual([1, 1, 2 ** 53 - 1, 2 ** 53 - 1, 3, 3])
  })
})

describe('a refusal that nobody awaits', () => {
  it('raises no unhandledRejection, with and without options', async () => {
    const { guard } = watched()
    guard.forceOpen('r')
    const seen = await unhandledBy(() => {
      void guard.entry('r', () => 1)
      void guard.entry('r', () => 1, { signal: new AbortController().signal })
      void guard.wrap('r', () => 1)()
    })
    expect(seen).toEqual([])
    expect(guard.stats('r').totals.blocked).toBe(3)
  })

  it('still rejects for whoever comes later', async () => {
    const { guard } = watched()
    guard.forceOpen('r')
    const refused = guard.entry('r', () => 1)
    await flush()
    await expect(refused).rejects.toMatchObject({ code: 'ERR_BLOCKED_DEGRADE' })
  })

  it('does not hide the failures of the user', async () => {
    const { guard } = watched()
    const error = new Error('the user’s own')
    expect(await unhandledBy(() => void guard.entry('r', () => Promise.reject(error)))).toEqual([error])
  })
})

it('settles in the same tick as the function’s own promise does', async () => {
  const { guard } = watched()
  const work = deferred<string>()
  const order: string[] = []
  work.promise.then(() => order.push('own'))
  const guarded = guard.entry('r', () => work.promise).then(() => order.push('guarded'))
  work.promise.then(() => Promise.resolve().then(() => Promise.resolve().then(() => order.push('two turns later'))))
  work.resolve('value')
  await guarded
  await flush()
  expect(order).toEqual(['own', 'guarded', 'two turns later'])
})
