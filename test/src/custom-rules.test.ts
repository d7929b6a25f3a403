// Custom rules in the gatehouse: the order of the verbs, their answers, and every way in which they can go wrong.
import { type BlockedError, type CustomRule, isBlocked, Outcome } from 'leapguard'
import { describe, expect, it } from 'vitest'
import { deferred } from '../support/scenario.js'
import { fail, HAIR, INVALID, thrown, unhandledBy, watched } from './support.js'

/** A rule that notes what is asked of it. */
function noting(name: string, log: unknown[], answer: () => number = () => 0): CustomRule {
  return {
    id: name,
    advance: (now) => log.push(`${name} advance ${now}`),
    check: (now, count) => {
      log.push(`${name} check ${now} ${count}`)
      return answer()
    },
    take: (now, { seq }) => log.push(`${name} take ${now} #${seq}`),
    settle: (now, { seq, start }, outcome) => {
      log.push(`${name} settle ${now} #${seq} since ${start}: ${outcome}`)
    },
    waitMs: (now) => {
      log.push(`${name} waitMs ${now}`)
      return undefined
    },
  }
}

const refusal = (act: () => unknown): BlockedError => {
  const error = thrown(act)
  if (!isBlocked(error)) throw error
  return error
}

describe('the verbs', () => {
  it('come in order: all are asked, then all take, then the function, then all settle', () => {
    const { guard, clock } = watched()
    const log: unknown[] = []
    guard.configure('r', { rules: [noting('a', log), noting('b', log)] })
    clock.set(10)
    guard.entrySync(
      'r',
      () => {
        log.push('fn')
        clock.set(25)
      },
      { count: 2 },
    )
    expect(log).toEqual([
      'a advance 10',
      'a check 10 2',
      'b advance 10',
      'b check 10 2',
      'a take 10 #1',
      'b take 10 #1',
      'fn',
      `a settle 25 #1 since 10: ${Outcome.SUCCESS}`,
      `b settle 25 #1 since 10: ${Outcome.SUCCESS}`,
    ])
  })

  it('of a refused call are asked of all rules, and none takes or settles', () => {
    const { guard } = watched()
    const log: string[] = []
    guard.configure('r', { rules: [noting('a', log), noting('b', log, () => 1), noting('c', log)] })
    expect(guard.tryEnter('r')).toBe(-2)
    expect(log).toEqual(
      expect.arrayContaining([
        'a advance 0',
        'a check 0 1',
        'b advance 0',
        'b check 0 1',
        'b waitMs 0',
        'c advance 0',
        'c check 0 1',
      ]),
    )
    expect(log.filter((line) => /take|settle/.test(line))).toEqual([])
  })

  it('tell outcomes as numbers', () => {
    const { guard } = watched()
    const seen: Outcome[] = []
    guard.configure('r', { rules: [{ check: () => 0, settle: (_now, _permit, outcome) => void seen.push(outcome) }] })
    guard.enter('r').exit()
    guard.enter('r').exit({ error: 1 })
    guard.enter('r').cancel()
    expect(seen).toEqual([Outcome.SUCCESS, Outcome.FAILURE, Outcome.IGNORED])
    expect(Outcome).toEqual({ SUCCESS: 0, FAILURE: 1, IGNORED: 2 })
  })

  it('keep their this', () => {
    const { guard } = watched()
    const rule = {
      running: 0,
      check(): number {
        return this.running < 1 ? 0 : 1
      },
      take(): void {
        this.running++
      },
      settle(): void {
        this.running--
      },
      waitMs(): number {
        return this.running * 10
      },
    }
    guard.configure('r', { rules: [rule] })
    const handle = guard.enter('r')
    expect(refusal(() => guard.enter('r')).retryAfterMs).toBe(10)
    handle.exit()
    expect(rule.running).toBe(0)
  })

  it('may say by settle that a call was slow, and nothing else', () => {
    const { guard } = watched()
    for (const flags of [4, 7, 0, 'slow', undefined]) {
      guard.configure('r', { rules: [{ check: () => 0, settle: () => flags as number }] })
      guard.enter('r').exit()
    }
    expect(guard.stats('r').totals).toMatchObject({ slow: 2, wouldBlock: 0, succeeded: 5 })
  })
})

describe('what check answers', () => {
  it.each([
    [0, undefined],
    [-0, undefined],
    [1, { retryAfterMs: undefined }],
    [99, { retryAfterMs: undefined }],
    [0.5, { retryAfterMs: undefined }],
    [-1, { retryAfterMs: 1 }],
    [-250.5, { retryAfterMs: 250.5 }],
  ])('%d', (answer, expected) => {
    const { guard, faults } = watched()
    guard.configure('r', { rules: [{ id: 'mine', check: () => answer }] })
    if (expected === undefined) guard.enter('r').exit()
    else
      expect(refusal(() => guard.enter('r'))).toMatchObject({
        code: 'ERR_BLOCKED_CUSTOM',
        kind: 'custom',
        rule: { id: 'mine' },
        ...expected,
      })
    expect(faults).toEqual([])
  })

  it.each([undefined, null, true, false, '0', Number.NaN, {}, 1n])(
    'that is no number passes the call and is told once: %s',
    (answer) => {
      const { guard, told } = watched()
      guard.configure('r', { rules: [{ check: () => answer as number }] })
      guard.enter('r').exit()
      guard.enter('r').exit()
      expect(told()).toEqual([['LEAPGUARD_CUSTOM_RULE', 'check']])
    },
  )
})

describe('the wait', () => {
  it.each([
    [5, 5],
    [0, 0],
    [-1, undefined],
    [Number.NaN, undefined],
    ['5', undefined],
    [undefined, undefined],
  ])('of %s is %s', (wait, retryAfterMs) => {
    const { guard } = watched()
    guard.configure('r', { rules: [{ check: () => 1, waitMs: () => wait as number }] })
    expect(refusal(() => guard.enter('r')).retryAfterMs).toBe(retryAfterMs)
  })

  it.each<[string, (number | undefined)[], string, number | undefined]>([
    ['the longest known', [10, 30, 20], 'custom#2', 30],
    ['the earlier of equals', [30, 30, 10], 'custom#1', 30],
    ['any known before an unknown', [undefined, 0, undefined], 'custom#2', 0],
    ['the first if none is known', [undefined, undefined], 'custom#1', undefined],
  ])('that a refusal names is %s', (_what, waits, id, retryAfterMs) => {
    const { guard } = watched()
    guard.configure('r', { rules: waits.map((wait) => ({ check: () => 1, waitMs: () => wait })) })
    expect(refusal(() => guard.enter('r'))).toMatchObject({ rule: { id }, retryAfterMs })
  })

  it('counts a negative answer as a known wait, and degrade rules come before custom ones at a tie', () => {
    const { guard } = watched()
    guard.setRulesFor('r', { degrade: [{ ...HAIR, id: 'degrade' }] })
    fail(guard)
    const name = (wait: number) => {
      guard.configure('r', { rules: [{ id: 'custom', check: () => -wait }] })
      const { rule, code, retryAfterMs } = refusal(() => guard.enter('r'))
      return [rule?.id, code, retryAfterMs]
    }
    expect(name(999)).toEqual(['degrade', 'ERR_BLOCKED_DEGRADE', 1000])
    expect(name(1000)).toEqual(['degrade', 'ERR_BLOCKED_DEGRADE', 1000])
    expect(name(1001)).toEqual(['custom', 'ERR_BLOCKED_CUSTOM', 1001])
  })

  it('of several breakers is that of the one that is open longest', () => {
    const { guard, clock } = watched()
    guard.setRulesFor('r', {
      degrade: [
        { ...HAIR, id: 'a', cooldownMs: 500 },
        { ...HAIR, id: 'b', cooldownMs: 2000 },
        { ...HAIR, id: 'c', cooldownMs: 2000 },
      ],
    })
    fail(guard)
    clock.set(100)
    expect(refusal(() => guard.enter('r'))).toMatchObject({ rule: { id: 'b' }, retryAfterMs: 1900 })
    clock.set(600)
    expect(refusal(() => guard.enter('r'))).toMatchObject({ rule: { id: 'b' }, retryAfterMs: 1400 })
  })

  it('and the rule are those of this refusal, even if a rule asks another resource meanwhile', () => {
    const { guard } = watched()
    guard.setRulesFor('r', { degrade: [{ ...HAIR, id: 'mine' }] })
    fail(guard)
    guard.configure('other', { rules: [{ id: 'other', check: () => -5 }] })
    guard.configure('r', { rules: [{ check: () => guard.tryEnter('other') * 0 }] })
    expect(refusal(() => guard.enter('r'))).toMatchObject({ rule: { id: 'mine' }, retryAfterMs: 1000 })
  })
})

describe('a verb that throws', () => {
  const faulty = (verb: string): CustomRule => ({
    id: 'faulty',
    check: () => 0,
    [verb]: () => {
      throw new Error(`in ${verb}`)
    },
  })

  it.each(['advance', 'check', 'take', 'settle'])('%s never reaches the call, and is told once', async (verb) => {
    const { guard, faults, told } = watched()
    guard.configure('r', { rules: [faulty(verb)] })
    for (let i = 0; i < 3; i++) expect(await guard.entry('r', () => i)).toBe(i)
    expect(guard.entrySync('r', () => 7)).toBe(7)
    guard.enter('r').exit({ error: 1 })
    guard.leave(guard.tryEnter('r'), 'ignored')
    expect(guard.stats('r').totals).toMatchObject({ passed: 6, succeeded: 4, failed: 1, ignored: 1, running: 0 })
    expect(told()).toEqual([['LEAPGUARD_CUSTOM_RULE', verb]])
    expect(faults[0]).toMatchObject({ error: new Error(`in ${verb}`), resource: 'r' })
  })

  it('waitMs leaves the refusal without a known wait', () => {
    const { guard, told } = watched()
    guard.configure('r', { rules: [{ ...faulty('waitMs'), check: () => 1 }] })
    expect(refusal(() => guard.enter('r'))).toMatchObject({ rule: { id: 'faulty' }, retryAfterMs: undefined })
    expect(told()).toEqual([['LEAPGUARD_CUSTOM_RULE', 'waitMs']])
  })

  it('is told once for each rule and each verb', () => {
    const { guard, told } = watched()
    guard.configure('r', {
      rules: [faulty('check'), { ...faulty('check'), id: 'second' }, { ...faulty('take'), id: 'third' }],
    })
    guard.enter('r').exit()
    guard.enter('r').exit()
    expect(told().map(([, where]) => where)).toEqual(['check', 'check', 'take'])
  })

  it.each(['take', 'advance'])('later, in an asynchronous %s, is told and leaves nothing unhandled', async (verb) => {
    const { guard, told } = watched()
    const rule: CustomRule = {
      check: () => 0,
      [verb]: async () => {
        throw new Error('later')
      },
    }
    guard.configure('r', { rules: [rule] })
    expect(await unhandledBy(() => guard.entry('r', () => 1))).toEqual([])
    expect(told()).toEqual([['LEAPGUARD_CUSTOM_RULE', verb]])
  })

  it('in settle does not keep the rules after it from being told', () => {
    const { guard } = watched()
    const log: unknown[] = []
    guard.configure('r', { rules: [faulty('settle'), noting('after', log)] })
    guard.enter('r').exit()
    expect(log.at(-1)).toMatch(/^after settle/)
  })
})

describe('a take that fails', () => {
  it('gives back what earlier rules took, as ignored, and the call runs unguarded', async () => {
    const { guard } = watched()
    const log: string[] = []
    guard.configure('r', {
      rules: [
        noting('a', log),
        {
          id: 'b',
          check: () => 0,
          take: () => {
            throw new Error('take')
          },
          settle: () => void log.push('b settle'),
        },
        noting('c', log),
      ],
    })
    expect(await guard.entry('r', () => 'value')).toBe('value')
    expect(log.filter((line) => /take|settle/.test(line))).toEqual([
      'a take 0 #1',
      `a settle 0 #1 since 0: ${Outcome.IGNORED}`,
    ])
    expect(guard.stats('r').totals).toMatchObject({ passed: 1, succeeded: 1, ignored: 0, running: 0 })
  })

  it('gives back a probe, and the next call may have it', () => {
    const { guard, clock } = watched()
    guard.setRulesFor('r', { degrade: [HAIR] })
    fail(guard)
    clock.set(1000)
    let broken = true
    guard.configure('r', {
      rules: [
        {
          check: () => 0,
          take: () => {
            if (broken) throw new Error('take')
          },
        },
      ],
    })
    fail(guard)
    expect(guard.stats('r').rules[0]).toMatchObject({ state: 'half-open', probesOut: 0 })
    broken = false
    guard.enter('r').exit()
    expect(guard.stats('r').rules[0]?.state).toBe('closed')
  })

  it('leaves no trace in the next call that uses the same permit', () => {
    const { guard } = watched()
    let broken = true
    const settled: number[] = []
    guard.configure('r', {
      rules: [
        {
          check: () => 0,
          take: () => {
            if (broken) throw new Error('take')
          },
          settle: (_now, { seq }) => void settled.push(seq),
        },
      ],
    })
    guard.enter('r').exit()
    broken = false
    guard.enter('r').exit()
    expect(settled).toEqual([2])
  })
})

describe('configured while calls are in flight', () => {
  /** At most one call at a time. */
  const limit = () => {
    const rule = {
      running: 0,
      check: () => (rule.running < 1 ? 0 : 1),
      take: () => {
        rule.running++
      },
      settle: () => {
        rule.running--
      },
    }
    return rule
  }

  it('a new rule is not told of the end of calls it did not take', async () => {
    const { guard } = watched()
    const work = deferred<void>()
    const promise = guard.entry('r', () => work.promise)
    const handle = guard.enter('r')
    const rule = limit()
    guard.configure('r', { rules: [rule] })
    handle.exit()
    work.resolve()
    await promise
    expect(rule.running).toBe(0)
  })

  it('a rule that stays in the list is told of the end of calls it took', () => {
    const { guard } = watched()
    const rule = limit()
    guard.configure('r', { rules: [rule] })
    const handle = guard.enter('r')
    guard.configure('r', { rules: [{ check: () => 0 }, rule] })
    expect(refusal(() => guard.enter('r')).code).toBe('ERR_BLOCKED_CUSTOM')
    handle.exit()
    expect(rule.running).toBe(0)
    guard.enter('r').exit()
  })

  it('a change of something else leaves the rules alone', () => {
    const { guard } = watched()
    const rule = limit()
    guard.configure('r', { rules: [rule] })
    const handle = guard.enter('r')
    guard.configure('r', { classify: () => undefined })
    guard.setRulesFor('r', { degrade: [HAIR] })
    expect(rule.running).toBe(1)
    handle.exit()
    expect(rule.running).toBe(0)
  })
})

describe('the list', () => {
  it('is replaced as a whole, and removed by an empty list or undefined', () => {
    const { guard } = watched()
    const refusing = [{ check: () => 1 }]
    for (const nothing of [[], undefined]) {
      guard.configure('r', { rules: refusing })
      expect(guard.tryEnter('r')).toBe(-2)
      guard.configure('r', { rules: nothing })
      expect(guard.tryEnter('r')).toBeGreaterThanOrEqual(0)
    }
  })

  it('gets ids by position, around those that were chosen', () => {
    const { guard } = watched()
    const ids = (rules: CustomRule[]): (string | undefined)[] =>
      rules.map((_, i) => {
        guard.configure('r', { rules: rules.map((rule, j) => ({ ...rule, check: () => (i === j ? 1 : 0) })) })
        return refusal(() => guard.enter('r')).rule?.id
      })
    const plain = { check: () => 0 }
    expect(ids([plain, { ...plain, id: 'mine' }, plain])).toEqual(['custom#1', 'mine', 'custom#3'])
    expect(new Set(ids([{ ...plain, id: 'custom#2' }, plain, plain])).size).toBe(3)
  })

  it.each([
    [{}],
    [null],
    [undefined],
    ['rule'],
    [{ check: 5 }],
    [{ check: () => 0, id: '' }],
    [{ check: () => 0, id: 5 }],
  ])('refuses %o as a rule', (rule) => {
    const { guard } = watched()
    expect(thrown(() => guard.configure('r', { rules: [rule as unknown as CustomRule] }))).toMatchObject(INVALID)
  })

  it('refuses an id twice and a list that is none, and keeps the old one', () => {
    const { guard } = watched()
    const rule = { id: 'x', check: () => 0 }
    guard.configure('r', { rules: [{ id: 'old', check: () => 1 }] })
    for (const rules of [[rule, rule], 5, { rule }]) {
      expect(thrown(() => guard.configure('r', { rules: rules as CustomRule[] }))).toMatchObject(INVALID)
    }
    expect(refusal(() => guard.enter('r')).rule?.id).toBe('old')
  })
})
