// Failures are booked where they belong: after the synchronous part has returned, and on every resource around the call.
import { isBlocked } from 'leapguard'
import { describe, expect, it } from 'vitest'
import { deferred, FAILURE, flush, Scenario, thrownBy } from '../support/scenario.js'

/** A thenable that is no promise; it is rejected from outside. */
class Thenable implements PromiseLike<never> {
  private rejections: ((reason: unknown) => unknown)[] = []

  // biome-ignore lint/suspicious/noThenProperty: a foreign thenable is what this is
  then<TResult1 = never, TResult2 = never>(
    _onfulfilled?: ((value: never) => TResult1 | PromiseLike<TResult1>) | null,
    onrejected?: ((reason: unknown) => TResult2 | PromiseLike<TResult2>) | null,
  ): PromiseLike<TResult1 | TResult2> {
    if (onrejected) this.rejections.push(onrejected)
    return this
  }

  reject(reason: unknown): void {
    for (const rejection of this.rejections.splice(0)) rejection(reason)
  }
}

/** One call of `r` that fails with FAILURE after 50 ms of virtual time; resolves to what its caller caught. */
const FAILING: Record<string, (s: Scenario) => Promise<unknown>> = {
  'entry, an async function that throws': async (s) => {
    const work = deferred<void>()
    const promise = s.guard.entry('r', async () => {
      await work.promise
      throw FAILURE
    })
    const caught = thrownBy(() => promise)
    s.clock.advance(50)
    work.resolve()
    return caught
  },
  'entry, a rejected promise': async (s) => {
    const work = deferred<void>()
    const caught = thrownBy(() => s.guard.entry('r', () => work.promise))
    s.clock.advance(50)
    work.reject(FAILURE)
    return caught
  },
  'entry, a rejected thenable': async (s) => {
    const work = new Thenable()
    const caught = thrownBy(() => s.guard.entry('r', () => work))
    await flush()
    s.clock.advance(50)
    work.reject(FAILURE)
    return caught
  },
  'entry, a synchronous throw': (s) =>
    thrownBy(() =>
      s.guard.entry('r', () => {
        s.clock.advance(50)
        throw FAILURE
      }),
    ),
  'wrap, a rejected promise': async (s) => {
    const work = deferred<void>()
    const caught = thrownBy(() => s.guard.wrap('r', () => work.promise)())
    s.clock.advance(50)
    work.reject(FAILURE)
    return caught
  },
  'entrySync, a throw': (s) =>
    thrownBy(() =>
      s.guard.entrySync('r', () => {
        s.clock.advance(50)
        throw FAILURE
      }),
    ),
  'enter, an error given at exit': async (s) => {
    const handle = s.guard.enter('r')
    s.clock.advance(50)
    handle.exit({ error: FAILURE })
    return { error: FAILURE }
  },
  'tryEnter, left as a failure': async (s) => {
    const permit = s.guard.tryEnter('r')
    s.clock.advance(50)
    s.guard.leave(permit, 'failure')
    return { error: FAILURE }
  },
}

describe.each(Object.entries(FAILING))('%s', (_way, failing) => {
  it('F74 is booked as one failure of 50 ms, which a slow limit of 40 ms shows', async () => {
    const slow = { strategy: 'slow-call-ratio', threshold: 1, minRequestAmount: 2 } as const
    const s = new Scenario('entry', [
      { id: 'errors', strategy: 'error-count', threshold: 2 },
      { ...slow, id: 'over 40', maxAllowedRtMs: 40 },
      { ...slow, id: 'over 49', maxAllowedRtMs: 49 },
      { ...slow, id: 'over 50', maxAllowedRtMs: 50 },
    ])

    expect(await failing(s)).toEqual({ error: FAILURE })

    expect(s.clock.now()).toBe(50)
    expect(s.totals()).toMatchObject({ passed: 1, failed: 1, slow: 1, succeeded: 0, ignored: 0, running: 0 })
    expect(s.guard.stats('r').rules.map(({ id, total, bad }) => [id, total, bad])).toEqual([
      ['errors', 1, 1],
      ['over 40', 1, 1],
      ['over 49', 1, 1],
      ['over 50', 1, 0],
    ])

    expect(await failing(s)).toEqual({ error: FAILURE })

    expect(s.totals()).toMatchObject({ passed: 2, failed: 2, slow: 2, running: 0 })
    expect(s.guard.stats('r').rules.map(({ state }) => state)).toEqual(['open', 'open', 'open', 'closed'])
    expect(s.states.map(({ rule, value, total, at }) => [rule.id, value, total, at])).toEqual([
      ['errors', 2, 2, 100],
      ['over 40', 1, 2, 100],
      ['over 49', 1, 2, 100],
    ])
    expect(s.faults).toEqual([])
  })
})

type Failing = () => never
const failing: Failing = () => {
  throw FAILURE
}

/** `inner` is made inside `outer`; whatever it throws passes through both. */
const NESTED: Record<string, (s: Scenario, fn: Failing) => unknown> = {
  'entry in entry': (s, fn) => s.guard.entry('svc', () => s.guard.entry('svc.get', async () => fn())),
  'entry in an async function in entry': (s, fn) =>
    s.guard.entry('svc', async () => {
      await null
      return await s.guard.entry('svc.get', async () => fn())
    }),
  'entrySync in entry': (s, fn) => s.guard.entry('svc', async () => s.guard.entrySync('svc.get', fn)),
  'entrySync in entrySync': (s, fn) => s.guard.entrySync('svc', () => s.guard.entrySync('svc.get', fn)),
  'wrap in wrap': (s, fn) => {
    const get = s.guard.wrap('svc.get', async () => fn())
    return s.guard.wrap('svc', () => get())()
  },
  'enter in entry': (s, fn) => s.guard.entry('svc', async () => held(s, 'svc.get', fn)),
  'enter in enter': (s, fn) => held(s, 'svc', () => held(s, 'svc.get', fn)),
  'tryEnter in enter': (s, fn) =>
    held(s, 'svc', () => {
      const permit = s.guard.tryEnter('svc.get')
      if (permit < 0) return s.guard.enter('svc.get') as never
      try {
        return fn()
      } catch (error) {
        s.guard.leave(permit, 'failure')
        throw error
      }
    }),
}

function held(s: Scenario, resource: string, fn: Failing): never {
  const handle = s.guard.enter(resource)
  try {
    return fn()
  } catch (error) {
    handle.exit({ error })
    throw error
  }
}

const both = (strategy: 'error-ratio' | 'error-count', threshold: number, min: { svc: number; get: number }) =>
  [
    { resource: 'svc', strategy, threshold, minRequestAmount: min.svc },
    { resource: 'svc.get', strategy, threshold, minRequestAmount: min.get },
  ] as const

describe.each(Object.entries(NESTED))('%s', (way, run) => {
  /** `tryEnter` shows a refusal as a number; asking again for the error counts a second refusal. */
  const refusals = way === 'tryEnter in enter' ? 2 : 1

  it('F75 five failures of the inner call count as five on both resources', async () => {
    const s = new Scenario('entry', both('error-count', 100, { svc: 1, get: 1 }))
    for (let i = 1; i <= 5; i++) {
      expect(await thrownBy(() => run(s, failing))).toEqual({ error: FAILURE })
      for (const resource of ['svc', 'svc.get']) {
        expect(s.totals(resource)).toMatchObject({
          passed: i,
          failed: i,
          ignored: 0,
          succeeded: 0,
          blocked: 0,
          running: 0,
        })
        expect(s.rule(0, resource)).toMatchObject({ state: 'closed', total: i, bad: i })
      }
    }
  })

  it('F75 the rules of both resources trip at the fifth failure', async () => {
    const s = new Scenario('entry', both('error-ratio', 0.5, { svc: 5, get: 5 }))
    for (let i = 0; i < 4; i++) await thrownBy(() => run(s, failing))
    expect(s.states).toEqual([])
    await thrownBy(() => run(s, failing))
    expect(s.states.map(({ resource, to, value, total }) => [resource, to, value, total])).toEqual([
      ['svc.get', 'open', 1, 5],
      ['svc', 'open', 1, 5],
    ])
  })

  it('F75 a refusal by the inner resource counts for neither', async () => {
    const s = new Scenario('entry', both('error-ratio', 0.5, { svc: 100, get: 5 }))
    for (let i = 0; i < 5; i++) await thrownBy(() => run(s, failing))
    expect(s.rule(0, 'svc.get').state).toBe('open')
    const before = s.rule(0, 'svc.get')

    for (let i = 1; i <= 5; i++) {
      const caught = await thrownBy(() => run(s, failing))
      const error = caught === 'nothing' ? undefined : caught.error
      expect(isBlocked(error)).toBe(true)
      expect(error).toMatchObject({ code: 'ERR_BLOCKED_DEGRADE', resource: 'svc.get' })
      expect(s.totals('svc')).toMatchObject({
        passed: 5 + i,
        failed: 5,
        ignored: i,
        succeeded: 0,
        blocked: 0,
        running: 0,
      })
      expect(s.totals('svc.get')).toMatchObject({ passed: 5, failed: 5, ignored: 0, blocked: refusals * i, running: 0 })
    }
    expect(s.rule(0, 'svc')).toMatchObject({ state: 'closed', total: 5, bad: 5 })
    expect(s.rule(0, 'svc.get')).toEqual(before)
    expect(s.states).toHaveLength(1)
  })

  it('F75 a hundred refusals by a forced inner resource leave the outer one closed and empty', async () => {
    const s = new Scenario('entry', both('error-ratio', 0.5, { svc: 5, get: 5 }))
    s.guard.forceOpen('svc.get')
    for (let i = 0; i < 100; i++) await thrownBy(() => run(s, failing))
    expect(s.totals('svc')).toMatchObject({ passed: 100, ignored: 100, failed: 0, succeeded: 0, running: 0 })
    expect(s.totals('svc.get')).toMatchObject({ passed: 0, failed: 0, blocked: refusals * 100 })
    expect(s.rule(0, 'svc')).toMatchObject({ state: 'closed', total: 0, bad: 0 })
  })
})

it.each([
  [0, 'ignored'],
  [1, 'ignored'],
  [2, 'ignored'],
  [3, 'ignored'],
  [4, 'ignored'],
  [5, 'failed'],
] as const)('F75 an inner refusal wrapped in %d errors is %s by the outer resource', async (depth, counted) => {
  const s = new Scenario('entry', both('error-ratio', 0.5, { svc: 5, get: 5 }))
  s.guard.forceOpen('svc.get')
  const caught = await thrownBy(() =>
    s.guard.entry('svc', async () => {
      try {
        return await s.guard.entry('svc.get', failing)
      } catch (refusal) {
        let error = refusal
        for (let i = 0; i < depth; i++) error = new Error(`wrapped ${i + 1}`, { cause: error })
        throw error
      }
    }),
  )
  expect(caught).not.toBe('nothing')
  expect(s.totals('svc')).toMatchObject({ passed: 1, ignored: 0, failed: 0, succeeded: 0, running: 0, [counted]: 1 })
  expect(s.rule(0, 'svc')).toMatchObject(counted === 'failed' ? { total: 1, bad: 1 } : { total: 0, bad: 0 })
})
