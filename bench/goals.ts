// What is to be reached? Bounds on ratios to the bare call, on bytes and on memory; absolute times are reported, never judged.

/** Measured numbers by case id. */
export type Results = Readonly<Record<string, Readonly<Record<string, number>>>>

export interface Goal {
  readonly goal: string
  readonly most: number
  readonly unit: 'x' | 'B' | 'us' | ''
  value(results: Results): number | undefined
}

const read = (id: string, field: string) => (results: Results) => results[id]?.[field]

/** `a / b` where both are there. */
function over(a: (r: Results) => number | undefined, b: (r: Results) => number | undefined) {
  return (results: Results) => {
    const [top, bottom] = [a(results), b(results)]
    return top === undefined || bottom === undefined ? undefined : top / bottom
  }
}

/** What the guard costs beyond the bare call, in bare calls. */
const own = (id: string) => (results: Results) => {
  const ratio = results[id]?.ratio
  return ratio === undefined ? undefined : ratio - 1
}

function ratio(goal: string, id: string, most: number): Goal {
  return { goal, most, unit: 'x', value: read(id, 'ratio') }
}

function extra(goal: string, id: string, most: number): Goal {
  return { goal: `${goal}, bytes over the bare call`, most, unit: 'B', value: read(id, 'extraBytes') }
}

function three(goal: string, folder: string): Goal {
  return {
    goal: `${goal}, own cost of three rules over one`,
    most: 1.25,
    unit: 'x',
    value: over(own(`${folder}/rules-3`), own(`${folder}/slow-1`)),
  }
}

function memory(goal: string, field: string, most: number, unit: Goal['unit']): Goal {
  return { goal, most, unit, value: read('memory/100k', field) }
}

export const GOALS: readonly Goal[] = [
  ratio('entry, one slow-call rule', 'async/slow-1', 3.9),
  extra('entry, one slow-call rule', 'async/slow-1', 160),
  ratio('entry, one error rule', 'async/error-1', 2.3),
  extra('entry, one error rule', 'async/error-1', 128),
  three('entry', 'async'),
  extra('entrySync, one error rule', 'sync/error-1', 0),
  three('entrySync', 'sync'),
  ratio('enter/exit around an await', 'enter/error-1', 1.4),
  extra('enter/exit around an await', 'enter/error-1', 64),
  three('enter/exit', 'enter'),
  ratio('tryEnter/leave around an await', 'try-enter/error-1', 1.2),
  extra('tryEnter/leave around an await', 'try-enter/error-1', 0),
  three('tryEnter/leave', 'try-enter'),
  ratio('refused entry', 'refused/entry', 5.5),
  ratio('refused tryEnter', 'refused/try-enter', 1),
  ratio('failure path', 'failure/small-window', 1.6),
  ratio('failure path, full window', 'failure/full-window', 1.6),
  ratio('600 buckets over 10, in a guard', 'ring/guard-600-vs-10', 1.2),
  {
    goal: '600 buckets over 10, the window alone',
    most: 1.2,
    unit: 'x',
    value: over(read('ring/600', 'overNs'), read('ring/10', 'overNs')),
  },
  {
    goal: '100,000 resources over one, hot keys',
    most: 1.15,
    unit: 'x',
    value: over(read('resources/100k-hot', 'ratio'), read('resources/1', 'ratio')),
  },
  extra('response-time record', 'statistics/histogram', 0),
  extra('statistics window record', 'statistics/window', 0),
  memory('resource with one rule, unused', 'unusedBytes', 450, 'B'),
  memory('resource with one rule, active', 'activeBytes', 750, 'B'),
  memory('creation of a resource with one rule', 'createOneMicros', 3, 'us'),
  memory('timers of 100,000 resources', 'timers', 0, ''),
  memory('idle share of a CPU, 100,000 resources', 'idleCpuShare', 0.01, ''),
]

export interface Judged {
  readonly goal: string
  readonly most: number
  readonly unit: Goal['unit']
  readonly value: number
  readonly reached: boolean
}

/** Bytes are counted as heap growth over many calls: less than one byte a call is noise of the counting. */
const NOISE: Record<Goal['unit'], number> = { x: 0, B: 1, us: 0, '': 0 }

/** Goals whose cases were measured, in order. */
export function judgeGoals(results: Results, goals: readonly Goal[] = GOALS): Judged[] {
  return goals.flatMap(({ goal, most, unit, value: measure }) => {
    const value = measure(results)
    return value === undefined ? [] : [{ goal, most, unit, value, reached: value <= most + NOISE[unit] }]
  })
}
