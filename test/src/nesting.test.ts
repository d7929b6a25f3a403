// Calls inside a probe are known by an async context, which exists only while a probe is out.
import { AsyncLocalStorage } from 'node:async_hooks'
import { isBlocked } from 'leapguard'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { deferred, flush } from '../support/scenario.js'
import { fail, HAIR, watched } from './support.js'

afterEach(() => {
  vi.restoreAllMocks()
})

/** Two resources whose breakers stand at the end of their cooldown. */
function ready() {
  const setup = watched()
  for (const name of ['r', 'other']) {
    setup.guard.setRulesFor(name, { degrade: [HAIR] })
    fail(setup.guard, name)
  }
  setup.clock.set(1000)
  return setup
}

describe('the async context', () => {
  it('is entered for probes only and left when the last probe has come back', async () => {
    const run = vi.spyOn(AsyncLocalStorage.prototype, 'run')
    const disable = vi.spyOn(AsyncLocalStorage.prototype, 'disable')
    const { guard } = ready()
    await guard.entry('free', () => 1)
    expect(run).not.toHaveBeenCalled()
    const [a, b] = [deferred<void>(), deferred<void>()]
    const probes = [guard.entry('r', () => a.promise), guard.entry('other', () => b.promise)]
    expect(run).toHaveBeenCalledTimes(2)
    a.resolve()
    await probes[0]
    expect(disable).not.toHaveBeenCalled()
    b.resolve()
    await probes[1]
    expect(disable).toHaveBeenCalled()
    await guard.entry('r', () => 1)
    expect(run).toHaveBeenCalledTimes(2)
  })

  it('does not outlive a probe that is reset or taken over', async () => {
    const disable = vi.spyOn(AsyncLocalStorage.prototype, 'disable')
    const { guard, clock } = ready()
    void guard.entry('r', () => new Promise(() => {}))
    guard.reset('r')
    expect(disable).toHaveBeenCalledTimes(1)
    void guard.entry('other', () => new Promise(() => {}))
    clock.set(2000)
    const next = guard.enter('other')
    expect(guard.stats('other').rules[0]?.probesOut).toBe(1)
    next.exit()
    expect(guard.stats('other').rules[0]?.state).toBe('closed')
  })
})

it('a chain of probes of different resources finds each of its own', async () => {
  const { guard } = ready()
  const result = await guard.entry('r', async () => {
    await null
    return guard.entry('other', async () => {
      await null
      const inner = await guard.entry('r', () => 'inner of r')
      return [inner, await guard.entry('other', () => 'inner of other')]
    })
  })
  expect(result).toEqual(['inner of r', 'inner of other'])
  for (const name of ['r', 'other']) {
    expect(guard.stats(name)).toMatchObject({ rules: [{ state: 'closed' }], totals: { blocked: 0, running: 0 } })
  }
})

it('a nested call of another guard is none', async () => {
  const { guard } = ready()
  const second = ready().guard
  const seen = await guard.entry('r', async () => {
    void second.entry('r', () => new Promise(() => {}))
    return second.entry('r', () => 'inner').catch((error: unknown) => isBlocked(error))
  })
  expect(seen).toBe(true)
})

it('a store of the user’s own goes through a probe and back', async () => {
  const { guard } = ready()
  const own = new AsyncLocalStorage<string>()
  const seen = await own.run('request 7', () =>
    guard.entry('r', async () => {
      await flush()
      return own.getStore()
    }),
  )
  expect(seen).toBe('request 7')
})
