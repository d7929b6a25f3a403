// What a breaker saves, how it goes on from there, and what its checker refuses.
import { describe, expect, it } from 'vitest'
import { checkSavedBreaker, type Fault, type SavedBreaker } from '../../rules/index.js'
import { FakeHost, type Fields, Rig, ruleOf } from './support.js'

const count = { id: 'it', strategy: 'error-count', threshold: 2, cooldownMs: 1000 } as const
const row = { id: 'it', strategy: 'consecutive-errors', threshold: 3, cooldownMs: 1000 } as const
const slow = {
  id: 'it',
  strategy: 'slow-call-ratio',
  threshold: 1,
  minRequestAmount: 3,
  maxAllowedRtMs: 80,
  cooldownMs: 1000,
} as const

const faultsOf = (value: unknown): Fault[] => {
  const faults: Fault[] = []
  checkSavedBreaker(value as Record<string, unknown>, 'saved', faults)
  return faults
}

/** Saved as JSON text, which the checker must accept. */
function save(rig: Rig): SavedBreaker {
  const saved = rig.breaker.saved(rig.now)
  const read = JSON.parse(JSON.stringify(saved)) as SavedBreaker
  expect(read).toStrictEqual(saved)
  expect(faultsOf(read)).toEqual([])
  return read
}

/** A new process: another host, another breaker, taken up from `saved` at `now`. */
function resume(saved: SavedBreaker, fields: Fields, now: number, host = new FakeHost(77)): Rig {
  const rig = new Rig(fields, host, now)
  rig.breaker.restore(saved, now)
  return rig
}

describe('closed', () => {
  it('with nothing counted has nothing to keep', () => {
    for (const fields of [count, row, slow]) expect(new Rig(fields).breaker.saved(0)).toBeUndefined()
    const rig = new Rig(count)
    rig.call('failure')
    rig.now = 10_000
    expect(rig.breaker.saved(rig.now)).toBeUndefined()
  })

  it.each<[string, Fields]>([
    ['error-count', { ...count }],
    ['error-ratio', { ...count, strategy: 'error-ratio', threshold: 0.5, minRequestAmount: 4 }],
  ])('keeps the live counts of %s, and one more failure trips', (_, fields) => {
    const rig = new Rig(fields, new FakeHost(), 1500)
    rig.call('success')
    rig.now = 3500
    rig.call('failure')
    const saved = save(rig)
    expect(saved).toMatchObject({
      id: 'it',
      state: 'closed',
      window: [
        [1000, 1, 0],
        [3000, 1, 1],
      ],
    })
    const later = resume(saved, { ...fields, minRequestAmount: 2 }, 10_999)
    expect(later.counts).toEqual([2, 1])
    expect(later.host.changes).toEqual([])
    later.call('failure')
    expect(later.state).toBe('open')
    expect(resume(saved, fields, 11_000).counts).toEqual([1, 1])
    expect(resume(saved, fields, 13_000).counts).toEqual([0, 0])
  })

  it('keeps slow calls, those that were booked while they ran too, and forgets those that still run', () => {
    const rig = new Rig(slow)
    rig.begin()
    rig.call('success', 90)
    rig.begin()
    rig.enter()
    const saved = save(rig)
    expect(saved).toMatchObject({ maxAllowedRtMs: 80, window: [[0, 2, 2]] })
    const later = resume(saved, slow, 5000)
    later.now = 6000
    later.call('success')
    expect(later.counts).toEqual([3, 2])
    expect(later.state).toBe('closed')
  })

  it('keeps the last calls in their order, however old they are', () => {
    const fields = { ...count, strategy: 'error-ratio', threshold: 0.5, statCallCount: 4 } as const
    const rig = new Rig(fields)
    for (const outcome of ['failure', 'success', 'success', 'success', 'failure'] as const) rig.call(outcome)
    const saved = save(rig)
    expect(saved).toEqual({
      id: 'it',
      strategy: 'error-ratio',
      statCallCount: 4,
      state: 'closed',
      calls: [
        [0, 3],
        [1, 1],
      ],
    })
    const later = resume(saved, fields, 1e12)
    expect(later.counts).toEqual([4, 1])
    for (const outcome of ['success', 'success', 'success'] as const) later.call(outcome)
    expect(later.counts).toEqual([4, 1])
    later.call('success')
    expect(later.counts).toEqual([4, 0])
    expect(new Rig(fields).breaker.saved(0)).toBeUndefined()
  })

  it('keeps the run of failures', () => {
    const rig = new Rig(row)
    rig.call('failure')
    rig.call('failure')
    const saved = save(rig)
    expect(saved).toMatchObject({ state: 'closed', streak: 2 })
    const later = resume(saved, row, 1e9)
    later.call('failure')
    expect(later.state).toBe('open')
    const healed = resume(saved, row, 1e9)
    healed.call('success')
    expect(healed.breaker.saved(1e9)).toBeUndefined()
  })

  it('judges what began before the restart by nobody', () => {
    const rig = new Rig(row)
    rig.call('failure')
    const host = new FakeHost(-5)
    const later = resume(save(rig), row, 10, host)
    expect(later.begin().seq).toBe(-4)
    expect(host.probesOut).toBe(0)
  })
})

describe('open', () => {
  it('stays open to its very end, and the next call is a probe', () => {
    const rig = new Rig(row, new FakeHost(), 5000)
    for (let i = 0; i < 3; i++) rig.call('failure')
    const saved = save(rig)
    expect(saved).toMatchObject({ state: 'open', openedAt: 5000, growth: 0, jitter: 0, takeovers: 0 })
    const later = resume(saved, row, 5600)
    expect(later.host.changes).toEqual(['5600 closed > open: restored'])
    expect(later.seen).toMatchObject({ openedAt: 5000, retryAfterMs: 400, probesOut: 0 })
    later.now = 5999.75
    expect(later.call()).toBe(false)
    later.now = 6000
    expect(later.call()).toBe(true)
    expect(later.state).toBe('closed')
  })

  it('lets a probe pass at once if the cooldown ended meanwhile', () => {
    const rig = new Rig(row)
    for (let i = 0; i < 3; i++) rig.call('failure')
    const later = resume(save(rig), row, 1e12)
    expect(later.state).toBe('open')
    expect(later.call()).toBe(true)
    expect(later.state).toBe('closed')
  })

  it('keeps the growth and the share drawn, to the millisecond, and grows on from there', () => {
    const fields = { ...row, threshold: 1, cooldownMultiplier: 2, cooldownJitter: 0.5, maxCooldownMs: 20_000 }
    const rig = new Rig(fields, new FakeHost(0, [0.3]))
    rig.call('failure')
    for (let i = 0; i < 2; i++) {
      rig.now += rig.seen.retryAfterMs as number
      rig.call('failure')
    }
    const { retryAfterMs, openedAt } = rig.seen
    expect(retryAfterMs).toBe(4600)
    const saved = save(rig)
    expect(saved).toMatchObject({ growth: 2, jitter: 0.15 })
    const host = new FakeHost(0, [0.9])
    const later = resume(saved, fields, rig.now + 600, host)
    expect(later.seen).toMatchObject({ openedAt, retryAfterMs: 4000 })
    expect(host.draws).toBe(0)
    later.now += 4000
    later.call('failure')
    expect(later.seen.retryAfterMs).toBe(Math.ceil(8000 * 1.45))
    later.now += later.seen.retryAfterMs as number
    later.call('success')
    later.call('failure')
    expect(later.seen.retryAfterMs).toBe(1450)
  })

  it('follows the cooldown of the rule in force', () => {
    const rig = new Rig(row)
    for (let i = 0; i < 3; i++) rig.call('failure')
    expect(resume(save(rig), { ...row, cooldownMs: 5000 }, 400).seen.retryAfterMs).toBe(4600)
  })

  it('that began in the future began now: a clock set back holds nobody for long', () => {
    const rig = new Rig(row, new FakeHost(), 1e12)
    for (let i = 0; i < 3; i++) rig.call('failure')
    expect(resume(save(rig), row, 50).seen).toMatchObject({ openedAt: 50, retryAfterMs: 1000 })
  })

  it('keeps the doubled timeout of its probes', () => {
    const rig = new Rig({ ...row, threshold: 1, probeTimeoutMs: 100 })
    rig.call('failure')
    rig.now = 1000
    rig.begin()
    rig.now = 1100
    rig.call('failure')
    const later = resume(save(rig), { ...row, threshold: 1, probeTimeoutMs: 100 }, 2100)
    later.begin()
    expect(later.seen.retryAfterMs).toBe(200)
  })

  it('does not bring back the counts that opened it', () => {
    const rig = new Rig(count)
    rig.call('failure')
    rig.call('failure')
    expect(save(rig)).not.toHaveProperty('window')
  })
})

describe('half-open', () => {
  const fields = { ...row, threshold: 1, probeCount: 2, successThreshold: 3, cooldownMultiplier: 2 }
  function halfOpen(): Rig {
    const rig = new Rig(fields)
    rig.call('failure')
    rig.now = 1000
    rig.call('failure')
    rig.now = 3000
    rig.call('success')
    rig.call('success')
    rig.begin()
    return rig
  }

  it('keeps what its probes have earned, and no probe', () => {
    const saved = save(halfOpen())
    expect(saved).toMatchObject({ state: 'half-open', successes: 2, growth: 1, takeovers: 0 })
    const later = resume(saved, fields, 9000)
    expect(later.host.changes).toEqual(['9000 closed > half-open: restored'])
    expect(later.seen).toMatchObject({ probesOut: 0, retryAfterMs: undefined })
    const both = [later.begin(), later.begin()]
    expect(later.enter()).toBeUndefined()
    for (const probe of both) later.end(probe)
    expect(later.state).toBe('closed')
  })

  it('keeps since when it has been, and is not for longer than it may', () => {
    const saved = save(halfOpen())
    expect(saved).toMatchObject({ halfOpenAt: 3000 })
    const bounded = { ...fields, maxHalfOpenMs: 5000 }
    const later = resume(saved, bounded, 9000)
    expect(later.enter()).toBeUndefined()
    expect(later.seen).toMatchObject({ openedAt: 8000, retryAfterMs: 1000 })
    const ahead = resume({ ...saved, halfOpenAt: 1e9 } as SavedBreaker, bounded, 9000)
    ahead.now = 13_999
    expect(ahead.enter()).toBeDefined()
    ahead.now = 14_000
    expect(ahead.enter()).toBeUndefined()
  })

  it('grows the cooldown when the next probe is bad', () => {
    const later = resume(save(halfOpen()), fields, 9000)
    later.call('failure')
    expect(later.seen).toMatchObject({ openedAt: 9000, retryAfterMs: 4000 })
  })
})

describe('recovering', () => {
  const fields = { ...row, threshold: 1, recoveryMs: 100 }
  function recovering(): Rig {
    const rig = new Rig(fields)
    rig.call('failure')
    rig.now = 1000
    rig.call('success')
    return rig
  }

  it('goes on where it stood, and ends when it would have', () => {
    const rig = recovering()
    rig.now = 1015
    const saved = save(rig)
    expect(saved).toMatchObject({ state: 'closed', closedAt: 1000, streak: 0 })
    const later = resume(saved, fields, 1030)
    expect(later.host.changes).toEqual([])
    expect(later.seen).toMatchObject({ state: 0, admittedShare: 0.4, retryAfterMs: 10 })
    expect(later.call()).toBe(false)
    later.now = 1100
    expect(later.call()).toBe(true)
    expect(resume(saved, fields, 1100).call()).toBe(true)
    expect(resume(saved, { ...fields, recoveryMs: 0 }, 1030).call()).toBe(true)
  })

  it('that began in the future began now', () => {
    const later = resume(save(recovering()), fields, 10)
    expect(later.seen).toMatchObject({ admittedShare: 0.1, retryAfterMs: 10 })
  })

  it('and over has nothing to keep', () => {
    expect(recovering().breaker.saved(1090)).toBeUndefined()
  })

  it('keeps its counts too', () => {
    const rig = new Rig({ ...count, recoveryMs: 100 })
    rig.call('failure')
    rig.call('failure')
    rig.now = 1000
    rig.call('success')
    rig.host.offered = 9
    rig.call('failure')
    expect(save(rig)).toMatchObject({ closedAt: 1000, window: [[1000, 1, 1]] })
  })
})

describe('a forced host', () => {
  it('hears nothing of a state that nobody feels, until it is given back', () => {
    const rig = new Rig(row)
    for (let i = 0; i < 3; i++) rig.call('failure')
    const host = Object.assign(new FakeHost(), { forcedClosed: true })
    const later = resume(save(rig), row, 400, host)
    expect([host.changes, later.state]).toEqual([[], 'closed'])
    later.breaker.force(false, false, 500)
    expect(host.changes).toEqual(['500 closed > open: auto'])
  })
})

describe('the checker', () => {
  const open = {
    id: 'it',
    strategy: 'error-count',
    statIntervalMs: 1000,
    bucketCount: 10,
    state: 'open',
    openedAt: 1.5,
    jitter: 0.25,
    growth: 3,
    takeovers: 1,
  }
  const { openedAt: _openedAt, jitter: _jitter, ...rest } = open
  const halfOpen = { ...rest, state: 'half-open', halfOpenAt: 7, successes: 1 }
  const { growth: _growth, takeovers: _takeovers, ...shape } = rest
  const closed = { ...shape, state: 'closed', window: [[100, 3, 1]] }
  const inRow = { ...shape, strategy: 'consecutive-errors', state: 'closed', streak: 2 }

  const { statIntervalMs: _interval, bucketCount: _buckets, ...noSpan } = shape
  const calls = {
    ...noSpan,
    statCallCount: 5,
    state: 'closed',
    calls: [
      [0, 2],
      [1, 3],
    ],
  }
  const slowShape = { ...shape, strategy: 'slow-call-ratio', maxAllowedRtMs: 0 }
  const openCalls = { ...open, statIntervalMs: undefined, bucketCount: undefined, statCallCount: 5 }

  it.each([
    open,
    halfOpen,
    closed,
    inRow,
    calls,
    { ...calls, calls: undefined },
    openCalls,
    { ...closed, named: true },
    { ...closed, window: Array.from({ length: 10 }, (_, i) => [100 * i - 300, i === 0 ? 2 ** 39 : 1, 0]) },
    { ...slowShape, state: 'closed' },
    { ...calls, calls: Array.from({ length: 5 }, (_, i) => [i % 2, 1]) },
    { ...closed, closedAt: -5.5 },
    { ...inRow, closedAt: 5 },
    { ...closed, window: [] },
  ])('accepts %j', (value) => {
    expect(faultsOf(value)).toEqual([])
  })

  it.each<[object, string[]]>([
    [{ ...open, id: '' }, ['id']],
    [{ ...open, id: undefined }, ['id']],
    [{ ...open, strategy: 'none', maxAllowedRtMs: 5 }, ['strategy']],
    [{ ...open, strategy: 'slow-call-ratio', maxAllowedRtMs: -1 }, ['maxAllowedRtMs']],
    [{ ...open, strategy: 'slow-call-ratio', maxAllowedRtMs: 0.5 }, ['maxAllowedRtMs']],
    [{ ...open, growth: 1.5 }, ['growth']],
    [{ ...open, statIntervalMs: 10.5, bucketCount: 10 }, ['statIntervalMs']],
    [{ ...open, statIntervalMs: 10, bucketCount: 2.5 }, ['bucketCount']],
    [{ ...closed, bucketCount: 3 }, ['bucketCount']],
    [{ ...inRow, window: 5 }, ['window']],
    [{ ...calls, statCallCount: 5.5 }, ['statCallCount']],
    [{ ...open, named: 1 }, ['named']],
    [{ ...open, strategy: 'error' }, ['strategy']],
    [{ ...open, strategy: 'slow-call-ratio' }, ['maxAllowedRtMs']],
    [{ ...open, maxAllowedRtMs: 5 }, ['maxAllowedRtMs']],
    [{ ...open, statIntervalMs: 0 }, ['statIntervalMs']],
    [{ ...open, bucketCount: 3 }, ['bucketCount']],
    [{ ...open, bucketCount: 0.5, statIntervalMs: '1' }, ['statIntervalMs', 'bucketCount']],
    [{ ...open, state: 'ajar' }, ['state']],
    [{ ...open, openedAt: null }, ['openedAt']],
    [{ ...open, openedAt: 2 ** 53 }, ['openedAt']],
    [{ ...open, jitter: 1.01, growth: -1, takeovers: 0.5 }, ['growth', 'takeovers', 'jitter']],
    [{ ...open, growth: 1_000_001 }, ['growth']],
    [{ ...open, successes: 1 }, ['successes']],
    [{ ...open, window: [] }, ['window']],
    [{ ...halfOpen, openedAt: 1 }, ['openedAt']],
    [{ ...halfOpen, halfOpenAt: undefined }, ['halfOpenAt']],
    [{ ...open, halfOpenAt: 1 }, ['halfOpenAt']],
    [{ ...closed, closedAt: '1' }, ['closedAt']],
    [{ ...open, closedAt: 1 }, ['closedAt']],
    [{ ...halfOpen, successes: undefined }, ['successes']],
    [{ ...closed, streak: 1 }, ['streak']],
    [{ ...inRow, window: [] }, ['window']],
    [{ ...inRow, streak: -1 }, ['streak']],
    [{ ...closed, calls: [] }, ['calls']],
    [{ ...closed, statIntervalMs: undefined, window: 5 }, ['statIntervalMs']],
    [{ ...inRow, calls: [] }, ['calls']],
    [{ ...inRow, statCallCount: 5 }, ['statCallCount']],
    [{ ...calls, statIntervalMs: 1000, bucketCount: 10, window: [] }, ['statIntervalMs', 'bucketCount', 'window']],
    [{ ...calls, statCallCount: 0, calls: [] }, ['statCallCount']],
    [{ ...calls, statCallCount: 100_001 }, ['statCallCount']],
    [{ ...calls, calls: 'none' }, ['calls']],
    [{ ...calls, calls: [[0, 1, 1]] }, ['calls[0]']],
    [{ ...calls, calls: [[2, 1]] }, ['calls[0][0]']],
    [
      {
        ...calls,
        calls: [
          [0, 0],
          [1, 5],
          [0, 1],
        ],
      },
      ['calls[0][1]', 'calls[2][1]'],
    ],
    [{ ...openCalls, calls: [] }, ['calls']],
    [{ ...closed, window: {} }, ['window']],
    [{ ...closed, window: [7] }, ['window[0]']],
    [{ ...closed, window: new Array(2) }, ['window[0]', 'window[1]']],
    [{ ...closed, window: new Array(11) }, ['window']],
    [{ ...closed, window: [[0, 1]] }, ['window[0]']],
    [{ ...closed, window: [[0, 1, 1, 1]] }, ['window[0]']],
    [{ ...closed, window: [[0, 1, 0.5]] }, ['window[0]']],
    [{ ...closed, window: [[50, 1, 1]] }, ['window[0][0]']],
    [{ ...closed, window: [[0, 0, 0]] }, ['window[0][1]']],
    [{ ...closed, window: [[0, 2 ** 39 + 1, 0]] }, ['window[0][1]']],
    [{ ...closed, window: [[0, 2, 3]] }, ['window[0][2]']],
    [{ ...closed, window: [[0, 2, -1]] }, ['window[0][2]']],
    [
      {
        ...closed,
        window: [
          [100, 1, 1],
          [100, 1, 1],
          [0, 1, 1],
          [1000, 1, 1],
          [1100, 1, 1],
        ],
      },
      ['window[1][0]', 'window[2][0]', 'window[4][0]'],
    ],
  ])('names what is wrong with %j', (value, paths) => {
    expect(faultsOf(value).map(({ path }) => path)).toEqual(paths.map((path) => `saved.${path}`))
  })

  it.each<[object, string]>([
    [{ ...closed, window: 7 }, 'an array of at most 10 rows [start, total, bad]'],
    [{ ...closed, window: [7] }, '3 integers [start, total, bad]'],
    [
      { ...closed, window: [[50, 1, 1]] },
      'a multiple of 100, later than the one before and in one window with the first',
    ],
    [{ ...closed, window: [[0, 0, 0]] }, 'an integer >= 1 and <= 549755813888'],
    [{ ...calls, calls: [[2, 1]] }, '0 or 1'],
    [
      {
        ...calls,
        calls: [
          [1, 2],
          [0, 4],
        ],
      },
      'an integer >= 1 and <= 3',
    ],
    [{ ...calls, calls: [[1]] }, '2 integers [bad, times]'],
    [{ ...calls, window: [] }, 'absent: the window is one of calls'],
    [{ ...closed, calls: [] }, 'absent: the window is one of time'],
    [{ ...inRow, window: [] }, 'absent: consecutive-errors counts a run, not a window'],
    [{ ...inRow, statCallCount: 5 }, 'absent: consecutive-errors counts a run, not a window'],
    [{ ...closed, streak: 5 }, 'absent: only consecutive-errors counts a run'],
    [{ ...closed, maxAllowedRtMs: 5 }, 'absent: only slow-call-ratio has it, not error-count'],
    [{ ...closed, bucketCount: 3 }, 'a divisor of 1000'],
  ])('says of %j what may stand there: %s', (value, bound) => {
    expect(faultsOf(value).map((fault) => fault.bound)).toEqual([bound])
  })

  it('says where, what and how', () => {
    expect(faultsOf({ ...closed, window: [[0, 2, 3]] })).toEqual([
      {
        path: 'saved.window[0][2]',
        value: 3,
        bound: 'an integer >= 0 and <= 2',
        message: 'saved.window[0][2]: must be an integer >= 0 and <= 2, got 3',
      },
    ])
  })

  it('takes all that a breaker may grow to', () => {
    const rule = ruleOf({ ...row, cooldownMultiplier: 1.001 })
    const saved = { ...open, strategy: rule.strategy, growth: 1_000_000, takeovers: 2 ** 53 - 1 } as SavedBreaker
    expect(faultsOf(saved)).toEqual([])
    const rig = resume(saved, { ...rule, probeTimeoutMs: 5 }, 2)
    expect(rig.seen.retryAfterMs).toBe(2 ** 30 - 0.5)
  })
})
