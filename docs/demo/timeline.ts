// The live part of the output: column heads, one line a slice, and the progress bar of a terminal. Text in, text out.
import type { StateName } from 'leapguard'
import { type Colour, HEALTH_COLOURS, type Paint, STATE_COLOURS } from './paint.js'
import type { Health, Plan } from './phases.js'
import { isWide, MAX_WIDTH } from './text.js'
import type { Words } from './watch.js'

/** One line of the timeline: what happened in a slice, and how things stand at its end. */
export interface Row {
  /** End of the slice, seconds since the start. */
  second: number
  health: Health
  passed: number
  blocked: number
  failed: number
  /** `undefined` if no rule has a slow limit. */
  slow: number | undefined
  running: number
  p99Ms: number | undefined
  fromCache: number
  fromDefault: number
  state: StateName
  words: Words
}

interface Column {
  head: string
  short: string
  /** Widths include the gap on the left. */
  wide: number
  narrow: number
  text: (row: Row) => string
  colour: (row: Row) => Colour
}

const COLUMNS: readonly Column[] = [
  { head: 'passed', short: 'pass', wide: 7, narrow: 5, text: (r) => `${r.passed}`, colour: () => 'green' },
  { head: 'blocked', short: 'block', wide: 8, narrow: 6, text: (r) => `${r.blocked}`, colour: () => 'cyan' },
  { head: 'failed', short: 'fail', wide: 7, narrow: 5, text: (r) => `${r.failed}`, colour: () => 'red' },
  { head: 'slow', short: 'slow', wide: 5, narrow: 5, text: (r) => `${r.slow ?? '-'}`, colour: () => 'yellow' },
  { head: 'running', short: 'run', wide: 8, narrow: 4, text: (r) => `${r.running}`, colour: () => 'magenta' },
  { head: 'p99 ms', short: 'p99', wide: 8, narrow: 6, text: (r) => milliseconds(r.p99Ms), colour: () => 'bold' },
  { head: 'cache', short: 'cache', wide: 7, narrow: 6, text: (r) => `${r.fromCache}`, colour: () => 'cyan' },
  { head: 'default', short: 'dflt', wide: 8, narrow: 5, text: (r) => `${r.fromDefault}`, colour: () => 'cyan' },
]

/** Room is kept for it, so that the bar does not change its length. */
const LONGEST_TAIL = '  healthy, breaker half-open'

/** Narrow terminals get short heads and short reasons; no line is longer than `width`. */
export class Timeline {
  readonly #paint: Paint
  readonly #width: number
  readonly #isWide: boolean

  constructor(paint: Paint, width: number) {
    this.#paint = paint
    this.#width = Math.min(MAX_WIDTH, width)
    this.#isWide = isWide(width)
  }

  head(): string {
    const cells = COLUMNS.map((column) =>
      this.#isWide ? column.head.padStart(column.wide) : column.short.padStart(column.narrow),
    )
    return this.#paint('bold', `time ${this.#health('phase')}${cells.join('')}  state at the end`.slice(0, this.#width))
  }

  line(row: Row): string {
    const paint = this.#paint
    const cells = COLUMNS.map((column) => {
      const text = column.text(row)
      const colour = text === '0' || text === '-' ? 'dim' : column.colour(row)
      return paint(colour, text.padStart(this.#isWide ? column.wide : column.narrow))
    })
    const time = `${Number.isInteger(row.second) ? row.second : row.second.toFixed(1)}s`.padStart(4)
    const used =
      5 + this.#health('').length + COLUMNS.reduce((sum, c) => sum + (this.#isWide ? c.wide : c.narrow), 0) + 2
    const words = cut(this.#isWide ? row.words.long : row.words.short, this.#width - used)
    const health = paint(HEALTH_COLOURS[row.health], this.#health(row.health))
    return `${paint('dim', time)} ${health}${cells.join('')}  ${paint(STATE_COLOURS[row.state], words)}`
  }

  /** A bar in the colours of the phases, filled up to now, then e.g. `7 of 20 s  slow, breaker open`. */
  bar(plan: Plan, doneMs: number, health: Health, state: StateName): string {
    const slices = plan.phases.flatMap((phase) => Array<Health>(phase.slices).fill(phase.health))
    const totalMs = slices.length * plan.sliceMs
    const share = Math.min(1, doneMs / totalMs)
    const seconds = (ms: number) => Math.floor(ms / 1000)
    const total = `${seconds(totalMs)}`
    const clock = ` ${`${seconds(Math.min(doneMs, totalMs))}`.padStart(total.length)} of ${total} s`
    const tail = `  ${health}, breaker ${state}`
    const length = Math.max(10, Math.min(60, this.#width - clock.length - LONGEST_TAIL.length - 1))
    const cells = Array.from({ length }, (_, i) => ({
      colour: HEALTH_COLOURS[slices[Math.floor((i / length) * slices.length)] ?? health],
      block: i / length < share ? '\u2588' : '\u2591',
    }))
    let painted = ''
    for (let from = 0, to = 1; from < length; from = to++) {
      const { colour } = cells[from] ?? { colour: 'dim' }
      while (cells[to]?.colour === colour) to++
      painted += this.#paint(
        colour,
        cells
          .slice(from, to)
          .map((cell) => cell.block)
          .join(''),
      )
    }
    return `${painted}${this.#paint('dim', clock)}${this.#paint(STATE_COLOURS[state], tail)}`
  }

  #health(text: string): string {
    return text.padEnd(8)
  }
}

function milliseconds(ms: number | undefined): string {
  if (ms === undefined) return '-'
  return ms < 9.95 ? ms.toFixed(1) : ms.toFixed(0)
}

function cut(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, Math.max(0, width - 3))}...`
}
