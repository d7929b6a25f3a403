// The command line of the replayer, as a function so that tests can call it.
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { readTraces, TraceInputError } from './read.js'
import { report } from './report.js'
import { replay } from './runner.js'

/** The recordings kept in this repository. */
export const DATA = fileURLToPath(new URL('./data/', import.meta.url))

const USAGE = 'usage: npm run traces -- [--strict] [FILE or FOLDER ...]'

/** Exit status: 0 all equal, 1 a difference, 2 a path, line or option that cannot be used. */
export function command(args: readonly string[], out: (line: string) => void, err: (line: string) => void): number {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { strict: { type: 'boolean', default: false } },
    })
    const traces = readTraces(positionals.length > 0 ? positionals : [DATA])
    const { lines, failed } = report(
      traces.map((trace) => replay(trace)),
      values.strict,
    )
    for (const line of lines) out(line)
    return failed ? 1 : 0
  } catch (error) {
    if (error instanceof TraceInputError) err(error.message)
    else if (isOptionError(error)) err(`${error.message}\n${USAGE}`)
    else throw error
    return 2
  }
}

function isOptionError(error: unknown): error is Error {
  return error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS')
}
