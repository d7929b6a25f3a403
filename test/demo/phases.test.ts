import { describe, expect, it } from 'vitest'
import { catches, planMs, planRun } from '../../docs/demo/phases.js'
import { ERRORS, type RuleInput, rulesOf, SLOWNESS } from './support.js'

const lengths = (...rules: readonly RuleInput[]) => planRun(rulesOf(...rules)).phases.map((phase) => phase.slices)

describe('planRun', () => {
  it('goes through healthy, failing, healthy, slow, healthy, hung, healthy', () => {
    const order = planRun(rulesOf(ERRORS, SLOWNESS)).phases.map((phase) => phase.health)
    expect(order).toEqual(['healthy', 'failing', 'healthy', 'slow', 'healthy', 'hung', 'healthy'])
  })

  it('takes 17 s with the windows and cooldowns of 1 s, and at most 5 s more if the machine is busy', () => {
    const plan = planRun(rulesOf(ERRORS, SLOWNESS))
    expect(planMs(plan)).toBe(17_000)
    expect(plan.spareSlices * plan.sliceMs).toBe(5000)
    expect(plan.callsPerSecond).toBe(250)
    expect(plan.slowMs).toBe(1000)
    expect(plan.warnings).toEqual([])
  })

  it('stretches every phase but the first to the longest cooldown', () => {
    expect(lengths(ERRORS, { ...SLOWNESS, cooldownMs: 4000 })).toEqual([2, 6, 5, 6, 5, 6, 5])
    expect(lengths({ ...ERRORS, cooldownMs: 7000 }, SLOWNESS)).toEqual([2, 9, 8, 9, 8, 9, 8])
  })

  it('stretches recovery by the jitter and by the growth of the cooldown, up to its cap', () => {
    expect(lengths({ ...ERRORS, cooldownMs: 4000, cooldownJitter: 1 }, SLOWNESS)).toEqual([2, 10, 9, 10, 9, 10, 9])
    expect(lengths({ ...ERRORS, cooldownMultiplier: 2 }, SLOWNESS)).toEqual([2, 3, 3, 3, 3, 3, 3])
    expect(lengths({ ...ERRORS, cooldownMultiplier: 2, maxCooldownMs: 1400 }, SLOWNESS)).toEqual([2, 3, 2, 3, 2, 3, 2])
  })

  it('leaves a long window the time to reach its threshold, at a pace that does not pile up', () => {
    const plan = planRun(rulesOf({ ...SLOWNESS, statIntervalMs: 10_000, maxAllowedRtMs: 1000 }))
    expect(plan.phases[3]?.slices).toBe(9)
    expect(plan.callsPerSecond).toBe(65)
    expect(plan.slowMs).toBe(2500)
  })

  it('raises the pace for a rule that wants more calls, and says so if that is still not enough', () => {
    const busy = planRun(rulesOf(ERRORS, { ...SLOWNESS, minRequestAmount: 400 }))
    expect(busy.callsPerSecond).toBe(500)
    expect(busy.warnings).toEqual([])
    const starved = planRun(rulesOf(ERRORS, { ...SLOWNESS, minRequestAmount: 5000 }))
    expect(starved.callsPerSecond).toBe(600)
    expect(starved.warnings).toEqual([expect.stringMatching(/'slowness' needs 5000 calls within 1000 ms/)])
  })

  it('gives a rule of the last calls as many as it needs, in whatever time they take', () => {
    const { statIntervalMs: _, ...errors } = ERRORS
    const plan = planRun(rulesOf({ ...errors, statCallCount: 5000, threshold: 0.4 }, SLOWNESS))
    expect([plan.callsPerSecond, plan.warnings]).toEqual([250, []])
    // 2,000 failed calls at 250 a second.
    expect(plan.phases[1]?.slices).toBeGreaterThanOrEqual(8)
  })

  it('says which phases no rule can catch', () => {
    expect(planRun(rulesOf(ERRORS)).warnings).toEqual([
      expect.stringContaining('the slow phase'),
      expect.stringContaining('the hung phase'),
    ])
    expect(planRun(rulesOf(SLOWNESS)).warnings).toEqual([expect.stringContaining('the failing phase')])
  })

  it('keeps cached answers for less than a bad phase, so that both fallback levels are seen', () => {
    const plan = planRun(rulesOf(ERRORS, SLOWNESS))
    expect(plan.cacheMs).toBeGreaterThan(1000)
    expect(plan.cacheMs).toBeLessThan((plan.phases[1]?.slices ?? 0) * plan.sliceMs)
  })
})

describe('catches', () => {
  it('knows that only a slow-call rule that counts running calls notices a hang', () => {
    const [slow, finished] = rulesOf(SLOWNESS, { ...SLOWNESS, id: 'finished', countRunning: false })
    expect(slow && catches(slow, 'hung')).toBe(true)
    expect(finished && catches(finished, 'hung')).toBe(false)
    expect(finished && catches(finished, 'slow')).toBe(true)
  })

  it('expects nothing of a dry run, and nothing in a healthy phase', () => {
    const [dry, wet] = rulesOf({ ...ERRORS, dryRun: true }, { ...ERRORS, id: 'wet' })
    expect(dry && catches(dry, 'failing')).toBe(false)
    expect(wet && catches(wet, 'failing')).toBe(true)
    expect(wet && catches(wet, 'healthy')).toBe(false)
  })
})
