import { createGuard } from 'leapguard'
import { describe, expect, it } from 'vitest'
import { demo } from '../../docs/demo/demo.js'
import { type Plan, planRun } from '../../docs/demo/phases.js'
import { run } from '../../docs/demo/run.js'
import { shortcomings } from '../../docs/demo/summary.js'
import type { Row } from '../../docs/demo/timeline.js'
import { Upstream } from '../../docs/demo/upstream.js'
import { ERRORS, rulesOf, SLOWNESS } from './support.js'

/** The demo as its process would see it, with streams that remember. */
async function play(argv: readonly string[], sliceMs = 50) {
  const out: string[] = []
  const err: string[] = []
  const status = await demo({
    argv,
    env: {},
    cwd: import.meta.dirname,
    stdout: { write: (text) => out.push(text) },
    stderr: { write: (text) => err.push(text) },
    stop: new AbortController().signal,
    sliceMs,
  })
  return { status, out: out.join(''), err: err.join('') }
}

const RESOURCE = 'user-service'
const quick = { minRequestAmount: 5, statIntervalMs: 200, cooldownMs: 200 }
const rules = rulesOf({ ...ERRORS, ...quick }, { ...SLOWNESS, ...quick, maxAllowedRtMs: 80 })

/** Slices of 200 ms, and as much time to spare as a busy machine may need. */
const plan: Plan = { ...planRun(rules, 200), spareSlices: 50 }

function guarded() {
  const guard = createGuard()
  guard.loadDegradeRules(rules)
  return guard
}

describe('the command line', () => {
  it('prints help and ends with status 0', async () => {
    const { status, out, err } = await play(['--help'])
    expect([status, err]).toEqual([0, ''])
    expect(out).toContain('--rules FILE')
  })

  it('refuses an unknown option with status 2', async () => {
    const { status, out, err } = await play(['--rulez', 'x'])
    expect([status, out]).toEqual([2, ''])
    expect(err).toContain('--rulez')
    expect(err).toContain('Usage:')
  })

  it('lists every fault of a bad file with its place, starts nothing, and ends with status 2', async () => {
    const { status, out, err } = await play(['--rules', 'files/faulty.json'])
    expect([status, out]).toEqual([2, ''])
    expect(err).toMatch(/^3 faults in .*faulty\.json, nothing was applied:$/m)
    expect(err).toMatch(/faulty\.json:3:62: degrade\[0\]\.threshold .*: must be .*, got 1\.5$/m)
    expect(err).toMatch(/faulty\.json:3:80: degrade\[0\]\.cooldownMs .*: must be .*, got "5s"$/m)
    expect(err).toMatch(/faulty\.json:4:78: degrade\[1\]\.minReqests .*: must be absent: .*, got 5$/m)
    expect(err).toMatch(/^Nothing was started\.$/m)
  })

  it('says that a file does not exist, with status 2', async () => {
    const { status, err } = await play(['--rules', 'files/none.json'])
    expect(status).toBe(2)
    expect(err).toMatch(/^ENOENT: .*none\.json'$/m)
  })
})

// Real time in this group: sockets and the client's pace are what is being looked at. Phases last tenths of a second.
describe('a run', () => {
  it('opens in every bad phase, closes after it, and leaves nothing behind', { timeout: 30_000 }, async () => {
    const guard = guarded()
    const rows: Row[] = []
    const urls: string[] = []
    const report = await run({
      guard,
      rules,
      plan,
      stop: new AbortController().signal,
      onStart: (url) => urls.push(url),
      onRow: (row) => rows.push(row),
    })
    expect(shortcomings(report, rules)).toEqual([])
    expect(report.badPhases.map((bad) => bad.health)).toEqual(['failing', 'slow', 'hung'])
    expect(report.badPhases.every((bad) => bad.spared > 0 && bad.reached > 0)).toBe(true)

    const { totals } = guard.stats(RESOURCE)
    const sum = (value: (row: Row) => number) => rows.reduce((total, row) => total + value(row), 0)
    expect(sum((row) => row.blocked)).toBe(totals.blocked)
    expect(sum((row) => row.failed)).toBe(totals.failed)
    expect(sum((row) => row.fromCache + row.fromDefault)).toBe(totals.blocked + totals.failed)
    expect(report.calls).toBe(totals.passed + totals.blocked)
    expect(report.fromUpstream + report.fromCache + report.fromDefault + report.aborted).toBe(report.calls)

    expect([totals.running, report.leftRunning, report.leftConnections]).toEqual([0, 0, 0])
    await expect(fetch(`${urls[0]}/users/1`)).rejects.toThrow()
  })

  it('can be stopped in the middle of a hang, and leaves nothing behind either', { timeout: 30_000 }, async () => {
    const guard = guarded()
    const stop = new AbortController()
    const hang: Plan = { ...plan, phases: [{ health: 'hung', slices: 1000 }] }
    const report = await run({ guard, rules, plan: hang, stop: stop.signal, onRow: () => stop.abort() })
    expect(report.interrupted).toBe(true)
    expect(report.badPhases[0]?.ended).toBe(false)
    expect(shortcomings(report, rules)).toEqual([])
    expect([guard.stats(RESOURCE).totals.running, report.leftRunning, report.leftConnections]).toEqual([0, 0, 0])
  })

  it('ends with status 1 and says why if the rules of a file cannot catch a phase', { timeout: 30_000 }, async () => {
    const { status, out, err } = await play(['--rules', 'files/errors-only.json'])
    expect([status, err]).toEqual([1, ''])
    expect(out).toContain('Rules from files/errors-only.json (1 more names another resource)')
    expect(out).toContain('FAILED: no breaker opened in the hung phase: no rule looks for that.')
    expect(out).not.toMatch(/^OK/m)
    expect(out).not.toContain('\u001b')
    expect(out.split('\n').every((line) => line.length <= 120)).toBe(true)
  })
})

describe('the upstream', () => {
  it('answers, refuses, resets, or hangs as the phase says, and closes with requests unanswered', async () => {
    const upstream = await Upstream.start(20)
    const ask = (signal?: AbortSignal) => fetch(`${upstream.url}/users/7`, signal === undefined ? {} : { signal })
    await expect(ask().then((answer) => answer.json())).resolves.toEqual({ id: 7, name: 'user 7' })
    upstream.health = 'slow'
    await expect(ask().then((answer) => answer.status)).resolves.toBe(200)

    upstream.health = 'failing'
    const outcomes: string[] = []
    for (let i = 0; i < 6; i++) {
      outcomes.push(
        await ask().then(
          (answer) => answer.text().then(() => `${answer.status}`),
          () => 'reset',
        ),
      )
    }
    expect(outcomes.sort()).toEqual(['503', '503', '503', '503', 'reset', 'reset'])

    upstream.health = 'hung'
    const hung = ask()
    while (upstream.received < 9) await new Promise((resolve) => setImmediate(resolve))
    await upstream.close()
    await expect(hung).rejects.toThrow()
    expect(await upstream.connections()).toBe(0)
  })
})
