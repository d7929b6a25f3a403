// The command line: what may be said, what it means, what is said back.
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'

export const HELP = `Usage: npm run demo [-- --rules FILE]

Starts an HTTP upstream on a free loopback port, lets it fail, slow down, hang and
recover, and shows second by second what leapguard's rules make of it.

  --rules FILE  try your own rules: JSON like { "degrade": [ ... ] }, or YAML. The
                ones for the resource 'user-service' guard the calls; phases
                stretch to their longest cooldown. Default: docs/demo/rules.json
  -h, --help    this text

Exit status: 0 every breaker opened in its bad phase and closed after it; 1 one did
not; 2 faults in the command line or in FILE. NO_COLOR=1 turns colours off.
`

export type Options = { help: true } | { help: false; rulesFile: string | undefined } | { fault: string }

/** Reads the arguments after the script's name. */
export function parseOptions(argv: readonly string[]): Options {
  try {
    const { values } = parseArgs({
      args: [...argv],
      options: { rules: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
    })
    if (values.help) return { help: true }
    if (values.rules === '') return { fault: '--rules needs the name of a file' }
    return { help: false, rulesFile: values.rules }
  } catch (error) {
    return { fault: error instanceof Error ? error.message : String(error) }
  }
}

/** npm runs scripts in the package's folder; a relative file is meant from where the user stands. */
export function resolveFile(file: string, cwd: string, env: Readonly<Record<string, string | undefined>>): string {
  const base = env.npm_lifecycle_event === 'demo' ? (env.INIT_CWD ?? cwd) : cwd
  return resolve(base, file)
}

/** Colours and the progress bar are for a terminal; `NO_COLOR` (any value but empty) keeps the bar and drops the colours. */
export function terminalLook(
  isTTY: boolean | undefined,
  env: Readonly<Record<string, string | undefined>>,
): { bar: boolean; colour: boolean } {
  const bar = isTTY === true && env.TERM !== 'dumb'
  return { bar, colour: bar && !env.NO_COLOR }
}
