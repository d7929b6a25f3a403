// The handle of enter: ended once, whatever is tried.
import { isBlocked } from 'leapguard'
import { describe, expect, it } from 'vitest'
import { HAIR, INVALID, thrown, watched } from './support.js'

it.each(['', undefined, null, 7])('enter throws for the name %s', (name) => {
  const { guard } = watched()
  // @ts-expect-error a name is text that is not empty
  expect(() => guard.enter(name)).toThrow(expect.objectContaining(INVALID))
})

it('a handle names its resource and is fresh each time', () => {
  const { guard } = watched()
  const [a, b] = [guard.enter('r'), guard.enter('r')]
  expect(a.resource).toBe('r')
  expect(a).not.toBe(b)
  a.exit()
  b.exit()
  expect(a.resource).toBe('r')
})

describe('ending', () => {
  it.each([
    ['exit()', 'succeeded', (h: ReturnType<typeof use>) => h.exit()],
    ['exit({})', 'succeeded', (h: ReturnType<typeof use>) => h.exit({})],
    ['exit({ error: undefined })', 'succeeded', (h: ReturnType<typeof use>) => h.exit({ error: undefined })],
    ['exit({ error: null })', 'failed', (h: ReturnType<typeof use>) => h.exit({ error: null })],
    ['exit({ error })', 'failed', (h: ReturnType<typeof use>) => h.exit({ error: new Error('e') })],
    ['cancel()', 'ignored', (h: ReturnType<typeof use>) => h.cancel()],
    ['disposal', 'ignored', (h: ReturnType<typeof use>) => h[Symbol.dispose]()],
  ] as const)('by %s counts as %s, and no second end changes that', (_how, counted, end) => {
    const { guard } = watched()
    guard.setRulesFor('r', { degrade: [{ ...HAIR, threshold: 2 }] })
    const handle = guard.enter('r')
    end(handle)
    const after = guard.stats('r')
    expect(after.totals).toMatchObject({ succeeded: 0, failed: 0, ignored: 0, [counted]: 1, running: 0 })
    handle.exit()
    handle.exit({ error: new Error('late') })
    handle.cancel()
    handle[Symbol.dispose]()
    expect(guard.stats('r')).toEqual(after)
  })

  const use = () => watched().guard.enter('r')

  it('by using counts as ignored if nothing else ended it', () => {
    const { guard } = watched()
    {
      using left = guard.enter('r')
      using ended = guard.enter('r')
      ended.exit()
      expect(left.resource).toBe('r')
    }
    expect(guard.stats('r').totals).toMatchObject({ ignored: 1, succeeded: 1, running: 0 })
  })

  it('a refusal given at exit is ignored, an ignored error too', () => {
    const { guard } = watched()
    guard.configure('r', { ignore: RangeError })
    guard.forceOpen('other')
    guard.enter('r').exit({ error: thrown(() => guard.enter('other')) })
    guard.enter('r').exit({ error: new RangeError('ignored') })
    expect(guard.stats('r').totals).toMatchObject({ ignored: 2, failed: 0 })
  })
})

describe('a handle that was ended', () => {
  it('leaves the next call in the same place alone', () => {
    const { guard } = watched()
    const first = guard.enter('r')
    first.exit()
    const second = guard.enter('r')
    first.cancel()
    first.exit({ error: 1 })
    expect(guard.stats('r').totals).toMatchObject({ succeeded: 1, ignored: 0, failed: 0, running: 1 })
    second.exit()
    expect(guard.stats('r').totals).toMatchObject({ succeeded: 2, running: 0 })
  })

  it('leaves every later call alone, however many there have been', () => {
    const { guard } = watched()
    const first = guard.enter('r')
    first.exit()
    for (let i = 0; i < 10_000; i++) {
      const later = guard.enter('r')
      first.cancel()
      if (guard.stats('r').totals.running !== 1) throw new Error(`ended the call of another, ${i + 1} calls later`)
      later.exit()
    }
    expect(guard.stats('r').totals).toMatchObject({ succeeded: 10_001, ignored: 0, running: 0 })
  })

  it('leaves a promise in flight alone, however many calls there have been', async () => {
    const { guard } = watched()
    const first = guard.enter('r')
    first.exit()
    for (let i = 1; i < 2 ** 12; i++) {
      const running = guard.entry('r', async () => {
        await null
      })
      first.cancel()
      await running
    }
    expect(guard.stats('r').totals).toMatchObject({ passed: 2 ** 12, succeeded: 2 ** 12, ignored: 0, running: 0 })
  })

  it('does not return after a burst that is more than the pool keeps', () => {
    const { guard } = watched()
    const burst = Array.from({ length: 5000 }, () => guard.enter('r'))
    expect(guard.stats('r').totals.running).toBe(5000)
    for (const handle of burst) handle.exit()
    const again = Array.from({ length: 5000 }, () => guard.enter('r'))
    for (const handle of burst) handle.cancel()
    expect(guard.stats('r').totals).toMatchObject({ succeeded: 5000, ignored: 0, running: 5000 })
    for (const handle of again) handle.exit({ error: 1 })
    expect(guard.stats('r').totals).toMatchObject({ succeeded: 5000, failed: 5000, running: 0 })
  })
})

describe('a parent', () => {
  it('of another resource, of another guard, or ended, makes no nested call', () => {
    const { guard, clock } = watched()
    guard.loadRules({ degrade: [{ ...HAIR, resource: 'r' }] })
    guard.enter('r').exit({ error: 1 })
    clock.set(1000)
    const ended = guard.enter('r')
    ended.cancel()
    const probe = guard.enter('r')
    const strangers = [guard.enter('other'), watched().guard.enter('r'), ended]
    for (const parent of strangers) expect(isBlocked(thrown(() => guard.enter('r', { parent })))).toBe(true)
    guard.enter('r', { parent: probe }).exit({ error: 1 })
    expect(guard.stats('r').rules[0]).toMatchObject({ state: 'half-open', probesOut: 1 })
    probe.exit()
    expect(guard.stats('r').rules[0]?.state).toBe('closed')
  })
})

it('a callback that ends the call while it is being judged ends it once', () => {
  const { guard } = watched()
  guard.configure('r', {
    classify: () => {
      handle.cancel()
      return undefined
    },
  })
  const handle = guard.enter('r')
  handle.exit({ error: new Error('judged') })
  const { succeeded, failed, ignored, running } = guard.stats('r').totals
  expect([succeeded + failed + ignored, running]).toEqual([1, 0])
  const numbers = [guard.tryEnter('r'), guard.tryEnter('r')]
  expect(numbers[0]).not.toBe(numbers[1])
})
