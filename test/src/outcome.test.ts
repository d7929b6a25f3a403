// Which outcome a result or an error is: own refusals, ignore, classify, the default, in this order.
import { BlockedError, type Classify, type IgnoreMatcher, type OutcomeName, type ResourceConfig } from 'leapguard'
import { describe, expect, it } from 'vitest'
import { HAIR, INVALID, thrown, unhandledBy, watched } from './support.js'

class HttpError extends Error {
  constructor(readonly status: number) {
    super(`status ${status}`)
  }
}
class NotFound extends HttpError {
  constructor() {
    super(404)
  }
}
const coded = (code: unknown, error: object = new Error('coded')): object => Object.assign(error, { code })

/** How a guard configured like this counts one error. */
function counted(config: ResourceConfig, error: unknown): { as: OutcomeName; told: [string, string][] } {
  const { guard, told } = watched()
  guard.configure('r', config)
  guard.enter('r').exit({ error })
  const { failed, ignored, succeeded } = guard.stats('r').totals
  expect(failed + ignored + succeeded).toBe(1)
  return { as: failed === 1 ? 'failure' : ignored === 1 ? 'ignored' : 'success', told: told() }
}

describe('ignore', () => {
  it.each<[string, IgnoreMatcher | IgnoreMatcher[], unknown, OutcomeName]>([
    ['a class', HttpError, new HttpError(404), 'ignored'],
    ['its subclass', HttpError, new NotFound(), 'ignored'],
    ['not its base class', NotFound, new HttpError(404), 'failure'],
    ['Error itself', Error, new TypeError('t'), 'ignored'],
    ['Error itself, but no text', Error, 'text', 'failure'],
    ['a built-in class', DOMException, new DOMException('d', 'AbortError'), 'ignored'],
    ['a class of refusals', BlockedError, new HttpError(404), 'failure'],
    ['a code', 'ENOENT', coded('ENOENT'), 'ignored'],
    ['another code', 'ENOENT', coded('EACCES'), 'failure'],
    ['a code of a plain object', 'ENOENT', coded('ENOENT', {}), 'ignored'],
    ['a code that is inherited', 'ENOENT', Object.create(coded('ENOENT')), 'ignored'],
    ['a code of null', 'ENOENT', null, 'failure'],
    ['text is no code', 'ENOENT', 'ENOENT', 'failure'],
    ['a numeric code is no text', '404', coded(404), 'failure'],
    ['a predicate', (error) => (error as HttpError).status < 500, new HttpError(404), 'ignored'],
    ['a predicate that says no', (error) => (error as HttpError).status < 500, new HttpError(503), 'failure'],
    ['the second of several', ['A', TypeError, () => false], new TypeError('t'), 'ignored'],
    ['none of several', ['A', TypeError, () => false], new HttpError(1), 'failure'],
    ['an empty list', [], new HttpError(1), 'failure'],
    ['a predicate on undefined', (error) => error === null, null, 'ignored'],
  ])('by %s', (_what, ignore, error, as) => {
    expect(counted({ ignore }, error)).toEqual({ as, told: [] })
  })

  it('comes before classify, which is not even asked', () => {
    let asked = 0
    const classify: Classify = () => {
      asked++
      return 'failure'
    }
    expect(counted({ ignore: HttpError, classify }, new HttpError(1)).as).toBe('ignored')
    expect(asked).toBe(0)
  })

  it('a predicate that throws counts as no, is told once, and the next one is asked', async () => {
    const { guard, faults, told } = watched()
    const fault = new TypeError('cannot read')
    guard.configure('r', {
      ignore: [
        () => {
          throw fault
        },
        'B',
      ],
    })
    for (const code of ['A', 'B', 'A']) guard.enter('r').exit({ error: coded(code) })
    expect(guard.stats('r').totals).toMatchObject({ failed: 2, ignored: 1 })
    expect(told()).toEqual([['LEAPGUARD_CALLBACK', 'ignore']])
    expect(faults[0]).toMatchObject({ error: fault, resource: 'r' })
  })

  it('an error whose code throws when read is a failure, told once', () => {
    const hostile = Object.defineProperty({}, 'code', {
      get() {
        throw new Error('no code for you')
      },
    })
    expect(counted({ ignore: 'A' }, hostile)).toEqual({ as: 'failure', told: [['LEAPGUARD_CALLBACK', 'ignore']] })
  })

  it('a predicate that answers with a promise says nothing: the error counts, and the mistake is told', async () => {
    const { guard, told } = watched()
    guard.configure('r', { ignore: (async () => false) as unknown as IgnoreMatcher })
    guard.enter('r').exit({ error: new Error('e') })
    expect(guard.stats('r').totals).toMatchObject({ failed: 1, ignored: 0 })
    expect(told()).toEqual([['LEAPGUARD_CALLBACK', 'ignore']])
  })

  it.each([7, null, {}, [null], ['A', undefined], Symbol('A')])('refuses %s as a matcher', (ignore) => {
    const { guard } = watched()
    expect(thrown(() => guard.configure('r', { ignore: ignore as unknown as string }))).toMatchObject(INVALID)
  })
})

describe('classify', () => {
  it.each<[string, OutcomeName | undefined, OutcomeName]>([
    ['success', 'success', 'success'],
    ['failure', 'failure', 'failure'],
    ['ignored', 'ignored', 'ignored'],
    ['nothing', undefined, 'failure'],
  ])('that says %s of an error', (_what, said, as) => {
    expect(counted({ classify: () => said }, new Error('e'))).toEqual({ as, told: [] })
  })

  it('judges results of entry and entrySync, and the result is passed on all the same', async () => {
    const { guard } = watched()
    const seen: unknown[] = []
    guard.configure('r', {
      classify: (value, threw) => {
        seen.push([value, threw])
        return (value as { status: number }).status >= 500 ? 'failure' : undefined
      },
    })
    const [good, bad] = [{ status: 200 }, { status: 503 }]
    expect(await guard.entry('r', async () => good)).toBe(good)
    expect(await guard.entry('r', async () => bad)).toBe(bad)
    expect(await guard.entry('r', () => bad)).toBe(bad)
    expect(guard.entrySync('r', () => bad)).toBe(bad)
    expect(seen).toEqual([
      [good, false],
      [bad, false],
      [bad, false],
      [bad, false],
    ])
    expect(guard.stats('r').totals).toMatchObject({ succeeded: 1, failed: 3 })
  })

  it('may call an error a success: the caller gets it all the same', async () => {
    const { guard } = watched()
    const error = new HttpError(304)
    guard.configure('r', { classify: (_value, threw) => (threw ? 'success' : undefined) })
    await expect(guard.entry('r', () => Promise.reject(error))).rejects.toBe(error)
    expect(guard.stats('r').totals).toMatchObject({ succeeded: 1, failed: 0 })
  })

  it('is not asked about plain exits of handles and permits', () => {
    const { guard } = watched()
    let asked = 0
    guard.configure('r', {
      classify: () => {
        asked++
        return 'failure'
      },
    })
    guard.enter('r').exit()
    guard.enter('r').cancel()
    guard.leave(guard.tryEnter('r'))
    guard.leave(guard.tryEnter('r'), 'failure')
    expect(asked).toBe(0)
    expect(guard.stats('r').totals).toMatchObject({ succeeded: 2, ignored: 1, failed: 1 })
  })

  it.each([true, 'blocked', 0, null, {}, Symbol('failure'), '__proto__', Object.create(null)])(
    'that says %s says nothing, and is told once',
    (nonsense) => {
      const { guard, told } = watched()
      guard.configure('r', { classify: () => nonsense as undefined })
      guard.entrySync('r', () => 1)
      guard.enter('r').exit({ error: new Error('e') })
      expect(guard.stats('r').totals).toMatchObject({ succeeded: 1, failed: 1 })
      expect(told()).toEqual([['LEAPGUARD_CALLBACK', 'classify']])
    },
  )

  it('that throws falls through to the default, told once for each resource', async () => {
    const { guard, faults, told } = watched()
    const fault = new Error('in classify')
    for (const name of ['a', 'b']) {
      guard.configure(name, {
        classify: () => {
          throw fault
        },
      })
      for (let i = 0; i < 3; i++) expect(await guard.entry(name, () => i)).toBe(i)
      guard.enter(name).exit({ error: 1 })
      expect(guard.stats(name).totals).toMatchObject({ succeeded: 3, failed: 1 })
    }
    expect(told()).toEqual([
      ['LEAPGUARD_CALLBACK', 'classify'],
      ['LEAPGUARD_CALLBACK', 'classify'],
    ])
    expect(faults.map(({ error, resource }) => [error, resource])).toEqual([
      [fault, 'a'],
      [fault, 'b'],
    ])
  })

  it('that is asynchronous and rejects ends nobody’s process', async () => {
    const { guard, told } = watched()
    guard.configure('r', { classify: (() => Promise.reject(new Error('later'))) as unknown as Classify })
    expect(await unhandledBy(() => guard.entry('r', () => 1))).toEqual([])
    expect(told()).toEqual([['LEAPGUARD_CALLBACK', 'classify']])
  })
})

describe('a refusal of the library itself', () => {
  const refusal = new BlockedError(1, 'inner', undefined, undefined)
  const wrapped = (depth: number): unknown => {
    let error: unknown = refusal
    for (let i = 0; i < depth; i++) error = new Error(`level ${i}`, { cause: error })
    return error
  }

  it.each([
    [0, 'ignored'],
    [1, 'ignored'],
    [4, 'ignored'],
    [5, 'failure'],
  ] as const)('%d causes deep counts as %s, whatever classify says', (depth, as) => {
    expect(counted({ classify: () => 'failure' }, wrapped(depth)).as).toBe(as)
  })

  it('as the cause of something that is no error object is found too', () => {
    expect(counted({}, { cause: refusal }).as).toBe('ignored')
    expect(counted({}, { cause: 'text' }).as).toBe('failure')
  })

  it('is looked for without being led round in circles or into traps', () => {
    const circle: { cause?: unknown } = {}
    circle.cause = circle
    const trap = Object.defineProperty({}, 'cause', {
      get() {
        throw new Error('trap')
      },
    })
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    for (const error of [circle, trap, proxy]) expect(counted({}, error)).toEqual({ as: 'failure', told: [] })
  })
})

it.each([
  ['classify', 5],
  ['fallbackOnIgnored', 'yes'],
  ['fallbacks', 5],
  ['fallbacks', [1]],
])('configure refuses %s %o, and nothing of it is applied', (field, value) => {
  const { guard } = watched()
  guard.configure('r', { ignore: HttpError })
  expect(thrown(() => guard.configure('r', { ignore: undefined, [field]: value }))).toMatchObject(INVALID)
  guard.enter('r').exit({ error: new HttpError(1) })
  expect(guard.stats('r').totals.ignored).toBe(1)
})

it('ignored errors reach no breaker', () => {
  const { guard } = watched()
  guard.setRulesFor('r', { degrade: [HAIR] })
  guard.configure('r', { ignore: HttpError })
  for (let i = 0; i < 3; i++) guard.enter('r').exit({ error: new HttpError(1) })
  expect(guard.stats('r').rules[0]).toMatchObject({ state: 'closed', total: 0, bad: 0 })
})
