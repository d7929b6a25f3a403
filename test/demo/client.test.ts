import { createGuard } from 'leapguard'
import { ManualClock } from 'leapguard/testing'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { Client } from '../../docs/demo/client.js'
import { ERRORS, SLOWNESS } from './support.js'

type Upstream = (signal: AbortSignal) => Promise<Response>

/** A client without a network: `fetch` is whatever the test says. */
function setup(maxInFlight?: number) {
  const clock = new ManualClock(1_000_000)
  const guard = createGuard({ clock })
  guard.setRulesFor('user-service', { degrade: [{ ...ERRORS, minRequestAmount: 50 }, SLOWNESS] })
  const upstream = { answer: ok as Upstream, requests: 0 }
  vi.stubGlobal('fetch', (_url: string, init: { signal: AbortSignal }) => {
    upstream.requests++
    return upstream.answer(init.signal)
  })
  const options = { guard, url: 'http://upstream', cacheMs: 2000, slowLimitMs: 200, now: () => clock.now() }
  return {
    clock,
    guard,
    upstream,
    client: new Client(maxInFlight === undefined ? options : { ...options, maxInFlight }),
  }
}

const ok: Upstream = async () => new Response(JSON.stringify({ id: 1, name: 'user 1' }))
const unavailable: Upstream = async () => new Response('away', { status: 503 })
const reset: Upstream = () => Promise.reject(new TypeError('fetch failed'))
const hang: Upstream = (signal) =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }))

/** Lets every settled promise reach its callers. */
const settle = () => new Promise((resolve) => setImmediate(resolve))

const times = (n: number, call: () => void) => {
  for (let i = 0; i < n; i++) call()
}

afterEach(() => vi.unstubAllGlobals())

describe('Client', () => {
  it('answers from the upstream, then from the cache, then by the default when the cache is too old', async () => {
    const { clock, upstream, client } = setup()
    times(50, () => client.call())
    await settle()
    expect(client.takeFelt()).toMatchObject({ calls: 50, fromUpstream: 50, fromCache: 0, fromDefault: 0 })

    upstream.answer = unavailable
    clock.advance(2000)
    times(10, () => client.call())
    await settle()
    expect(client.takeFelt()).toMatchObject({ calls: 10, fromUpstream: 0, fromCache: 10, fromDefault: 0 })

    clock.advance(1)
    times(10, () => client.call())
    await settle()
    expect(client.takeFelt()).toMatchObject({ calls: 10, fromUpstream: 0, fromCache: 0, fromDefault: 10 })
  })

  it('falls to the default for a user who was never seen', async () => {
    const { upstream, client } = setup()
    upstream.answer = reset
    client.call()
    await settle()
    expect(client.takeFelt()).toMatchObject({ fromDefault: 1, unanswered: 0 })
  })

  it('makes a 503 and a connection reset failures, which open the breaker, and refused callers still get answers', async () => {
    const { guard, upstream, client } = setup()
    upstream.answer = unavailable
    times(25, () => client.call())
    await settle()
    upstream.answer = reset
    times(25, () => client.call())
    await settle()
    expect(guard.stats('user-service').totals).toMatchObject({ passed: 50, failed: 50 })
    times(10, () => client.call())
    await settle()
    expect(upstream.requests).toBe(50)
    expect(guard.stats('user-service').totals.blocked).toBe(10)
    expect(client.takeFelt()).toMatchObject({ calls: 60, fromDefault: 60, unanswered: 0 })
  })

  it('counts a call as slow once, when it is noticed, ended or still running', async () => {
    const { clock, upstream, client } = setup()
    upstream.answer = hang
    times(3, () => client.call())
    clock.advance(200)
    expect(client.takeFelt().slow).toBe(0)
    clock.advance(1)
    expect(client.takeFelt().slow).toBe(3)
    clock.advance(1000)
    expect(client.takeFelt().slow).toBe(0)
    await client.abortAll('enough')
    expect(client.takeFelt().slow).toBe(0)
  })

  it('does not call a refused caller slow, however long the answer of a fallback took', async () => {
    const { clock, guard, client } = setup()
    guard.forceOpen('user-service')
    client.call()
    clock.advance(1000)
    await settle()
    expect(client.takeFelt()).toMatchObject({ fromDefault: 1, slow: 0 })
  })

  it('counts callers who still wait in the p99, with their wait so far', async () => {
    const { clock, upstream, client } = setup()
    times(90, () => client.call())
    await settle()
    upstream.answer = hang
    times(10, () => client.call())
    clock.advance(150)
    expect(client.takeFelt().p99Ms).toBe(150)
    clock.advance(1000)
    expect(client.takeFelt().p99Ms).toBe(1150)
  })

  it('aborts all requests in flight, which count as neither success nor failure, and later calls are not concerned', async () => {
    const { guard, upstream, client } = setup()
    upstream.answer = hang
    times(5, () => client.call())
    const aborted = client.abortAll('the phase is over')
    upstream.answer = ok
    client.call()
    await aborted
    expect(client.takeFelt()).toMatchObject({ calls: 6, aborted: 5, fromUpstream: 1, fromCache: 0, fromDefault: 0 })
    expect(client.inFlight).toBe(0)
    expect(guard.stats('user-service').totals).toMatchObject({ ignored: 5, failed: 0, succeeded: 1, running: 0 })
  })

  it('holds calls back when too many are in flight', async () => {
    const { upstream, client } = setup(10)
    upstream.answer = hang
    times(15, () => client.call())
    expect(client.takeFelt()).toMatchObject({ calls: 10, heldBack: 5 })
    expect(client.inFlight).toBe(10)
    await client.abortAll('enough')
    expect(client.inFlight).toBe(0)
  })
})
