import { stripVTControlCharacters } from 'node:util'
import { describe, expect, it } from 'vitest'
import { describeRule, renderIntro } from '../../docs/demo/intro.js'
import { painter } from '../../docs/demo/paint.js'
import { planRun } from '../../docs/demo/phases.js'
import { wrap } from '../../docs/demo/text.js'
import { type Row, Timeline } from '../../docs/demo/timeline.js'
import { ERRORS, type RuleInput, rulesOf, SLOWNESS } from './support.js'

const row: Row = {
  second: 3,
  health: 'failing',
  passed: 92,
  blocked: 208,
  failed: 90,
  slow: 0,
  running: 1,
  p99Ms: 3.123,
  fromCache: 298,
  fromDefault: 0,
  state: 'open',
  words: { long: 'open (slow-call-ratio 0.50 >= 0.5 of 312 calls)', short: 'open (slow 0.50 >= 0.5)' },
}
const plain = painter(false)
const colours = painter(true)
const ESCAPE = '\u001b'

describe('Timeline', () => {
  it('puts every figure under its head, within 120 columns', () => {
    const timeline = new Timeline(plain, 120)
    expect(timeline.head()).toBe(
      'time phase    passed blocked failed slow running  p99 ms  cache default  state at the end',
    )
    expect(timeline.line(row)).toBe(
      '  3s failing      92     208     90    0       1     3.1    298       0  open (slow-call-ratio 0.50 >= 0.5 of 312 calls)',
    )
    expect(timeline.line(row).length).toBeLessThanOrEqual(120)
  })

  it('uses short heads and short reasons within 80 columns', () => {
    const timeline = new Timeline(plain, 80)
    expect(timeline.head()).toBe('time phase    pass block fail slow run   p99 cache dflt  state at the end')
    expect(timeline.line(row)).toBe('  3s failing    92   208   90    0   1   3.1   298    0  open (slow 0.50 >= 0.5)')
    expect(timeline.line(row).length).toBeLessThanOrEqual(80)
  })

  it('cuts a reason that is too long instead of wrapping', () => {
    const line = new Timeline(plain, 60).line(row)
    expect(line.length).toBe(60)
    expect(line.endsWith('...')).toBe(true)
  })

  it('says the same with and without colours', () => {
    const coloured = new Timeline(colours, 120).line(row)
    expect(coloured).toContain(`${ESCAPE}[31mfailing`)
    expect(stripVTControlCharacters(coloured)).toBe(new Timeline(plain, 120).line(row))
    expect(new Timeline(plain, 120).line(row)).not.toContain(ESCAPE)
  })

  it('shows what is not known as a dash, long waits whole, and parts of a second', () => {
    const line = new Timeline(plain, 120).line({ ...row, second: 2.5, slow: undefined, p99Ms: undefined })
    expect(line).toMatch(/^2\.5s failing .* -\s+1\s+-\s+298/)
    expect(new Timeline(plain, 120).line({ ...row, p99Ms: 1234.5 })).toMatch(/ 1235 | 1234 /)
  })

  it('fills the bar with time, and never beyond its end', () => {
    const plan = planRun(rulesOf(ERRORS, SLOWNESS))
    const timeline = new Timeline(plain, 80)
    const filled = (doneMs: number) => timeline.bar(plan, doneMs, 'slow', 'open').split('\u2588').length - 1
    const cells = timeline.bar(plan, 0, 'slow', 'open').split('\u2591').length - 1
    expect(filled(0)).toBe(0)
    expect(filled(8500)).toBe(Math.ceil(cells / 2))
    expect(filled(30_000)).toBe(cells)
    expect(timeline.bar(plan, 10_000, 'slow', 'open')).toMatch(/ 10 of 17 s {2}slow, breaker open$/)
    expect(timeline.bar(plan, 10_000, 'slow', 'half-open').length).toBeLessThan(80)
  })

  it('paints the bar in the colours of the phases', () => {
    const plan = planRun(rulesOf(ERRORS, SLOWNESS))
    const bar = new Timeline(colours, 120).bar(plan, 0, 'healthy', 'closed')
    for (const colour of [31, 32, 33, 35]) expect(bar).toContain(`${ESCAPE}[${colour}m\u2591`)
  })
})

describe('renderIntro', () => {
  const rules = rulesOf(ERRORS, SLOWNESS)
  const intro = { plan: planRun(rules), rules, others: 2, file: 'rules.json', url: 'http://127.0.0.1:8080' }

  it('explains phases, rules and every column of the timeline', () => {
    const text = renderIntro(intro, plain, 120)
    const columns = ['passed', 'blocked', 'failed', 'slow', 'running', 'p99 ms', 'cache', 'default']
    for (const word of ['healthy', 'failing', 'slow', 'hung', ...columns])
      expect(text).toMatch(new RegExp(`^  ${word} `, 'm'))
    expect(text).toContain('Takes 17 s.')
    expect(text).toContain('2 more name other resources')
    for (const rule of rules) expect(text).toContain(describeRule(rule))
  })

  it('stays within the width of the terminal', () => {
    for (const width of [80, 120]) {
      for (const line of renderIntro(intro, plain, width).split('\n')) expect(line.length).toBeLessThanOrEqual(width)
    }
  })

  it('warns before the run of what the rules cannot show', () => {
    const blind = rulesOf(ERRORS)
    expect(renderIntro({ ...intro, rules: blind, plan: planRun(blind) }, plain, 120)).toContain(
      'Note: no rule can open in the hung phase',
    )
  })
})

describe('describeRule', () => {
  const described = (...rules: readonly RuleInput[]) => rulesOf(...rules).map(describeRule)

  it('says how many calls a rule looks back over', () => {
    expect(described({ id: 'last', strategy: 'error-ratio', threshold: 0.5, statCallCount: 50 })).toEqual([
      'last: opens when 0.5 of at least 20 calls of the last 50 fail; probes after 10 s',
    ])
  })

  it('puts every strategy in one sentence', () => {
    expect(
      described(
        ERRORS,
        SLOWNESS,
        { id: 'count', strategy: 'error-count', threshold: 50, statIntervalMs: 60_000, cooldownMs: 500 },
        { id: 'run', strategy: 'consecutive-errors', threshold: 5 },
      ),
    ).toEqual([
      'errors: opens when 0.3 of at least 20 calls in 1 s fail; probes after 1 s',
      'slowness: opens when 0.5 of at least 20 calls in 1 s take over 400 ms, running ones included; probes after 1 s',
      'count: opens when 50 calls in 60 s fail; probes after 500 ms',
      'run: opens when 5 calls in a row fail; probes after 10 s',
    ])
  })

  it('says more than for a rule that trips above, and marks a dry run', () => {
    expect(described({ ...ERRORS, comparison: 'above', dryRun: true })).toEqual([
      'errors: opens when more than 0.3 of at least 20 calls in 1 s fail; probes after 1 s (dry run: it only watches)',
    ])
  })
})

describe('wrap', () => {
  it('breaks at spaces and indents what follows', () => {
    expect(wrap('  passed   calls let through', 16, 11)).toEqual([
      '  passed   calls',
      '           let',
      '           through',
    ])
  })

  it('leaves a word that is too long whole', () => {
    expect(wrap('a http://127.0.0.1:40000 b', 10)).toEqual(['a', 'http://127.0.0.1:40000', 'b'])
  })
})
