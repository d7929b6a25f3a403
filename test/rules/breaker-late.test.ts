// Results of calls from an earlier era, ignored or judged as they arrive.
import { describe, expect, it } from 'vitest'
import { Rig } from './support.js'

const rule = { strategy: 'error-count', threshold: 2, cooldownMs: 1000 } as const
const late = { ...rule, lateResults: 'at-arrival' } as const

/** Open since 0 with three calls still running. */
function openWithThreeRunning(fields: ConstructorParameters<typeof Rig>[0]) {
  const rig = new Rig(fields)
  const running = [rig.begin(), rig.begin(), rig.begin()] as const
  rig.call('failure')
  rig.call('failure')
  expect(rig.state).toBe('open')
  return { rig, running }
}

describe('ignored by default', () => {
  it('while open, half-open and closed again', () => {
    const { rig, running } = openWithThreeRunning(rule)
    rig.end(running[0])
    rig.now = 1000
    const probe = rig.begin()
    rig.end(running[1], 'failure')
    expect(rig.state).toBe('half-open')
    rig.end(probe)
    rig.end(running[2], 'failure')
    expect([rig.state, rig.counts]).toEqual(['closed', [0, 0]])
  })
})

describe('judged at arrival', () => {
  it('a late success counts as a good probe while half-open', () => {
    const { rig, running } = openWithThreeRunning(late)
    rig.now = 1000
    const probe = rig.begin()
    rig.end(running[0])
    expect(rig.host.changes.at(-1)).toBe('1000 half-open > closed: probe-succeeded')
    rig.end(probe, 'failure')
    expect([rig.state, rig.counts]).toEqual(['closed', [1, 1]])
  })

  it('late successes add up to successThreshold together with the probes', () => {
    const { rig, running } = openWithThreeRunning({ ...late, successThreshold: 3 })
    rig.now = 1000
    rig.call('success')
    rig.end(running[0])
    expect(rig.state).toBe('half-open')
    rig.end(running[1])
    expect(rig.state).toBe('closed')
  })

  it('a late failure re-opens while half-open, and the probe that is out is void', () => {
    const { rig, running } = openWithThreeRunning(late)
    rig.now = 1000
    rig.begin()
    rig.now = 1200
    rig.end(running[0], 'failure')
    expect(rig.host.changes.at(-1)).toBe('1200 half-open > open: probe-failed')
    expect([rig.seen.openedAt, rig.host.probesOut]).toEqual([1200, 0])
  })

  it('an ignored one decides nothing', () => {
    const { rig, running } = openWithThreeRunning(late)
    rig.now = 1000
    rig.begin()
    rig.end(running[0], 'ignored')
    expect([rig.state, rig.host.probesOut]).toEqual(['half-open', 1])
  })

  it('neither opens again nor prolongs the cooldown while open', () => {
    const { rig, running } = openWithThreeRunning(late)
    rig.now = 500
    for (const call of running) rig.end(call, 'failure')
    expect(rig.host.changes).toHaveLength(1)
    expect(rig.seen).toMatchObject({ openedAt: 0, retryAfterMs: 500 })
  })

  it('counts in the window of the era in which it arrives', () => {
    const { rig, running } = openWithThreeRunning(late)
    rig.now = 1000
    rig.call('success')
    expect(rig.counts).toEqual([0, 0])
    rig.end(running[0], 'failure')
    expect(rig.counts).toEqual([1, 1])
    rig.end(running[1], 'failure')
    expect(rig.host.changes.at(-1)).toBe('1000 closed > open: threshold')
  })

  it('extends a run of errors', () => {
    const rig = new Rig({ strategy: 'consecutive-errors', threshold: 2, cooldownMs: 1000, lateResults: 'at-arrival' })
    const running = rig.begin()
    rig.call('failure')
    rig.call('failure')
    rig.now = 1000
    rig.call('success')
    rig.call('failure')
    rig.end(running, 'failure')
    expect(rig.host.changes.at(-1)).toBe('1000 closed > open: threshold')
  })
})
