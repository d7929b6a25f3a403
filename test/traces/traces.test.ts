// Replays the recordings in data/, and then spoils them: a replayer that compares too little would pass the first half alone.
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { DATA } from './command.js'
import { readTraces } from './read.js'
import { replay } from './runner.js'
import type { Replayed, Step, Trace } from './types.js'

vi.setConfig({ testTimeout: 30_000 }) // a busy machine

const load = (file: string) => readTraces([join(DATA, 'sentinel', file)])
const degrade = load('degrade.ndjson')
const degradeMulti = load('degrade-multi.ndjson')
const windows = load('window.ndjson')
const everything = [...degrade, ...degradeMulti, ...windows]

describe("Sentinel's decisions, step for step", () => {
  test.each([
    ['degrade', degrade, 61, 9236],
    ['degrade-multi', degradeMulti, 4, 920],
    ['window of class BucketLeapArray', windows, 20, 2650],
  ])('every step of %s is equal and no trace is skipped', (_kind, traces, count, steps) => {
    const results = traces.map((trace) => replay(trace))

    expect(results.flatMap((result) => result.difference ?? [])).toEqual([])
    expect(results.every((result) => result.known)).toBe(true)
    expect(results.length).toBe(count)
    expect(matched(results)).toBe(steps)
  })

  test('the recordings hold 85 traces and 12,806 steps of one source and version', () => {
    expect(readTraces([DATA]).length).toBe(85)
    expect(stepsOf(everything)).toBe(12_806)
    expect(new Set(everything.map((trace) => trace.source))).toEqual(new Set(['alibaba/Sentinel']))
  })
})

describe('every recorded result is compared', () => {
  test.each([
    ['the verdict of an enter', 'enter', 3],
    ['the state after an enter', 'enter', 4],
    ['the duration of an exit', 'exit', 3],
    ['the state after an exit', 'exit', 5],
    ["the breakers' verdict on a call refused later", 'enterBlocked', 3],
    ['the state after a call refused later', 'enterBlocked', 4],
    ['the state after a reload', 'rule', 3],
  ])('%s', (_what, op, position) => {
    expectEachSpoiltStepToDiffer([...degrade, ...degradeMulti], op, (step) =>
      step.with(position, spoil(step[position])),
    )
  })

  test.each([0, 1, 2])('the state of breaker %i of several', (index) => {
    expectEachSpoiltStepToDiffer(degradeMulti, 'exit', (step) => {
      const states = step[5] as unknown[]
      return index < states.length ? step.with(5, states.with(index, spoil(states[index]))) : step
    })
  })

  test.each(['read', 'peek'])('every field of a window %s', (op) => {
    for (const field of fieldsOf(windows, op)) {
      expectEachSpoiltStepToDiffer(windows, op, (step) => {
        const fields = step[2] as Record<string, unknown>
        return field in fields ? step.with(2, { ...fields, [field]: spoil(fields[field]) }) : step
      })
    }
  })

  test('every column of the rows of a window read', () => {
    for (const column of [0, 1, 2, 3, 4, 5]) {
      expectEachSpoiltStepToDiffer(windows, 'read', (step) => {
        const fields = step[2] as { windows: number[][] }
        const last = fields.windows.at(-1)
        if (last === undefined) return step
        const rows = fields.windows.with(-1, last.with(column, (last[column] as number) + 1))
        return step.with(2, { ...fields, windows: rows })
      })
    }
  })
})

/** Changes all steps of one operation and expects exactly the changed ones to differ. */
function expectEachSpoiltStepToDiffer(traces: readonly Trace[], op: string, change: (step: unknown[]) => Step): void {
  let changed = 0
  const spoilt = traces.map((trace) => {
    const steps = trace.steps.map((step) => {
      const next = step[1] === op ? change([...step]) : step
      if (JSON.stringify(next) !== JSON.stringify(step)) changed++
      return next
    })
    return { ...trace, steps }
  })

  expect(changed).toBeGreaterThan(0)
  expect(matched(spoilt.map((trace) => replay(trace)))).toBe(stepsOf(traces) - changed)
}

/** A different value of the same kind. */
function spoil(value: unknown): unknown {
  if (typeof value === 'boolean') return !value
  if (typeof value === 'number') return value + 1
  if (Array.isArray(value)) return [...value, 0]
  return value === null ? 0 : value === 'CLOSED' ? 'OPEN' : 'CLOSED'
}

function fieldsOf(traces: readonly Trace[], op: string): Set<string> {
  const steps = traces.flatMap((trace) => trace.steps).filter((step) => step[1] === op)
  return new Set(steps.flatMap((step) => Object.keys(step[2] as object)))
}

function matched(results: readonly Replayed[]): number {
  return results.reduce((sum, result) => sum + result.matched, 0)
}

function stepsOf(traces: readonly Trace[]): number {
  return traces.reduce((sum, trace) => sum + trace.steps.length, 0)
}
