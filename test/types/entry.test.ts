// What the compiler makes of entry, entrySync and wrap. The type checker judges these; running them shows that the values agree.
import {
  type CallContext,
  type EntryHandle,
  type EntryOptions,
  enter,
  entry,
  entrySync,
  type Fallback,
  type FallbackContext,
  type Guard,
  leave,
  type OutcomeName,
  tryEnter,
  wrap,
} from 'leapguard'
import { describe, expect, expectTypeOf, it } from 'vitest'

interface User {
  readonly name: string
}
const ada: User = { name: 'Ada' }

describe('entry', () => {
  it('gives a promise of what the function gives, promises unwrapped', async () => {
    const plain = entry('types', () => 7)
    const promised = entry('types', async () => ada)
    const thenable = entry('types', (): PromiseLike<string> => Promise.resolve('x'))
    const nothing = entry('types', () => {})
    expectTypeOf(plain).toEqualTypeOf<Promise<number>>()
    expectTypeOf(promised).toEqualTypeOf<Promise<User>>()
    expectTypeOf(thenable).toEqualTypeOf<Promise<string>>()
    expectTypeOf(nothing).toEqualTypeOf<Promise<void>>()
    expect(await Promise.all([plain, promised, thenable, nothing])).toEqual([7, ada, 'x', undefined])
  })

  it('passes a context with signal, attempt and resource', async () => {
    await entry('types', (context) => {
      expectTypeOf(context).toEqualTypeOf<CallContext>()
      expectTypeOf(context.signal).toEqualTypeOf<AbortSignal>()
      expectTypeOf(context.attempt).toEqualTypeOf<number>()
      expectTypeOf(context.resource).toEqualTypeOf<string>()
      expectTypeOf(context).toEqualTypeOf<Readonly<CallContext>>()
      expect(context.resource).toBe('types')
    })
    expectTypeOf<Guard['entry']>().parameter(0).toEqualTypeOf<string>()
  })

  it('adds the type of the fallbacks to that of the function', async () => {
    const both = entry('types', async () => ada, { fallbacks: [() => 'nobody'] })
    expectTypeOf(both).toEqualTypeOf<Promise<User | string>>()
    const same = entry('types', async () => ada, { fallbacks: [() => ada, async () => ada] })
    expectTypeOf(same).toEqualTypeOf<Promise<User>>()
    expect(await Promise.all([both, same])).toEqual([ada, ada])
  })

  it('tells a fallback the reason as unknown and the context as it is', async () => {
    const answer = entry('types', (): Promise<number> => Promise.reject(new Error('no')), {
      fallbacks: [
        (reason, context) => {
          expectTypeOf(reason).toEqualTypeOf<unknown>()
          expectTypeOf(context).toEqualTypeOf<FallbackContext>()
          expectTypeOf(context.cause).toEqualTypeOf<'blocked' | 'failure' | 'result' | 'ignored'>()
          return context.level
        },
      ],
    })
    expectTypeOf(answer).toEqualTypeOf<Promise<number>>()
    expect(await answer).toBe(0)
    const typed: Fallback<string> = () => 'x'
    // @ts-expect-error a fallback of text is none of numbers
    const wrong: Fallback<number> = typed
    expect(wrong).toBe(typed)
  })

  it('refuses what is no function, no name and no option', async () => {
    const { signal } = new AbortController()
    const good: EntryOptions = { signal, count: 1, args: [1], origin: 'web', fallbacks: [], parent: undefined }
    expect(await entry('types', () => 1, good)).toBe(1)
    // @ts-expect-error a promise is no function
    await expect(entry('types', Promise.resolve(1))).rejects.toThrow(TypeError)
    // @ts-expect-error a name is text
    await expect(entry(7, () => 1)).rejects.toThrow(TypeError)
    // @ts-expect-error there is no such option
    expect(await entry('types', () => 1, { retries: 3 })).toBe(1)
    // @ts-expect-error a count is a number
    await expect(entry('types', () => 1, { count: '2' })).rejects.toThrow(TypeError)
  })
})

describe('entrySync', () => {
  it('gives what the function gives', () => {
    const value = entrySync('types', () => ada)
    expectTypeOf(value).toEqualTypeOf<User>()
    const both = entrySync('types', () => 7, { fallbacks: [() => 'x'] })
    expectTypeOf(both).toEqualTypeOf<number | string>()
    const nothing = entrySync('types', () => {})
    expectTypeOf(nothing).toEqualTypeOf<void>()
    expect([value, both, nothing]).toEqual([ada, 7, undefined])
  })

  it('refuses a function that returns a promise, before it is run', () => {
    // @ts-expect-error a promise is no synchronous result
    expect(() => entrySync('types', async () => 1)).toThrow(TypeError)
    // @ts-expect-error neither is any thenable
    expect(() => entrySync('types', (): PromiseLike<number> => Promise.resolve(1))).toThrow(TypeError)
    // @ts-expect-error and a promise is no function
    expect(() => entrySync('types', Promise.resolve(1))).toThrow(TypeError)
  })
})

describe('wrap', () => {
  it('keeps this and the arguments, and promises the result', async () => {
    const add = wrap('types', (a: number, b?: number) => a + (b ?? 1))
    expectTypeOf(add).parameters.toEqualTypeOf<[a: number, b?: number]>()
    expectTypeOf(add).returns.toEqualTypeOf<Promise<number>>()
    const find = wrap('types', async (id: string): Promise<User> => ({ name: id }))
    expectTypeOf(find).returns.toEqualTypeOf<Promise<User>>()
    const greet = wrap('types', function (this: User, greeting: string) {
      return `${greeting}, ${this.name}`
    })
    expectTypeOf(greet).thisParameter.toEqualTypeOf<User>()
    expect(await Promise.all([add(1), find('x'), greet.call(ada, 'Hello')])).toEqual([2, { name: 'x' }, 'Hello, Ada'])
    // @ts-expect-error an argument is missing
    expect(await add()).toBeNaN()
  })

  it('adds the type of its fallbacks', async () => {
    const either = wrap('types', (n: number) => n, { fallbacks: [() => 'x'] })
    expectTypeOf(either).returns.toEqualTypeOf<Promise<number | string>>()
    expect(await either(1)).toBe(1)
  })
})

describe('wrap, given what it cannot guard', () => {
  it('says so at once', () => {
    // @ts-expect-error a promise is no function
    expect(() => wrap('types', Promise.resolve(1))).toThrow(TypeError)
    // @ts-expect-error the arguments of a wrapped function are those of its calls
    const odd = wrap('types', (n: number) => n, { args: [1] })
    expect(odd).toBeTypeOf('function')
  })
})

describe('enter, tryEnter and leave', () => {
  it('give a handle, and a number to be left', () => {
    const handle = enter('types')
    expectTypeOf(handle).toEqualTypeOf<EntryHandle>()
    expectTypeOf(handle).toExtend<Disposable>()
    handle.exit({ error: new Error('e') })
    const permit = tryEnter('types', { count: 2 })
    expectTypeOf(permit).toEqualTypeOf<number>()
    expectTypeOf(leave).parameter(1).toEqualTypeOf<OutcomeName | undefined>()
    leave(permit, 'ignored')
    // @ts-expect-error fallbacks are of entry
    enter('types', { fallbacks: [] }).cancel()
    expect(handle.resource).toBe('types')
  })
})
