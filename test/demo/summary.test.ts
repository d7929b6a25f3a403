import { describe, expect, it } from 'vitest'
import { painter } from '../../docs/demo/paint.js'
import { type BadPhase, type Report, renderSummary, shortcomings } from '../../docs/demo/summary.js'
import { ERRORS, rulesOf, SLOWNESS } from './support.js'

const rules = rulesOf(ERRORS, SLOWNESS)
const plain = painter(false)

function bad(health: BadPhase['health'], over: Partial<BadPhase> = {}): BadPhase {
  return {
    health,
    wasOpen: false,
    openedAfterMs: 310,
    openedBy: { long: 'error-ratio 0.30 >= 0.3 of 300 calls', short: 'errors 0.30 >= 0.3' },
    spared: 801,
    reached: 99,
    ended: true,
    recoveryWatched: true,
    recoveredAfterMs: 420,
    unclosed: [],
    ...over,
  }
}

function report(over: Partial<Report> = {}): Report {
  return {
    interrupted: false,
    elapsedMs: 20_010,
    badPhases: [bad('failing'), bad('slow', { spared: 700 }), bad('hung', { reached: 201 })],
    calls: 6000,
    fromUpstream: 3400,
    fromCache: 1500,
    fromDefault: 900,
    aborted: 200,
    heldBack: 0,
    unanswered: 0,
    falseAlarms: 0,
    leftRunning: 0,
    leftConnections: 0,
    ...over,
  }
}

describe('shortcomings', () => {
  it('finds none if every breaker opened and closed', () => {
    expect(shortcomings(report(), rules)).toEqual([])
  })

  it('names the breaker that failed to open, and the phase', () => {
    const never = bad('hung', { openedAfterMs: undefined, openedBy: undefined })
    expect(shortcomings(report({ badPhases: [bad('failing'), never] }), rules)).toEqual([
      "'slowness' did not open in the hung phase.",
    ])
  })

  it('says that no rule looks for what a phase does', () => {
    const never = bad('slow', { openedAfterMs: undefined, openedBy: undefined })
    expect(shortcomings(report({ badPhases: [never] }), rulesOf(ERRORS))).toEqual([
      'no breaker opened in the slow phase: no rule looks for that.',
    ])
  })

  it('names the breaker that failed to close, and after which phase', () => {
    const stuck = bad('failing', { recoveredAfterMs: undefined, unclosed: ['errors'] })
    expect(shortcomings(report({ badPhases: [stuck] }), rules)).toEqual([
      "'errors' did not close in the healthy phase after the failing phase.",
    ])
  })

  it('takes a breaker that was open when the phase began as open', () => {
    const still = bad('slow', { wasOpen: true, openedAfterMs: undefined, openedBy: undefined })
    expect(shortcomings(report({ badPhases: [still] }), rules)).toEqual([])
  })

  it('draws nothing from phases that were cut short', () => {
    const cut = bad('failing', {
      ended: false,
      openedAfterMs: undefined,
      recoveryWatched: false,
      recoveredAfterMs: undefined,
    })
    const unwatched = bad('failing', { recoveryWatched: false, recoveredAfterMs: undefined })
    expect(shortcomings(report({ interrupted: true, badPhases: [cut] }), rules)).toEqual([])
    expect(shortcomings(report({ interrupted: true, badPhases: [unwatched] }), rules)).toEqual([])
  })

  it('reports callers without an answer and whatever was left running', () => {
    expect(shortcomings(report({ unanswered: 1, leftRunning: 2, leftConnections: 3 }), rules)).toHaveLength(3)
  })
})

describe('renderSummary', () => {
  it('has a line for each bad phase with its four figures', () => {
    const text = renderSummary(report(), rules, plain, 120)
    expect(text).toMatch(/^failing +0\.31 s +801 +99 +0\.42 s {2}error-ratio 0\.30 >= 0\.3 of 300 calls$/m)
    expect(text).toMatch(/^slow +0\.31 s +700 +99 +0\.42 s/m)
    expect(text).toMatch(/^hung +0\.31 s +801 +201 +0\.42 s/m)
    expect(text).toContain('2,302 in all')
    expect(text).toContain('399 in all')
    expect(text).toMatch(/^OK: /m)
  })

  it('stays within 80 and within 120 columns', () => {
    for (const width of [80, 120]) {
      for (const line of renderSummary(report(), rules, plain, width).split('\n'))
        expect(line.length).toBeLessThanOrEqual(width)
    }
  })

  it('says never, and FAILED in place of OK', () => {
    const never = bad('hung', { openedAfterMs: undefined, openedBy: undefined, spared: 0 })
    const stuck = bad('failing', { recoveredAfterMs: undefined, unclosed: ['errors'] })
    const text = renderSummary(report({ badPhases: [stuck, never] }), rules, plain, 120)
    expect(text).toMatch(/^failing +0\.31 s +801 +99 +never/m)
    expect(text).toMatch(/^hung +never +0 +99 +- /m)
    expect(text).toMatch(/^FAILED: 'errors' did not close/m)
    expect(text).toMatch(/^FAILED: 'slowness' did not open/m)
    expect(text).not.toMatch(/^OK/m)
  })

  it('claims nothing about a run that was interrupted', () => {
    const text = renderSummary(report({ interrupted: true, badPhases: [bad('failing')] }), rules, plain, 120)
    expect(text).toMatch(/^Interrupted after 20\.01 s/)
    expect(text).not.toMatch(/^OK|^FAILED/m)
  })

  it('shows no time to open for a breaker that was open before the phase began', () => {
    const text = renderSummary(report({ badPhases: [bad('slow', { wasOpen: true })] }), rules, plain, 120)
    expect(text).toMatch(/^slow +was open +801/m)
  })

  it('tells of a breaker that opened while the upstream was healthy, without failing for it', () => {
    const text = renderSummary(report({ falseAlarms: 2 }), rules, plain, 120)
    expect(text).toContain('opened 2 times while the upstream was healthy')
    expect(text).toMatch(/^OK: /m)
    expect(renderSummary(report({ falseAlarms: 1 }), rules, plain, 120)).toContain('opened once')
    expect(renderSummary(report(), rules, plain, 120)).not.toContain('was healthy')
  })

  it('tells of calls that were not made', () => {
    expect(renderSummary(report(), rules, plain, 120)).not.toContain('not made')
    expect(renderSummary(report({ heldBack: 1200 }), rules, plain, 120)).toContain('1,200 more calls were not made')
  })
})
