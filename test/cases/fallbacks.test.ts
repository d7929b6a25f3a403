// The ignore filter and the fallback: what the caller asked to see is not replaced.
import type { Fallback, FallbackContext, ResourceConfig } from 'leapguard'
import { describe, expect, it, vi } from 'vitest'
import { Scenario, thrownBy } from '../support/scenario.js'

class HttpError extends Error {
  constructor(readonly status: number) {
    super(`status ${status}`)
  }
}

const FILTER: ResourceConfig = { ignore: (error) => error instanceof HttpError && error.status < 500 }
const rules = [{ strategy: 'error-ratio', threshold: 0.5, minRequestAmount: 5 }] as const

/** The same function of one resource, run with the given fallback, through each entrance that knows fallbacks. */
const RUNS = {
  'entry, configured': (s: Scenario, error: Error, fallback: Fallback) => {
    s.guard.configure('r', { fallbacks: [fallback] })
    return s.guard.entry('r', () => Promise.reject(error))
  },
  'entry, per call': (s: Scenario, error: Error, fallback: Fallback) =>
    s.guard.entry<unknown>('r', () => Promise.reject(error), { fallbacks: [fallback] }),
  'entrySync, configured': (s: Scenario, error: Error, fallback: Fallback) => {
    s.guard.configure('r', { fallbacks: [fallback] })
    return s.guard.entrySync('r', (): unknown => {
      throw error
    })
  },
  'entrySync, per call': (s: Scenario, error: Error, fallback: Fallback) =>
    s.guard.entrySync<unknown>(
      'r',
      () => {
        throw error
      },
      { fallbacks: [fallback] },
    ),
  'wrap, configured': (s: Scenario, error: Error, fallback: Fallback) => {
    s.guard.configure('r', { fallbacks: [fallback] })
    return s.guard.wrap('r', (): Promise<unknown> => Promise.reject(error))()
  },
} as const

describe.each(Object.keys(RUNS) as (keyof typeof RUNS)[])('%s', (run) => {
  it('F40 an ignored 404 reaches the caller, no fallback runs and no ratio moves', async () => {
    const s = new Scenario('entry', rules)
    s.guard.configure('r', FILTER)
    const fallback = vi.fn(() => 'default')
    const notFound = new HttpError(404)

    expect(await thrownBy(() => RUNS[run](s, notFound, fallback))).toEqual({ error: notFound })
    const caught = await thrownBy(() => RUNS[run](s, notFound, fallback))

    expect(caught !== 'nothing' && caught.error).toBe(notFound)
    expect(fallback).not.toHaveBeenCalled()
    expect(s.totals()).toMatchObject({ passed: 2, ignored: 2, failed: 0, succeeded: 0, running: 0 })
    expect(s.rule()).toMatchObject({ state: 'closed', total: 0, bad: 0 })
  })

  it('F40 a 503 still counts and is answered by the fallback', async () => {
    const s = new Scenario('entry', rules)
    s.guard.configure('r', FILTER)
    const broken = new HttpError(503)
    const seen: [unknown, FallbackContext][] = []
    const answer = await RUNS[run](s, broken, (reason, context) => {
      seen.push([reason, context])
      return 'default'
    })
    expect(answer).toBe('default')
    expect(seen).toHaveLength(1)
    expect(seen[0]?.[0]).toBe(broken)
    expect(seen[0]?.[1]).toMatchObject({ resource: 'r', level: 0, cause: 'failure' })
    expect(s.totals()).toMatchObject({ failed: 1, ignored: 0, succeeded: 0 })
    expect(s.rule()).toMatchObject({ total: 1, bad: 1 })
  })

  it('F40 fallbackOnIgnored asks for the fallback on ignored errors, which still do not count', async () => {
    const s = new Scenario('entry', rules)
    s.guard.configure('r', { ...FILTER, fallbackOnIgnored: true })
    const notFound = new HttpError(404)
    const seen: [unknown, FallbackContext][] = []
    const answer = await RUNS[run](s, notFound, (reason, context) => {
      seen.push([reason, context])
      return 'default'
    })
    expect(answer).toBe('default')
    expect(seen).toHaveLength(1)
    expect(seen[0]?.[0]).toBe(notFound)
    expect(seen[0]?.[1]).toMatchObject({ resource: 'r', level: 0, cause: 'ignored' })
    expect(s.totals()).toMatchObject({ ignored: 1, failed: 0, succeeded: 0 })
    expect(s.rule()).toMatchObject({ state: 'closed', total: 0, bad: 0 })
  })
})

it('F40 an ignored error given at exit counts as neither', () => {
  const s = new Scenario('enter', rules)
  s.guard.configure('r', FILTER)
  s.guard.enter('r').exit({ error: new HttpError(404) })
  expect(s.totals()).toMatchObject({ ignored: 1, failed: 0, succeeded: 0 })
  expect(s.rule()).toMatchObject({ total: 0, bad: 0 })
  s.guard.enter('r').exit({ error: new HttpError(503) })
  expect(s.totals()).toMatchObject({ ignored: 1, failed: 1, succeeded: 0 })
  expect(s.rule()).toMatchObject({ total: 1, bad: 1 })
})

it('F40 ignored errors do not dilute the ratio: five failures among fifty 404s open at the fifth', async () => {
  const s = new Scenario('entry', rules)
  s.guard.configure('r', FILTER)
  for (let i = 0; i < 5; i++) {
    expect(s.rule()).toMatchObject({ state: 'closed', total: i, bad: i })
    for (let j = 0; j < 10; j++) await thrownBy(() => s.guard.entry('r', () => Promise.reject(new HttpError(404))))
    await thrownBy(() => s.guard.entry('r', () => Promise.reject(new HttpError(503))))
  }
  expect(s.states).toMatchObject([{ to: 'open', value: 1, total: 5 }])
})
