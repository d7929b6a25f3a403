// Graded fallbacks: who answers, what they are told, and when nobody is asked.
import { getEventListeners } from 'node:events'
import { type Fallback, type FallbackContext, isBlocked } from 'leapguard'
import { describe, expect, it } from 'vitest'
import { deferred, flush, thrownBy } from '../support/scenario.js'
import { HAIR, thrown, watched } from './support.js'

const DOWN = new Error('down')
const down = (): never => {
  throw DOWN
}
const broken = (level: number): Fallback => {
  const error = new Error(`level ${level}`)
  return () => {
    throw error
  }
}

describe('levels', () => {
  it('are tried in order, each once, until one answers', async () => {
    const { guard } = watched()
    const tried: number[] = []
    const level =
      (n: number, answer?: string): Fallback<string> =>
      () => {
        tried.push(n)
        if (answer === undefined) throw new Error(`level ${n}`)
        return answer
      }
    const fallbacks = [level(0), level(1), level(2, 'answer'), level(3, 'never')]
    expect(await guard.entry<string>('r', down, { fallbacks })).toBe('answer')
    expect(guard.entrySync<string>('r', down, { fallbacks: fallbacks as (() => string)[] })).toBe('answer')
    expect(tried).toEqual([0, 1, 2, 0, 1, 2])
  })

  it('may answer with promises, and a rejected one goes on to the next', async () => {
    const { guard } = watched()
    const fallbacks = [() => Promise.reject(new Error('cache')), async () => 'answer']
    expect(await guard.entry<unknown>('r', down, { fallbacks })).toBe('answer')
  })

  it('may answer with undefined', async () => {
    const { guard } = watched()
    expect(await guard.entry<unknown>('r', down, { fallbacks: [() => undefined, () => 'never'] })).toBeUndefined()
  })

  it('throw the last error untouched if none answers', async () => {
    const { guard } = watched()
    const last = Object.freeze(new Error('last'))
    const fallbacks = [broken(0), () => Promise.reject(last)]
    await expect(guard.entry<unknown>('r', down, { fallbacks })).rejects.toBe(last)
    expect(
      thrown(() =>
        guard.entrySync<unknown>('r', down, {
          fallbacks: [
            broken(0) as () => unknown,
            () => {
              throw last
            },
          ],
        }),
      ),
    ).toBe(last)
  })

  it('are all told the first reason, their level, and why', async () => {
    const { guard } = watched()
    const seen: unknown[] = []
    const note: Fallback = (reason, context) => {
      const { resource, level, cause, signal } = context
      seen.push([reason, resource, level, cause, signal.aborted])
      if (level < 1) throw new Error('next')
      return 'answer'
    }
    await guard.entry<unknown>('r', down, { fallbacks: [note, note] })
    expect(seen).toEqual([
      [DOWN, 'r', 0, 'failure', false],
      [DOWN, 'r', 1, 'failure', false],
    ])
  })

  it('count for nothing: the call has ended before', async () => {
    const { guard } = watched()
    guard.setRulesFor('r', { degrade: [{ ...HAIR, threshold: 10 }] })
    const seen: unknown[] = []
    await guard.entry<unknown>('r', down, {
      fallbacks: [
        () => {
          seen.push(guard.stats('r').totals)
          throw new Error('level 0')
        },
        () => 'answer',
      ],
    })
    expect(seen).toEqual([expect.objectContaining({ passed: 1, failed: 1, running: 0 })])
    expect(guard.stats('r')).toMatchObject({ totals: { failed: 1, succeeded: 0 }, rules: [{ bad: 1, total: 1 }] })
  })
})

describe('causes', () => {
  const causes = async (run: (fallbacks: Fallback[]) => unknown): Promise<unknown[]> => {
    const seen: unknown[] = []
    const note: Fallback = (reason, { cause }) => {
      seen.push(cause, reason)
      return 'instead'
    }
    await run([note])
    return seen
  }

  it('of a refusal is blocked, with the refusal as reason', async () => {
    const { guard } = watched()
    guard.forceOpen('r')
    for (const run of [
      (fallbacks: Fallback[]) => guard.entry<unknown>('r', () => 1, { fallbacks }),
      (fallbacks: Fallback[]) => guard.entrySync<unknown>('r', () => 1, { fallbacks: fallbacks as (() => unknown)[] }),
    ]) {
      const [cause, reason] = await causes(run)
      expect([cause, isBlocked(reason)]).toEqual(['blocked', true])
    }
    expect(guard.stats('r').totals).toMatchObject({ blocked: 2, passed: 0 })
  })

  it('of a result classified as failure is result, with the result as reason', async () => {
    const { guard } = watched()
    const response = { status: 503 }
    guard.configure('r', { classify: () => 'failure' })
    expect(await causes((fallbacks) => guard.entry<unknown>('r', async () => response, { fallbacks }))).toEqual([
      'result',
      response,
    ])
    expect(
      await causes((fallbacks) =>
        guard.entrySync<unknown>('r', () => response, { fallbacks: fallbacks as (() => unknown)[] }),
      ),
    ).toEqual(['result', response])
  })

  it('of a refusal that a nested call passed on is blocked, though the outer call is ignored', async () => {
    const { guard } = watched()
    guard.forceOpen('inner')
    const nested = () => guard.entry('inner', () => 1)
    const wrapped = () => nested().catch((error: unknown) => Promise.reject(new Error('outer', { cause: error })))
    for (const fn of [nested, wrapped]) {
      const [cause, reason] = await causes((fallbacks) => guard.entry<unknown>('outer', fn, { fallbacks }))
      expect(cause).toBe('blocked')
      expect(isBlocked(reason) || isBlocked((reason as Error).cause)).toBe(true)
    }
    const [cause] = await causes((fallbacks) =>
      guard.entrySync<unknown>('outer', () => guard.entrySync('inner', () => 1), {
        fallbacks: fallbacks as (() => unknown)[],
      }),
    )
    expect(cause).toBe('blocked')
    expect(guard.stats('outer').totals).toMatchObject({ ignored: 3, failed: 0, succeeded: 0 })
  })

  it('of an ignored error is ignored, where fallbacks are asked for it', async () => {
    const { guard } = watched()
    guard.configure('r', { ignore: () => true, fallbackOnIgnored: true })
    expect(await causes((fallbacks) => guard.entry<unknown>('r', down, { fallbacks }))).toEqual(['ignored', DOWN])
  })
})

describe('nobody is asked', () => {
  const never: Fallback = () => {
    throw new Error('must not run')
  }

  it('about a success, an ignored error or a result that is classified as ignored', async () => {
    const { guard } = watched()
    guard.configure('r', { fallbacks: [never] })
    expect(await guard.entry('r', () => 1)).toBe(1)
    guard.configure('r', { ignore: () => true })
    await expect(guard.entry('r', down)).rejects.toBe(DOWN)
    expect(thrown(() => guard.entrySync('r', down))).toBe(DOWN)
    guard.configure('r', { ignore: undefined, classify: () => 'ignored' })
    expect(await guard.entry('r', () => 2)).toBe(2)
    await expect(guard.entry('r', down)).rejects.toBe(DOWN)
  })

  it('about an error that is classified as success', async () => {
    const { guard } = watched()
    guard.configure('r', { fallbacks: [never], classify: () => 'success' })
    await expect(guard.entry('r', down)).rejects.toBe(DOWN)
    expect(thrown(() => guard.entrySync('r', down))).toBe(DOWN)
    expect(guard.stats('r').totals).toMatchObject({ succeeded: 2, ignored: 0, failed: 0 })
  })

  it('about a handle, a permit or a wrong argument', async () => {
    const { guard } = watched()
    guard.configure('r', { fallbacks: [never] })
    guard.enter('r').exit({ error: DOWN })
    guard.forceOpen('r')
    expect(isBlocked(thrown(() => guard.enter('r')))).toBe(true)
    expect(guard.tryEnter('r')).toBe(-1)
    await expect(guard.entry('r', () => 1, { count: 0 })).rejects.toBeInstanceOf(TypeError)
  })
})

describe('configured and given', () => {
  it('those of a call replace the configured ones, an empty list too, and undefined does not', async () => {
    const { guard } = watched()
    guard.configure('r', { fallbacks: [() => 'configured'] })
    const call = (fallbacks: Fallback[] | undefined) => thrownBy(() => guard.entry<unknown>('r', down, { fallbacks }))
    expect(await guard.entry<unknown>('r', down, { fallbacks: [() => 'given'] })).toBe('given')
    expect(await guard.entry<unknown>('r', down, { fallbacks: undefined })).toBe('configured')
    expect(await guard.entry<unknown>('r', down)).toBe('configured')
    expect(guard.entrySync<unknown>('r', down)).toBe('configured')
    expect(await call([])).toEqual({ error: DOWN })
  })

  it('a list that is changed afterwards has been copied', async () => {
    const { guard } = watched()
    const fallbacks: Fallback[] = [() => 'first']
    guard.configure('r', { fallbacks })
    fallbacks[0] = () => 'second'
    expect(await guard.entry<unknown>('r', down)).toBe('first')
  })
})

describe('the caller’s abort', () => {
  it('while a fallback runs ends the waiting for it, and no further level runs', async () => {
    const { guard } = watched()
    const controller = new AbortController()
    const work = deferred<string>()
    const contexts: FallbackContext[] = []
    const call = guard.entry<unknown>('r', down, {
      signal: controller.signal,
      fallbacks: [
        (_reason, context) => {
          contexts.push(context)
          return work.promise
        },
        () => 'second',
      ],
    })
    await flush()
    expect(contexts.map(({ signal }) => signal === controller.signal)).toEqual([true])
    controller.abort('gone')
    await expect(call).rejects.toBe('gone')
    work.reject(new Error('late'))
    await flush()
    expect(contexts).toHaveLength(1)
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0)
  })

  it('inside a fallback ends the waiting for it too, whatever that does then', async () => {
    for (const then of [() => new Promise(() => {}), () => 'value', () => Promise.reject(new Error('no'))]) {
      const { guard } = watched()
      const controller = new AbortController()
      let outcome: unknown = 'still waiting'
      guard
        .entry<unknown>('r', down, {
          signal: controller.signal,
          fallbacks: [
            () => {
              controller.abort('gone')
              return then()
            },
            () => 'second',
          ],
        })
        .then(
          (value) => {
            outcome = value
          },
          (reason: unknown) => {
            outcome = { reason }
          },
        )
      await flush()
      expect(outcome).toEqual({ reason: 'gone' })
    }
  })

  it('between the failure and the fallback runs none', async () => {
    const { guard } = watched()
    const controller = new AbortController()
    const work = deferred<string>()
    let ran = 0
    const call = guard.entry<unknown>('r', () => work.promise, {
      signal: controller.signal,
      fallbacks: [() => ran++],
    })
    guard.configure('r', {
      classify: () => {
        queueMicrotask(() => controller.abort('gone'))
        return undefined
      },
    })
    work.reject(DOWN)
    await expect(call).rejects.toBe('gone')
    expect(ran).toBe(0)
  })

  it('between synchronous levels runs no further one', () => {
    const { guard } = watched()
    const controller = new AbortController()
    let ran = 0
    const fallbacks = [
      () => {
        controller.abort('gone')
        throw new Error('level 0')
      },
      () => ran++,
    ]
    expect(thrown(() => guard.entrySync<unknown>('r', down, { signal: controller.signal, fallbacks }))).toBe('gone')
    expect(ran).toBe(0)
  })
})
