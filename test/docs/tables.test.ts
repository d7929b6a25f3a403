// The other tables of names on the pages: options, statistics and event fields, each as complete as the code.
import {
  CircuitBreaker,
  type CircuitBreakerOptions,
  type Controller,
  createGuard,
  type EntryOptions,
  type GuardOptions,
  type StateChangeReason,
} from 'leapguard'
import { expect, it } from 'vitest'
import { codeSpans, namesIn, readPage, tableUnder } from './pages.js'

const start = readPage('docs/start.md')
const calls = readPage('docs/calls.md')
const degrade = readPage('docs/rules/degrade.md')

/** Names in a list that an error message gives: "there are a, b, c". */
function offered(attempt: () => unknown): string[] {
  try {
    attempt()
  } catch (error) {
    const [, names] = /there are (.*)$/.exec((error as Error).message) ?? []
    if (names !== undefined) return names.split(', ').sort()
  }
  throw new Error('nothing was offered')
}

it('the options of a guard are those it takes', () => {
  const table = namesIn(tableUnder(start, 'A guard of your own'), 'option')
  expect(table.sort()).toEqual(offered(() => createGuard({ none: 1 } as GuardOptions)))
})

it('the options of configure are those it takes', () => {
  const table = namesIn(tableUnder(calls, 'Configure a resource'), 'option')
  expect(table.sort()).toEqual(offered(() => createGuard().configure('a', { none: 1 } as object)))
})

it('the options of a CircuitBreaker are those it takes', () => {
  const table = namesIn(tableUnder(readPage('docs/circuit-breaker.md'), 'CircuitBreaker'), 'option')
  expect(table.sort()).toEqual(offered(() => new CircuitBreaker({ none: 1 } as CircuitBreakerOptions)))
})

it('the options of a call are those of its type', () => {
  const names = {
    signal: 1,
    fallbacks: 1,
    count: 1,
    args: 1,
    origin: 1,
    parent: 1,
  } satisfies Record<keyof EntryOptions, 1>
  expect(namesIn(tableUnder(calls, 'Options of a call'), 'option')).toEqual(Object.keys(names))
})

it('the functions of a controller are those of its type', () => {
  const names = { advance: 1, check: 1, take: 1, settle: 1, waitMs: 1 } satisfies Record<keyof Controller, 1>
  const table = namesIn(tableUnder(readPage('docs/writing-a-rule.md'), 'The contract'), 'function')
  expect(table.map((name) => name.replace(/\(.*/, ''))).toEqual(Object.keys(names))
})

it('totals and rule statistics are those that stats shows', () => {
  const guard = createGuard()
  guard.setRulesFor('a', { degrade: [{ strategy: 'error-count', threshold: 1 }] })
  const { totals, rules } = guard.stats('a')
  expect(namesIn(tableUnder(degrade, 'Totals and statistics'), 'total').sort()).toEqual(Object.keys(totals).sort())
  const second = { ...degrade, text: degrade.text.slice(degrade.text.indexOf('`rules` belong to the breakers')) }
  const [fields = ''] = second.text.split('**Ignored**')
  const names = fields
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => codeSpans(line)[0])
  expect(names.sort()).toEqual(Object.keys(rules[0] as object).sort())
})

it('the reasons of state events are those of the code', () => {
  const reasons = {
    threshold: 1,
    'cooldown-elapsed': 1,
    'probe-succeeded': 1,
    'probe-failed': 1,
    'probe-slow': 1,
    'half-open-timeout': 1,
    'forced-open': 1,
    'forced-closed': 1,
    auto: 1,
    reset: 1,
    reload: 1,
    removed: 1,
    restored: 1,
  } satisfies Record<StateChangeReason, 1>

  expect(namesIn(tableUnder(degrade, 'Telemetry'), 'reason')).toEqual(Object.keys(reasons))
})
