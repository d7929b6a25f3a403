// wrap: the same function, guarded.
import { isBlocked } from 'leapguard'
import { describe, expect, it } from 'vitest'
import { fail, HAIR, INVALID, thrown, watched } from './support.js'

class Account {
  constructor(private balance: number) {}
  take(amount: number, note = ''): string {
    this.balance -= amount
    return `${this.balance}${note}`
  }
}

it('passes this and all arguments on and back', async () => {
  const { guard } = watched()
  const account = { balance: 10, take: guard.wrap('r', Account.prototype.take) } as unknown as {
    take(amount: number, note?: string): Promise<string>
  }
  expect(await account.take(3, '!')).toBe('7!')
  expect(await account.take(2)).toBe('5')
  const sum = guard.wrap('r', (...numbers: number[]) => numbers.reduce((a, b) => a + b, 0))
  expect([await sum(), await sum(1), await sum(1, 2, 3)]).toEqual([0, 1, 6])
})

it('keeps the name of the function', () => {
  const { guard } = watched()
  async function fetchUser(): Promise<void> {}
  expect(guard.wrap('r', fetchUser).name).toBe('fetchUser')
})

it('turns a synchronous result or throw into a promise', async () => {
  const { guard } = watched()
  const error = new Error('no')
  expect(await guard.wrap('r', (n: number) => n + 1)(1)).toBe(2)
  await expect(
    guard.wrap('r', () => {
      throw error
    })(),
  ).rejects.toBe(error)
})

it('is guarded by the rules that hold when it is called', async () => {
  const { guard } = watched()
  let ran = 0
  const wrapped = guard.wrap('r', () => ++ran)
  await wrapped()
  guard.setRulesFor('r', { degrade: [HAIR] })
  fail(guard)
  const refusal: unknown = await wrapped().catch((error: unknown) => error)
  expect([isBlocked(refusal), ran]).toEqual([true, 1])
})

it('shows its arguments to rules, with options and without', async () => {
  const { guard } = watched()
  const seen: unknown[] = []
  guard.configure('r', { rules: [{ check: () => 0, take: (_now, { args, origin }) => seen.push([args, origin]) }] })
  const fn = (a: number, b: string) => a + b
  await guard.wrap('r', fn, { origin: 'web' })(1, 'x')
  await guard.wrap('r', fn)(2, 'y')
  expect(seen).toEqual([
    [[1, 'x'], 'web'],
    [[2, 'y'], undefined],
  ])
})

it('takes fallbacks and a signal for all its calls', async () => {
  const { guard } = watched()
  const controller = new AbortController()
  const wrapped = guard.wrap('r', (n: number) => (n < 0 ? Promise.reject(new Error('negative')) : n), {
    signal: controller.signal,
    fallbacks: [() => 'instead'],
  })
  expect([await wrapped(1), await wrapped(-1)]).toEqual([1, 'instead'])
  controller.abort('gone')
  await expect(wrapped(1)).rejects.toBe('gone')
  expect(guard.stats('r').totals).toMatchObject({ passed: 2, succeeded: 1, failed: 1 })
})

describe('invalid use', () => {
  it.each([undefined, null, 'fn', {}, Promise.resolve(1)])('%s in place of a function throws at once', (fn) => {
    const { guard } = watched()
    // @ts-expect-error only functions are wrapped
    expect(thrown(() => guard.wrap('r', fn))).toMatchObject(INVALID)
  })

  it.each(['', undefined, 7])('the name %s throws at once', (name) => {
    const { guard } = watched()
    // @ts-expect-error a name is text that is not empty
    expect(thrown(() => guard.wrap(name, () => 1))).toMatchObject(INVALID)
  })
})
