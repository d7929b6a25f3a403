// The replayer itself: what it prints, what it refuses, with which exit status.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { command, DATA } from './command.js'

vi.setConfig({ testTimeout: 30_000 }) // a busy machine

const folder = mkdtempSync(join(tmpdir(), 'leapguard-traces-'))
afterAll(() => rmSync(folder, { recursive: true }))

interface RawTrace {
  source: string
  kind: string
  name: string
  config: Record<string, unknown>
  steps: unknown[][]
}

const recorded = JSON.parse(
  readFileSync(join(DATA, 'sentinel/degrade.ndjson'), 'utf8').split('\n')[0] as string,
) as RawTrace
const steps = recorded.steps.length
const strange: RawTrace = {
  source: 'elsewhere',
  kind: 'window',
  name: 'strange',
  config: { class: 'Odd' },
  steps: [[1], [2], [3]],
}

function run(...args: string[]): { status: number; out: string[]; err: string } {
  const out: string[] = []
  const err: string[] = []
  const status = command(
    args,
    (line) => out.push(line),
    (line) => err.push(line),
  )
  return { status, out, err: err.join('\n') }
}

function file(name: string, ...lines: (RawTrace | string)[]): string {
  const path = join(folder, name)
  mkdirSync(join(path, '..'), { recursive: true })
  writeFileSync(path, lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'))
  return path
}

describe('what it reports', () => {
  test('without arguments it replays the recordings of the repository', () => {
    const { status, out } = run()

    expect(status).toBe(0)
    expect(out).toContain('alibaba/Sentinel degrade-multi: 4 of 4 traces, 920 of 920 steps matched')
    expect(out.at(-1)).toBe('12806 passed, 0 failed')
  })

  test('a verdict that differs is shown with its trace, line and step, and the rest is still played', () => {
    const spoilt = structuredClone(recorded)
    const third = spoilt.steps[2] as unknown[]
    third[3] = false
    const { status, out } = run(file('spoilt.ndjson', recorded, '', spoilt))

    expect(status).toBe(1)
    expect(out[0]).toBe(`alibaba/Sentinel degrade: 1 of 2 traces, ${2 * steps - 1} of ${2 * steps} steps matched`)
    expect(out[1]).toContain(`${spoilt.name} (`)
    expect(out[1]).toContain('spoilt.ndjson:3)')
    expect(out[1]).toContain(`step 3 of ${steps} ${JSON.stringify(third)}: [3]: recorded false, replayed true`)
    expect(out.at(-1)).toBe(`${2 * steps - 1} passed, 1 failed`)
  })

  test('an unknown operation and an end of a call that never began fail their step only', () => {
    const added = structuredClone(recorded)
    added.steps.unshift([added.steps[0]?.[0], 'dance', 0], [added.steps[0]?.[0], 'exit', 99, 0, false, 'CLOSED'])
    const { status, out } = run(file('added.ndjson', added))

    expect(status).toBe(1)
    expect(out[1]).toContain('unknown operation "dance"')
    expect(out.at(-1)).toBe(`${steps} passed, 2 failed`)
  })

  test('a configuration the library refuses fails all steps of its trace', () => {
    const { status, out } = run(file('refused.ndjson', { ...recorded, config: { ...recorded.config, timeWindow: 0 } }))

    expect(status).toBe(1)
    expect(out[1]).toMatch(/cannot be set up: .*cooldownMs/)
    expect(out.at(-1)).toBe(`0 passed, ${steps} failed`)
  })

  test('neither names nor notes nor tags decide anything', () => {
    const { source, kind, config } = recorded
    const { status, out } = run(file('nameless.ndjson', { source, kind, name: 'x', config, steps: recorded.steps }))

    expect(status).toBe(0)
    expect(out.at(-1)).toBe(`${steps} passed, 0 failed`)
  })
})

describe('traces without an adapter', () => {
  test('are skipped, listed with their class, and counted', () => {
    const { status, out } = run(file('mixed.ndjson', recorded, strange, strange))

    expect(status).toBe(0)
    expect(out.slice(1, 3)).toEqual(['skipped for want of an adapter:', '  elsewhere window Odd: 2 traces, 6 steps'])
    expect(out.at(-1)).toBe(`${steps} passed, 0 failed, 6 skipped`)
  })

  test('are failures under --strict', () => {
    const { status, out } = run('--strict', file('mixed.ndjson', recorded, strange, strange))

    expect(status).toBe(1)
    expect(out).toContain('elsewhere window: 0 of 2 traces, 0 of 6 steps matched')
    expect(out).toContain('failed for want of an adapter:')
    expect(out.at(-1)).toBe(`${steps} passed, 6 failed`)
  })

  test('include another class of a kind that has an adapter, and another source of the same kind', () => {
    const otherClass = { ...strange, source: 'alibaba/Sentinel', config: { class: 'StatisticNode' } }
    const otherSource = { ...recorded, source: 'elsewhere' }
    const { out } = run(file('others.ndjson', otherClass, otherSource))

    expect(out.at(-1)).toBe(`0 passed, 0 failed, ${3 + steps} skipped`)
  })
})

describe('what it reads', () => {
  test('every *.ndjson at any depth of a folder, and a file reached twice only once', () => {
    const top = file('deep/a.ndjson', recorded)
    file('deep/further/down/b.ndjson', recorded)
    file('deep/notes.txt', 'not a trace')
    const { status, out } = run(join(folder, 'deep'), top)

    expect(status).toBe(0)
    expect(out.at(-1)).toBe(`${2 * steps} passed, 0 failed`)
  })

  test.each([
    ['not JSON', '{"source":', 'not JSON'],
    ['not an object', '[]', 'a trace must be a JSON object'],
    ['without a source', JSON.stringify({ ...strange, source: undefined }), 'source must be a non-empty string'],
    ['without a configuration', JSON.stringify({ ...strange, config: null }), 'config must be an object'],
    ['with steps that are no arrays', JSON.stringify({ ...strange, steps: [1] }), 'steps must be an array of arrays'],
  ])('a line that is %s stops it with the place', (_what, line, message) => {
    const { status, out, err } = run(file('bad.ndjson', recorded, line))

    expect(status).toBe(2)
    expect(out).toEqual([])
    expect(err).toContain(`bad.ndjson:2: ${message}`)
  })

  test('a path that does not exist, an empty file, a folder without recordings and an unknown option stop it', () => {
    mkdirSync(join(folder, 'bare'), { recursive: true })
    const stopped = (argument: string) => {
      const { status, err } = run(argument)
      expect(status).toBe(2)
      return err
    }

    expect(stopped(join(folder, 'absent.ndjson'))).toContain('absent.ndjson: ENOENT')
    expect(stopped(file('empty.ndjson', ''))).toContain('empty.ndjson: no traces in this file')
    expect(stopped(join(folder, 'bare'))).toContain('bare: no *.ndjson file in this folder')
    expect(stopped('--lenient')).toContain('usage: npm run traces')
  })

  test('the command itself exits non-zero on a bad path and says why', () => {
    const root = fileURLToPath(new URL('../../', import.meta.url))
    const start = () => {
      const args = ['--import', 'tsx', 'test/traces/main.ts', join(folder, 'absent.ndjson')]
      execFileSync(process.execPath, args, { cwd: root, encoding: 'utf8', stdio: 'pipe' })
    }

    expect(start).toThrow(expect.objectContaining({ status: 2, stderr: expect.stringContaining('absent.ndjson') }))
  })
})
