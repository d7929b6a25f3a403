// Refusals as objects, and how they are told from everything else.
import { inspect } from 'node:util'
import { BlockedError, isBlocked, RuleError } from 'leapguard'
import { describe, expect, it } from 'vitest'
import { CODES, carriesRefusal } from '../../src/errors.js'
import { fail, HAIR, thrown, watched } from './support.js'

// Its type is a union, which is no base of a class.
class Mine extends (BlockedError as unknown as new (...args: unknown[]) => Error) {}

function refusalOf(resource = 'r'): BlockedError {
  const { guard } = watched()
  guard.setRulesFor(resource, { degrade: [HAIR] })
  fail(guard, resource)
  return thrown(() => guard.enter(resource)) as BlockedError
}

describe('a refusal', () => {
  it('has its facts as own fields, the rule in force among them', () => {
    const error = refusalOf()
    const { rule } = error
    expect(Object.keys(error).sort()).toEqual(['code', 'kind', 'resource', 'retryAfterMs', 'rule'])
    expect(error).toMatchObject({ code: 'ERR_BLOCKED_DEGRADE', kind: 'degrade', resource: 'r', retryAfterMs: 1000 })
    expect(rule).toMatchObject({ id: 'error-count#1', resource: 'r', ...HAIR })
    expect(Object.isFrozen(rule)).toBe(true)
  })

  it('is an Error to all who look', () => {
    const error = refusalOf()
    expect(error).toBeInstanceOf(Error)
    expect(error).toBeInstanceOf(BlockedError)
    expect([error.name, BlockedError.name, error.constructor]).toEqual(['BlockedError', 'BlockedError', BlockedError])
    expect(String(error)).toBe('BlockedError: resource "r" is blocked (rule "error-count#1", retry after 1000 ms)')
    expect(inspect(error)).toContain('resource "r" is blocked')
    expect(error.cause).toBeUndefined()
  })

  it('is fresh each time, extensible, and its message, stack and cause can be written', () => {
    const { guard } = watched()
    guard.forceOpen('r')
    const [a, b] = [thrown(() => guard.enter('r')), thrown(() => guard.enter('r'))] as [BlockedError, BlockedError]
    expect(a).not.toBe(b)
    const cause = new Error('why')
    Object.assign(a, { message: 'mine', stack: 'my stack', cause, note: 'note' })
    expect([a.message, a.stack, a.cause, (a as { note?: unknown }).note]).toEqual(['mine', 'my stack', cause, 'note'])
    expect(String(a)).toBe('BlockedError: mine')
    expect([b.message, b.stack]).toEqual([
      'resource "r" is blocked (forced open)',
      'BlockedError: resource "r" is blocked (forced open)',
    ])
    expect(Object.keys(a)).not.toContain('message')
    expect(Object.keys(a)).not.toContain('stack')
  })

  it('shows its fields as JSON', () => {
    const { guard } = watched()
    guard.configure('r', { rules: [{ id: 'mine', check: () => -25 }] })
    expect(JSON.parse(JSON.stringify(thrown(() => guard.enter('r'))))).toEqual({
      code: 'ERR_BLOCKED_CUSTOM',
      resource: 'r',
      kind: 'custom',
      rule: { id: 'mine' },
      retryAfterMs: 25,
    })
  })

  it('names hostile resources safely and shortly', () => {
    expect(refusalOf('a "quoted"\n name').message).toContain('"a \\"quoted\\"\\n name"')
    expect(refusalOf('x'.repeat(1e5)).message.length).toBeLessThan(200)
    expect(refusalOf('__proto__').resource).toBe('__proto__')
  })

  it('rounds the wait up in its message and not in its field', () => {
    const { guard } = watched()
    guard.configure('r', { rules: [{ check: () => -0.25 }] })
    const error = thrown(() => guard.enter('r')) as BlockedError
    expect([error.retryAfterMs, error.message]).toEqual([0.25, expect.stringContaining('retry after 1 ms')])
  })

  it('has no stack unless asked for, and then that of the caller', () => {
    const callHere = (refusalStacks: boolean) => {
      const { guard } = watched({ refusalStacks })
      guard.forceOpen('r')
      return thrown(() => guard.enter('r')) as BlockedError
    }
    expect(callHere(false).stack).not.toContain('errors.test')
    const { stack } = callHere(true)
    expect(stack).toMatch(/^BlockedError: resource "r" is blocked \(forced open\)\n {4}at /)
    expect(stack).toContain('errors.test')
  })
})

describe('isBlocked', () => {
  it('says yes to a refusal, whoever made it', () => {
    expect(isBlocked(refusalOf())).toBe(true)
    expect(isBlocked(Object.assign(new Error('copy'), { [Symbol.for('leapguard.blocked')]: true }))).toBe(true)
    expect(isBlocked(new Mine(1, 'r', undefined, undefined))).toBe(true)
  })

  it('is what instanceof asks as well; a subclass is a class like any', () => {
    const copy = Object.assign(new Error('copy'), { [Symbol.for('leapguard.blocked')]: true })
    const mine = new Mine(1, 'r', undefined, undefined)
    expect([refusalOf(), copy, mine].map((error) => error instanceof BlockedError)).toEqual([true, true, true])
    expect([refusalOf(), copy, mine].map((error) => error instanceof Mine)).toEqual([false, false, true])
    const fault = Object.assign(new Error('copy'), { [Symbol.for('leapguard.rule-error')]: true })
    expect([new RuleError([]), fault, copy].map((error) => error instanceof RuleError)).toEqual([true, true, false])
    expect([Object.keys(BlockedError), Object.keys(RuleError)]).toEqual([[], []])
  })

  const trap = new Proxy(
    {},
    {
      get() {
        throw new Error('trap')
      },
    },
  )
  const { proxy: revoked, revoke } = Proxy.revocable({}, {})
  revoke()
  it.each([
    ['undefined', undefined],
    ['null', null],
    ['0', 0],
    ['text', 'BlockedError'],
    ['a symbol', Symbol.for('leapguard.blocked')],
    ['a bigint', 1n],
    ['a function', () => 1],
    ['an error', new Error('e')],
    ['an error with the code', Object.assign(new Error('e'), { code: 'ERR_BLOCKED_DEGRADE', name: 'BlockedError' })],
    ['an object without prototype', Object.create(null)],
    ['a brand that is not true', { [Symbol.for('leapguard.blocked')]: 'true' }],
    ['an error caused by a refusal', new Error('e', { cause: refusalOf() })],
    ['a proxy that throws', trap],
    ['a revoked proxy', revoked],
  ])('says no to %s, and never throws', (_what, value) => {
    expect(isBlocked(value)).toBe(false)
  })

  it('an error that carries a refusal is recognised as such for outcomes only', () => {
    expect(carriesRefusal(new Error('e', { cause: refusalOf() }))).toBe(true)
    expect(carriesRefusal(trap)).toBe(false)
    expect(carriesRefusal(undefined)).toBe(false)
  })
})

describe('RuleError', () => {
  it('names one fault in its message, and lists several', () => {
    const { guard } = watched()
    const load = (...rules: object[]) => thrown(() => guard.loadDegradeRules(rules as never)) as RuleError
    const one = load({ resource: 'r', strategy: 'error-count', threshold: 0 })
    expect([one.name, one.code, one.faults.length]).toEqual(['RuleError', 'ERR_RULE_INVALID', 1])
    expect(one.message).toBe(
      '1 fault in the rules, nothing was applied: degrade[0].threshold (resource "r"): must be a finite number >= 1, got 0',
    )
    const two = load({ resource: 'r', strategy: 'error-count', threshold: 0 }, 5 as unknown as object)
    expect(two.message.split('\n')).toEqual([
      '2 faults in the rules, nothing was applied:',
      '  - degrade[0].threshold (resource "r"): must be a finite number >= 1, got 0',
      '  - degrade[1]: must be a rule object, got 5',
    ])
    expect(two).toBeInstanceOf(Error)
  })
})

it('every code says what it means, in a sentence', () => {
  for (const [code, meaning] of Object.entries(CODES)) {
    expect(code).toMatch(/^(ERR|LEAPGUARD)_[A-Z_]+$/)
    expect(meaning).toMatch(/^[A-Z\w].*\.$/)
  }
})
