// The caller's abort: before entry, while the call runs, after it, inside it; and no listener stays behind.
import { getEventListeners } from 'node:events'
import { type Guard, isBlocked } from 'leapguard'
import { describe, expect, it } from 'vitest'
import { deferred, flush } from '../support/scenario.js'
import { fail, HAIR, thrown, unhandledBy, watched } from './support.js'

const listeners = (signal: AbortSignal): number => getEventListeners(signal, 'abort').length
const REASONS: readonly (readonly [string, unknown])[] = [
  ['an error', new Error('gone')],
  ['text', 'gone'],
  ['null', null],
  ['0', 0],
  ['an object', { why: 'gone' }],
]

describe('before entry', () => {
  it.each(REASONS)('rejects or throws with the very reason, %s, and counts nothing', async (_what, reason) => {
    const { guard } = watched()
    const signal = AbortSignal.abort(reason)
    let ran = 0
    const fn = () => ran++
    const fallbacks = [() => ran++]
    await expect(guard.entry('r', fn, { signal, fallbacks })).rejects.toBe(reason)
    await expect(guard.wrap('r', fn, { signal })()).rejects.toBe(reason)
    for (const call of [
      () => guard.entrySync('r', fn, { signal, fallbacks }),
      () => guard.enter('r', { signal }),
      () => guard.tryEnter('r', { signal }),
    ])
      expect(thrown(call)).toBe(reason)
    expect([ran, listeners(signal)]).toEqual([0, 0])
    expect(guard.stats('r').totals).toMatchObject({ passed: 0, blocked: 0, ignored: 0, running: 0 })
  })

  it('asks no rule and takes no probe', async () => {
    const { guard, clock } = watched()
    const asked: string[] = []
    guard.configure('r', { rules: [{ check: () => asked.push('check') * 0 }] })
    guard.setRulesFor('r', { degrade: [HAIR] })
    fail(guard)
    clock.set(1000)
    asked.length = 0
    await guard.entry('r', () => 1, { signal: AbortSignal.abort('gone') }).catch(() => {})
    expect([asked, guard.stats('r').rules[0]?.state]).toEqual([[], 'open'])
  })

  it('comes before a refusal', async () => {
    const { guard } = watched()
    guard.forceOpen('r')
    await expect(guard.entry('r', () => 1, { signal: AbortSignal.abort('gone') })).rejects.toBe('gone')
    expect(guard.stats('r').totals.blocked).toBe(0)
  })

  it('comes after a wrong argument', async () => {
    const { guard } = watched()
    const signal = AbortSignal.abort('gone')
    await expect(guard.entry('r', () => 1, { signal, count: 0 })).rejects.toBeInstanceOf(TypeError)
  })
})

describe('while the call runs', () => {
  it.each(REASONS)('ends it at once with the very reason, %s', async (_what, reason) => {
    const { guard } = watched()
    const controller = new AbortController()
    const call = guard.entry('r', () => new Promise(() => {}), { signal: controller.signal })
    expect(listeners(controller.signal)).toBe(1)
    controller.abort(reason)
    expect(guard.stats('r').totals).toMatchObject({ passed: 1, ignored: 1, running: 0 })
    await expect(call).rejects.toBe(reason)
    expect(listeners(controller.signal)).toBe(0)
  })

  it('swallows whatever the function does later, rejections too', async () => {
    const { guard } = watched()
    const error = new Error('socket closed')
    const seen = await unhandledBy(async () => {
      for (const end of ['resolve', 'reject'] as const) {
        const controller = new AbortController()
        const work = deferred<unknown>()
        const call = guard.entry('r', () => work.promise, { signal: controller.signal })
        controller.abort('gone')
        await expect(call).rejects.toBe('gone')
        work[end](error)
        await flush()
      }
    })
    expect(seen).toEqual([])
    expect(guard.stats('r').totals).toMatchObject({ passed: 2, ignored: 2, succeeded: 0, failed: 0, running: 0 })
  })

  it('runs no fallback', async () => {
    const { guard } = watched()
    guard.configure('r', { fallbackOnIgnored: true })
    const controller = new AbortController()
    let ran = 0
    const call = guard.entry('r', () => new Promise(() => {}), { signal: controller.signal, fallbacks: [() => ran++] })
    controller.abort('gone')
    await expect(call).rejects.toBe('gone')
    expect(ran).toBe(0)
  })

  it('ends only the calls it was given to', async () => {
    const { guard } = watched()
    const [a, b] = [new AbortController(), new AbortController()]
    const work = deferred<string>()
    const calls = [a, b, a].map(({ signal }) => guard.entry('r', () => work.promise, { signal }))
    expect([listeners(a.signal), listeners(b.signal)]).toEqual([2, 1])
    a.abort('gone')
    work.resolve('value')
    expect(await Promise.allSettled(calls)).toMatchObject([{ reason: 'gone' }, { value: 'value' }, { reason: 'gone' }])
    expect([listeners(a.signal), listeners(b.signal)]).toEqual([0, 0])
  })

  it.each([
    ['enter', (guard: Guard, signal: AbortSignal) => guard.enter('r', { signal }).cancel],
    ['tryEnter', (guard: Guard, signal: AbortSignal) => guard.tryEnter('r', { signal })],
  ])('ends a call made by %s', (_way, begin) => {
    const { guard } = watched()
    const controller = new AbortController()
    begin(guard, controller.signal)
    expect([guard.stats('r').totals.running, listeners(controller.signal)]).toEqual([1, 1])
    controller.abort()
    expect(guard.stats('r').totals).toMatchObject({ ignored: 1, running: 0 })
    expect(listeners(controller.signal)).toBe(0)
  })
})

describe('inside the function', () => {
  it('rejects with the reason, whether the function then returns, throws or hangs', async () => {
    for (const then of [() => 'value', () => Promise.reject(new Error('no')), () => new Promise(() => {})]) {
      const { guard } = watched()
      const controller = new AbortController()
      const call = guard.entry(
        'r',
        () => {
          controller.abort('gone')
          return then()
        },
        { signal: controller.signal },
      )
      await expect(call).rejects.toBe('gone')
      expect(guard.stats('r').totals).toMatchObject({ ignored: 1, succeeded: 0, failed: 0, running: 0 })
      expect(listeners(controller.signal)).toBe(0)
    }
  })

  it('throws the reason from entrySync, whether the function then returns or throws, and runs no fallback', () => {
    for (const fails of [false, true]) {
      const { guard } = watched()
      const controller = new AbortController()
      const fn = () => {
        controller.abort('gone')
        if (fails) throw new Error('no')
        return 'value'
      }
      expect(thrown(() => guard.entrySync('r', fn, { signal: controller.signal, fallbacks: [() => 'instead'] }))).toBe(
        'gone',
      )
      expect(guard.stats('r').totals).toMatchObject({ ignored: 1, succeeded: 0, failed: 0, running: 0 })
    }
  })

  it('by the function’s own signal object is the caller’s abort', async () => {
    const { guard } = watched()
    const controller = new AbortController()
    let seen: AbortSignal | undefined
    const call = guard.entry('r', ({ signal }) => new Promise(() => (seen = signal)), { signal: controller.signal })
    controller.abort('gone')
    await expect(call).rejects.toBe('gone')
    expect([seen?.aborted, seen?.reason]).toEqual([true, 'gone'])
  })
})

describe('while the call is being admitted', () => {
  it('by a listener that hears of the probe, ends it before its function runs', async () => {
    const { guard, clock } = watched()
    guard.setRulesFor('r', { degrade: [HAIR] })
    fail(guard)
    clock.set(1000)
    const controller = new AbortController()
    guard.on('state', () => controller.abort('gone'))
    let ran = false
    const call = guard.entry(
      'r',
      () => {
        ran = true
      },
      { signal: controller.signal },
    )
    await expect(call).rejects.toBe('gone')
    expect(ran).toBe(false)
    expect(guard.stats('r')).toMatchObject({ totals: { succeeded: 0, running: 0 }, rules: [{ probesOut: 0 }] })
  })

  it('by a custom rule, ends a call made by enter', () => {
    const { guard } = watched()
    const controller = new AbortController()
    guard.configure('r', { rules: [{ check: () => 0, take: () => controller.abort('gone') }] })
    try {
      guard.enter('r', { signal: controller.signal })
    } catch (reason) {
      expect(reason).toBe('gone')
    }
    expect(guard.stats('r').totals).toMatchObject({ succeeded: 0, running: 0 })
  })
})

describe('after the call', () => {
  it.each([
    ['a value', () => 'value'],
    ['a promise', async () => 'value'],
    ['a throw', () => thrownValue(new Error('no'))],
    ['a rejection', () => Promise.reject(new Error('no'))],
  ])('changes nothing: %s', async (_what, fn: () => unknown) => {
    const { guard } = watched()
    const controller = new AbortController()
    const outcome = await guard.entry('r', fn, { signal: controller.signal }).then(
      (value) => value,
      (error: Error) => error.message,
    )
    const after = guard.stats('r')
    expect(['value', 'no']).toContain(outcome)
    expect(listeners(controller.signal)).toBe(0)
    controller.abort('gone')
    await flush()
    expect(guard.stats('r')).toEqual(after)
    expect(after.totals).toMatchObject({ ignored: 0, running: 0 })
  })

  it('leaves no listener of enter, tryEnter, entrySync or a refusal either', async () => {
    const { guard } = watched()
    const { signal } = new AbortController()
    guard.enter('r', { signal }).exit()
    guard.enter('r', { signal }).exit({ error: 1 })
    guard.enter('r', { signal }).cancel()
    guard.leave(guard.tryEnter('r', { signal }))
    guard.entrySync('r', () => 1, { signal })
    guard.forceOpen('r')
    expect(isBlocked(await guard.entry('r', () => 1, { signal }).catch((error: unknown) => error))).toBe(true)
    expect(await guard.entry<unknown>('r', () => 1, { signal, fallbacks: [() => 2] })).toBe(2)
    expect(listeners(signal)).toBe(0)
  })

  it('leaves no listener after thousands of calls on one signal', async () => {
    const { guard } = watched()
    const { signal } = new AbortController()
    for (let i = 0; i < 2000; i++) await guard.entry('r', () => i, { signal })
    expect(listeners(signal)).toBe(0)
  })
})

function thrownValue(error: Error): never {
  throw error
}

it('an abort from within classify ends a call made by enter once', () => {
  const { guard } = watched()
  const controller = new AbortController()
  guard.configure('r', {
    classify: () => {
      controller.abort()
      return undefined
    },
  })
  guard.enter('r', { signal: controller.signal }).exit({ error: new Error('no') })
  const { failed, ignored, running } = guard.stats('r').totals
  expect([failed + ignored, running]).toEqual([1, 0])
})
