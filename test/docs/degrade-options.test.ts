// The table of options in docs/rules/degrade.md says what the library really does: names, defaults, bounds.
import { runInNewContext } from 'node:vm'
import { createGuard, type DegradeRule, RuleError } from 'leapguard'
import { describe, expect, it } from 'vitest'
import { STRATEGIES } from '../../rules/degrade/rule.js'
import { startBucketMs } from '../../windows/index.js'
import { codeSpans, namesIn, type Row, readPage, tableUnder } from './pages.js'

type Fields = Record<string, unknown>

const table = tableUnder(readPage('docs/rules/degrade.md'), 'Defaults')
/** What a rule cannot do without; further values move the defaults that depend on them. */
const GIVEN: readonly Fields[] = STRATEGIES.flatMap((strategy) => {
  const least = {
    resource: 'r',
    strategy,
    threshold: 1,
    ...(strategy === 'slow-call-ratio' ? { maxAllowedRtMs: 900 } : {}),
  }
  return [least, { ...least, cooldownMs: 700, probeCount: 3 }]
})

/** A rule that has a window of calls, and so another set of options in force. */
const LAST_CALLS: Fields = { resource: 'r', strategy: 'error-ratio', threshold: 1, statCallCount: 7 }

/** The rule in force; throws a RuleError if the rule is refused. */
function load(fields: Fields): Fields {
  const guard = createGuard()
  guard.loadRules(JSON.parse(JSON.stringify({ degrade: [fields] })))
  return { ...(guard.rules().degrade[0] as DegradeRule) }
}

function faultsOf(fields: Fields): string[] {
  try {
    load(fields)
    return []
  } catch (error) {
    if (!(error instanceof RuleError)) throw error
    return error.faults.map(({ path }) => path.replace('degrade[0].', ''))
  }
}

/** Code of the table: JavaScript over the other options of the rule. */
function evaluate(code: string, rule: Fields): unknown {
  const { maxAllowedRtMs } = rule
  const limit = typeof maxAllowedRtMs === 'number' ? { startBucketMs: startBucketMs(maxAllowedRtMs) } : {}
  return runInNewContext(code, { ...rule, ...limit, max: Math.max })
}

/** `x`, `required`, `none` (may be given) or `absent` (may not), each perhaps "for" some strategies; parts are set apart by semicolons. */
function defaultFor(cell: string, strategy: string): string {
  for (const part of cell.split(';')) {
    const [what = '', strategies] = part.split(/ for (?=`)/)
    if (strategies !== undefined && !codeSpans(strategies).includes(strategy)) continue
    return codeSpans(what)[0] ?? what.trim()
  }
  throw new Error(`the table gives ${strategy} no default: ${cell}`)
}

/** Where the default of a row is not what the library does for this rule. */
function mistakes(row: Row, given: Fields): string[] {
  const name = namesIn([row], 'option')[0] as string
  const expected = defaultFor(row.default as string, String(given.strategy))
  const seen = load(given)[name]
  const { [name]: _, ...without } = given
  if (expected === 'required') return faultsOf(without).includes(name) ? [] : [`${name} is not required`]
  if (expected === 'absent') {
    return seen === undefined && faultsOf({ ...given, [name]: 1 }).includes(name) ? [] : [`${name} may be given`]
  }
  if (expected === 'none') {
    return seen === undefined ? [] : [`${name} has a default`]
  }
  if (given[name] !== undefined) return []
  const value = evaluate(expected, load(given))
  return Object.is(value, seen) ? [] : [`${name} of ${given.strategy} is ${seen}, not ${value}`]
}

interface Bounds {
  readonly integer: boolean
  readonly min: string
  readonly max: string | undefined
}

function boundsOf(cell: string): Bounds | undefined {
  const match = /^(integer|number) >= `([^`]+)`(?: and <= `([^`]+)`)?/.exec(cell)
  return match === null ? undefined : { integer: match[1] === 'integer', min: match[2] as string, max: match[3] }
}

describe('the table of options', () => {
  it('names every option of a rule in force, and no other', () => {
    const inForce = new Set([...GIVEN, LAST_CALLS].flatMap((given) => Object.keys(load(given))))
    expect(namesIn(table, 'option').sort()).toEqual([...inForce].sort())
  })

  it('gives the defaults that the library fills in, for every strategy', () => {
    for (const row of table) for (const given of GIVEN) expect(mistakes(row, given), row.option).toEqual([])
  })

  it('is noticed when it is wrong', () => {
    const [given] = GIVEN as [Fields]
    const wrong = { option: '`cooldownMs`', default: '`5_000`' }
    expect(mistakes(wrong, given)).toEqual(['cooldownMs of slow-call-ratio is 10000, not 5000'])
    expect(mistakes({ option: '`dryRun`', default: 'required' }, given)).toEqual(['dryRun is not required'])
    expect(mistakes({ option: '`dryRun`', default: 'absent' }, given)).toEqual(['dryRun may be given'])
    expect(() => mistakes({ option: '`dryRun`', default: '`1` for `error-count`' }, given)).toThrow('no default')
  })

  it('gives the bounds that the library keeps', () => {
    const bounded = table.filter((row) => boundsOf(row.bounds as string) !== undefined)
    expect(bounded).toHaveLength(14)
    for (const row of bounded) {
      const name = namesIn([row], 'option')[0] as string
      const { integer, min, max } = boundsOf(row.bounds as string) as Bounds
      for (const given of GIVEN) {
        if (defaultFor(row.default as string, String(given.strategy)) === 'absent') continue
        const accepts = (value: unknown) => !faultsOf({ ...given, [name]: value }).includes(name)
        const least = evaluate(min, load(given)) as number
        expect([accepts(least), accepts(least - 0.001), accepts(least + 0.5)], `${name} >= ${min}`).toEqual([
          true,
          false,
          !integer,
        ])
        if (max === undefined) continue
        const most = evaluate(max, load(given)) as number
        expect([accepts(most), accepts(most + 1)], `${name} <= ${max}`).toEqual([true, false])
      }
    }
  })

  it('lists the words that the library takes, and no other', () => {
    for (const name of ['match', 'strategy', 'comparison', 'afterHalfOpen', 'countRunning', 'lateResults', 'dryRun']) {
      const row = table.find(({ option }) => option === `\`${name}\``)
      const words = codeSpans(row?.bounds as string).map((code) => evaluate(code, {}))
      const fields = (word: unknown) =>
        name === 'strategy'
          ? (GIVEN.find(({ strategy }) => strategy === word) ?? {})
          : { ...GIVEN[0], [name]: word, ...(word === 'default' ? { resource: undefined } : {}) }
      for (const word of words) expect(faultsOf(fields(word)), `${name}: ${word}`).toEqual([])
      expect(faultsOf({ ...GIVEN[0], [name]: 'other' })).toContain(name)
    }
    expect(GIVEN).toHaveLength(2 * STRATEGIES.length)
  })
})
