import { createGuard } from 'leapguard'
import { ManualClock } from 'leapguard/testing'
import { describe, expect, it } from 'vitest'
import { describeChange, Watch } from '../../docs/demo/watch.js'
import { ERRORS, type RuleInput, rulesOf, SLOWNESS } from './support.js'

function guarded(...inputs: readonly RuleInput[]) {
  const clock = new ManualClock(1_000_000)
  const guard = createGuard({ clock })
  guard.setRulesFor('user-service', { degrade: [...inputs] })
  const watch = new Watch(guard.rules().degrade)
  guard.on('state', (change) => watch.see(change))
  const call = (ok: boolean) => {
    const permit = guard.tryEnter('user-service')
    if (permit >= 0) guard.leave(permit, ok ? 'success' : 'failure')
  }
  return { clock, guard, watch, call }
}

describe('Watch', () => {
  it('tells the way of a breaker through open, half-open and closed with its reasons', () => {
    const { clock, guard, watch, call } = guarded({ ...ERRORS, minRequestAmount: 10 })
    expect(watch.takeWords(undefined).long).toBe('closed')

    for (let i = 0; i < 10; i++) call(i < 7)
    expect(watch.state).toBe('open')
    expect(watch.unclosed()).toEqual(['errors'])
    expect(watch.takeWords(1000)).toEqual({
      long: 'open (error-ratio 0.30 >= 0.3 of 10 calls)',
      short: 'open (fail 0.30 >= 0.3)',
    })
    expect(watch.takeWords(400)).toEqual({ long: 'open (next probe in 0.4 s)', short: 'open (0.4 s left)' })
    expect(watch.takeWords(0).long).toBe('open (next call probes)')

    clock.advance(1000)
    const probe = guard.tryEnter('user-service')
    expect(watch.takeWords(undefined).long).toBe('half-open (cooldown over, probing)')
    expect(watch.takeWords(undefined).long).toBe('half-open (waiting for the probe)')
    guard.leave(probe, 'failure')
    expect(watch.takeWords(1000).long).toBe('open (probe failed)')

    clock.advance(1000)
    call(true)
    expect(watch.takeWords(undefined).long).toBe('closed (probe succeeded)')
    expect(watch.unclosed()).toEqual([])
  })

  it('tells of running calls as the slow-call ratio counts them', () => {
    const { clock, guard, watch } = guarded({ ...SLOWNESS, minRequestAmount: 5 })
    for (let i = 0; i < 6; i++) guard.tryEnter('user-service')
    clock.advance(500)
    guard.tryEnter('user-service')
    expect(watch.takeWords(1000).long).toBe('open (slow-call-ratio 1.00 >= 0.5 of 6 calls)')
  })

  it('is open while any breaker is, and half-open while any is and none is open', () => {
    const rules = rulesOf(ERRORS, SLOWNESS)
    const [errors, slowness] = rules
    if (errors === undefined || slowness === undefined) throw new Error('two rules were given')
    const watch = new Watch(rules)
    const change = { reason: 'threshold', value: 0.5, threshold: 0.5, total: 40 } as const
    watch.see({ ...change, rule: errors, from: 'closed', to: 'open' })
    watch.see({ ...change, rule: slowness, from: 'open', to: 'half-open' })
    expect(watch.state).toBe('open')
    watch.see({ ...change, rule: errors, from: 'half-open', to: 'closed' })
    expect(watch.state).toBe('half-open')
  })

  it('does not mind what a dry-run breaker does', () => {
    const rules = rulesOf({ ...ERRORS, dryRun: true })
    const [rule] = rules
    if (rule === undefined) throw new Error('a rule was given')
    const watch = new Watch(rules)
    expect(
      watch.see({ rule, from: 'closed', to: 'open', reason: 'threshold', value: 1, threshold: 0.3, total: 20 }),
    ).toBe(false)
    expect(watch.state).toBe('closed')
  })
})

describe('describeChange', () => {
  const threshold = { from: 'closed', to: 'open', reason: 'threshold' } as const

  it('shows counts whole and a run of failures without a number of calls', () => {
    const [count, run] = rulesOf(
      { strategy: 'error-count', threshold: 50 },
      { strategy: 'consecutive-errors', threshold: 5 },
    )
    if (count === undefined || run === undefined) throw new Error('two rules were given')
    expect(describeChange({ ...threshold, rule: count, value: 50, threshold: 50, total: 120 }).long).toBe(
      'error-count 50 >= 50 of 120 calls',
    )
    expect(describeChange({ ...threshold, rule: run, value: 5, threshold: 5, total: 5 }).long).toBe(
      'consecutive-errors 5 >= 5',
    )
  })

  it('gives a ratio the digits of its threshold, so that no line reads as untrue', () => {
    const [rule] = rulesOf({ ...ERRORS, threshold: 0.333 })
    if (rule === undefined) throw new Error('a rule was given')
    const text = describeChange({ ...threshold, rule, value: 0.3334, threshold: 0.333, total: 30 }).long
    expect(text).toBe('error-ratio 0.333 >= 0.333 of 30 calls')
  })

  it("writes > for a rule that trips 'above', but >= where a slow-call ratio of 1 trips when reached", () => {
    const [errors, slow] = rulesOf(
      { ...ERRORS, comparison: 'above' },
      { ...SLOWNESS, threshold: 1, comparison: 'above' },
    )
    if (errors === undefined || slow === undefined) throw new Error('two rules were given')
    expect(describeChange({ ...threshold, rule: errors, value: 0.4, threshold: 0.3, total: 30 }).long).toContain(
      '0.40 > 0.3',
    )
    expect(describeChange({ ...threshold, rule: slow, value: 1, threshold: 1, total: 30 }).long).toContain('1.00 >= 1')
  })
})
