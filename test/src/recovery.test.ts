// Traffic that comes back by steps, through the whole guard: what counts as offered, who is told what, and who keeps it.
import { createGuard, type DegradeRuleInput, type Guard, isBlocked } from 'leapguard'
import { ManualClock } from 'leapguard/testing'
import { describe, expect, it } from 'vitest'

const rule = { strategy: 'consecutive-errors', threshold: 1, cooldownMs: 1000, recoveryMs: 1000 } as const

/** A guard whose resource `r` has closed at 1000 and lets traffic back since; the next call is the first of ten. */
function recovering(fields: Partial<DegradeRuleInput> = {}): { guard: Guard; clock: ManualClock } {
  const clock = new ManualClock()
  const guard = createGuard({ clock, maxResources: 2 })
  guard.setRulesFor('r', { degrade: [{ ...rule, ...fields }] })
  guard.leave(guard.tryEnter('r'), 'failure')
  clock.set(1000)
  guard.leave(guard.tryEnter('r'))
  // Two calls so far: seven more and the next is number 9, the only one that a tenth lets in.
  return { guard, clock }
}

const share = (guard: Guard): number | undefined => guard.stats('r').rules[0]?.admittedShare

describe('calls that count as offered', () => {
  it('are those refused and those admitted, whichever way they came', async () => {
    const { guard } = recovering()
    const refused: unknown[] = []
    const note = (error: unknown): unknown => refused.push(error)
    for (let i = 0; i < 7; i++) {
      if (i % 4 === 0) await guard.entry('r', async () => 1).catch(note)
      else if (i % 4 === 1) expect(guard.tryEnter('r')).toBe(-1)
      else
        try {
          if (i % 4 === 2) guard.enter('r').exit()
          else guard.entrySync('r', () => 1)
        } catch (error) {
          note(error)
        }
    }
    expect(refused).toHaveLength(5)
    for (const error of refused) {
      expect(isBlocked(error) && [error.kind, error.rule?.id, error.retryAfterMs]).toEqual([
        'degrade',
        'consecutive-errors#1',
        100,
      ])
    }
    expect(await guard.entry('r', async () => 'let in')).toBe('let in')
    expect(guard.stats('r').totals).toMatchObject({ passed: 3, blocked: 7 })
  })

  it('let exactly the share pass, of any ten in a row at every step', () => {
    const { guard, clock } = recovering()
    for (let step = 0; step < 10; step++) {
      clock.set(1000 + 100 * step)
      const passed = Array.from({ length: 10 }, () => guard.tryEnter('r')).filter((permit) => permit >= 0)
      for (const permit of passed) guard.leave(permit)
      expect([passed.length, share(guard)]).toEqual([step + 1, (step + 1) / 10])
    }
  })

  it('start anew with a reset, which lets everything pass', () => {
    const { guard } = recovering()
    guard.reset('r')
    for (let i = 0; i < 10; i++) expect(guard.tryEnter('r')).toBeGreaterThanOrEqual(0)
  })
})

it('a dry run passes all and counts those it would have refused', () => {
  const { guard } = recovering({ dryRun: true })
  for (let i = 0; i < 10; i++) guard.leave(guard.tryEnter('r'))
  expect(guard.stats('r').totals).toMatchObject({ passed: 12, blocked: 0, wouldBlock: 9 })
})

it('a refusal by another rule moves the turn on too', () => {
  const clock = new ManualClock()
  const guard = createGuard({ clock })
  let shut = false
  guard.setRulesFor('r', { degrade: [rule] })
  guard.configure('r', { rules: [{ check: () => (shut ? 1 : 0) }] })
  guard.leave(guard.tryEnter('r'), 'failure')
  clock.set(1000)
  guard.leave(guard.tryEnter('r'))
  shut = true
  for (let i = 0; i < 7; i++) expect(guard.tryEnter('r')).toBeLessThan(0)
  shut = false
  expect(guard.tryEnter('r')).toBeGreaterThanOrEqual(0)
})

it('a name whose traffic is coming back is not evicted, and is once it has', () => {
  const { guard, clock } = recovering()
  guard.leave(guard.tryEnter('other'))
  clock.set(1899)
  guard.leave(guard.tryEnter('one more'))
  expect(guard.resources()).toEqual(['r', 'one more'])
  clock.set(1900)
  guard.leave(guard.tryEnter('one more'))
  guard.leave(guard.tryEnter('yet one'))
  expect(guard.resources()).not.toContain('r')
})
