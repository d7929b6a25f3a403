// What the command prints of a replay.
import type { Replayed, Trace } from './types.js'

export interface Report {
  /** Lines to print; the last one is the count of steps. */
  readonly lines: readonly string[]
  /** True if a trace differed or, when strict, had no adapter. */
  readonly failed: boolean
}

/** `strict` makes traces without an adapter failures. */
export function report(results: readonly Replayed[], strict: boolean): Report {
  const unknown = results.filter((result) => !result.known)
  const counted = strict ? results : results.filter((result) => result.known)
  const passed = sum(counted, (result) => result.matched)
  const failed = sum(counted, (result) => result.trace.steps.length) - passed
  const skipped = strict ? 0 : sum(unknown, (result) => result.trace.steps.length)
  return {
    lines: [
      ...groupBy(counted, (result) => kindOf(result.trace)).flatMap(kindLines),
      ...unknownLines(unknown, strict),
      `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`,
    ],
    failed: counted.some((result) => !isEqual(result)),
  }
}

function kindLines([kind, results]: [string, Replayed[]]): string[] {
  const traces = results.filter(isEqual).length
  const matched = sum(results, (result) => result.matched)
  const steps = sum(results, (result) => result.trace.steps.length)
  return [
    `${kind}: ${traces} of ${results.length} traces, ${matched} of ${steps} steps matched`,
    ...results.flatMap(({ trace, difference }) =>
      difference === undefined ? [] : [`  ${trace.name} (${trace.place}) ${difference}`],
    ),
  ]
}

function unknownLines(results: readonly Replayed[], strict: boolean): string[] {
  if (results.length === 0) return []
  const groups = groupBy(results, ({ trace }) => `${kindOf(trace)} ${trace.config.class ?? ''}`.trimEnd())
  return [
    `${strict ? 'failed' : 'skipped'} for want of an adapter:`,
    ...groups.map(([kind, each]) => {
      return `  ${kind}: ${each.length} traces, ${sum(each, (result) => result.trace.steps.length)} steps`
    }),
  ]
}

function isEqual(result: Replayed): boolean {
  return result.known && result.difference === undefined
}

function kindOf(trace: Trace): string {
  return `${trace.source} ${trace.kind}`
}

function groupBy(results: readonly Replayed[], key: (result: Replayed) => string): [string, Replayed[]][] {
  const groups = new Map<string, Replayed[]>()
  for (const result of results) {
    const group = groups.get(key(result))
    if (group === undefined) groups.set(key(result), [result])
    else group.push(result)
  }
  return [...groups]
}

function sum(results: readonly Replayed[], value: (result: Replayed) => number): number {
  return results.reduce((total, result) => total + value(result), 0)
}
