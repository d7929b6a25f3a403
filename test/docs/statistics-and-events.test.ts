// docs/statistics-and-events.md and the code say the same of fields, options, channels and payloads, in both directions.
import {
  type ChannelMessages,
  channels,
  createGuard,
  type GuardEvents,
  type GuardOptions,
  type MetricWindowOptions,
} from 'leapguard'
import { ManualClock } from 'leapguard/testing'
import { describe, expect, it } from 'vitest'
import { codeSpans, namesIn, type Row, readPage, tableUnder } from './pages.js'

const page = readPage('docs/statistics-and-events.md')
const fieldsUnder = (heading: string, column = 'field'): string[] => namesIn(tableUnder(page, heading), column).sort()
const keysOf = (value: object | undefined): string[] => Object.keys(value ?? {}).sort()

type Name = keyof typeof channels
const NAMES = Object.keys(channels) as Name[]

/** One real message of every channel, and one real event of every name. */
function heard(): { events: Partial<GuardEvents>; messages: Partial<ChannelMessages> } {
  const events: Record<string, unknown> = {}
  const messages: Record<string, unknown> = {}
  const off = NAMES.map((name) => {
    const hear = (message: unknown) => {
      messages[name] ??= message
    }
    channels[name].subscribe(hear)
    return () => channels[name].unsubscribe(hear)
  })
  try {
    const guard = createGuard({ clock: new ManualClock(0), onInternalError: () => {} })
    for (const name of ['state', 'blocked', 'reload'] as const) {
      guard.on(name, (event) => {
        events[name] ??= event
      })
    }
    guard.on('blocked', () => {
      throw new Error('listener')
    })
    guard.setRulesFor('r', { degrade: [{ strategy: 'error-count', threshold: 1 }] })
    guard.enter('r').exit({ error: new Error('down') })
    guard.tryEnter('r')
  } finally {
    for (const leave of off) leave()
  }
  return { events, messages }
}

describe('payloads', () => {
  const { events, messages } = heard()

  it.each(['state', 'blocked', 'reload'] as const)('of %s events are those of the table', (name) => {
    expect(keysOf(events[name])).toEqual(fieldsUnder(`\`${name}\``))
  })

  it.each(['state', 'blocked', 'reload'] as const)('of %s messages are those of the event, and guard', (name) => {
    expect(keysOf(messages[name])).toEqual([...fieldsUnder(`\`${name}\``), 'guard'].sort())
  })

  it('of fault messages are those of the table', () => {
    expect(keysOf(messages.fault)).toEqual(fieldsUnder('`fault`'))
  })

  it('there is a table for every event and every channel, and each says since when', () => {
    const offered = /there are (.*)$/.exec(message(() => createGuard().on('none' as 'state', () => {})))?.[1] ?? ''
    const names = [...offered.matchAll(/'(\w+)'/g)].map((match) => match[1] as string)
    expect([...names].sort()).toEqual(keysOf(events))
    for (const name of [...names, ...NAMES]) expect(fieldsUnder(`\`${name}\``)).toContain('type')
    for (const name of names) expect(page.text).toMatch(new RegExp(`### \`${name}\`\n\nSince \\d+\\.\\d+\\.\\d+\\.`))
  })
})

it('the channels are those of the code, under their names', () => {
  const rows = tableUnder(page, 'Diagnostics channels')
  const onPage = rows.map((row: Row) => [codeSpans(row['`channels.`'] ?? '')[0], codeSpans(row.channel ?? '')[0]])
  expect(onPage).toEqual(NAMES.map((name) => [name, channels[name].name]))
  for (const { since } of rows) expect(since).toMatch(/^\d+\.\d+\.\d+$/)
})

describe('statistics', () => {
  const guard = createGuard({ statistics: true, clock: new ManualClock(0) })
  guard.enter('r').exit()
  const { window } = guard.stats('r')

  it('the fields of the window and of its response times are those that stats shows', () => {
    expect(keysOf(window)).toEqual(fieldsUnder('What it counts'))
    expect(keysOf(window?.rt)).toEqual(fieldsUnder('Response times'))
  })

  it('the options are those it takes, with the defaults it has', () => {
    const names = { intervalMs: 1, bucketCount: 1, percentiles: 1 } satisfies Record<keyof MetricWindowOptions, 1>
    const rows = tableUnder(page, 'The window')
    expect(namesIn(rows, 'option')).toEqual(Object.keys(names))
    for (const row of rows) {
      const wrong = { statistics: { [namesIn([row], 'option')[0] as string]: 'wrong' } } as unknown as GuardOptions
      expect(() => createGuard(wrong)).toThrow()
    }
    const defaults = Object.fromEntries(
      rows.map((row) => [
        namesIn([row], 'option')[0],
        JSON.parse((codeSpans(row.default ?? '')[0] ?? '').replace('_', '')),
      ]),
    )
    const explicit = createGuard({ statistics: defaults, clock: new ManualClock(0) })
    explicit.enter('r').exit()
    expect(explicit.stats('r').window).toStrictEqual(window)
    expect(defaults).toEqual({ intervalMs: 10_000, bucketCount: 10, percentiles: true })
  })

  it('the fields of a snapshot and of its registry are those that it has', () => {
    const snapshot = guard.snapshot()
    expect(keysOf(snapshot)).toEqual(fieldsUnder('Snapshot'))
    const afterwards = { ...page, text: page.text.slice(page.text.indexOf('`resources` is a list')) }
    const text = `# Registry\n\n${afterwards.text}`
    expect(namesIn(tableUnder({ ...page, text }, 'Registry'), 'of `registry`').sort()).toEqual(
      keysOf(snapshot.registry),
    )
  })
})

function message(act: () => unknown): string {
  try {
    act()
  } catch (error) {
    return (error as Error).message
  }
  throw new Error('nothing was thrown')
}
