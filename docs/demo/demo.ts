// The whole demo as a function: arguments and streams in, exit status out.
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createGuard } from 'leapguard'
import { renderIntro } from './intro.js'
import { HELP, parseOptions, resolveFile, terminalLook } from './options.js'
import { painter } from './paint.js'
import { planRun } from './phases.js'
import { type RulesFile, readRulesFile } from './rules-file.js'
import { run } from './run.js'
import { renderSummary, shortcomings } from './summary.js'
import { MAX_WIDTH } from './text.js'
import { Timeline } from './timeline.js'

export interface Surroundings {
  argv: readonly string[]
  env: Readonly<Record<string, string | undefined>>
  cwd: string
  stdout: { write(text: string): unknown; isTTY?: boolean; columns?: number }
  stderr: { write(text: string): unknown }
  /** Ends the demo early; the summary then tells of what was seen. */
  stop: AbortSignal
  /** One line of the timeline, default 1000 ms. */
  sliceMs?: number
}

const OWN_RULES = fileURLToPath(new URL('./rules.json', import.meta.url))
const BAR_EVERY_MS = 100

export async function demo({ argv, env, cwd, stdout, stderr, stop, sliceMs }: Surroundings): Promise<number> {
  const options = parseOptions(argv)
  if ('fault' in options) {
    stderr.write(`${options.fault}\n\n${HELP}`)
    return 2
  }
  if (options.help) {
    stdout.write(HELP)
    return 0
  }
  const file = options.rulesFile === undefined ? OWN_RULES : resolveFile(options.rulesFile, cwd, env)
  const shown = options.rulesFile ?? relative(cwd, file)
  let read: RulesFile
  try {
    read = await readRulesFile(file)
  } catch (error) {
    stderr.write(`${error instanceof Error ? error.message : error}\nNothing was started.\n`)
    return 2
  }

  const look = terminalLook(stdout.isTTY, env)
  const paint = painter(look.colour)
  const width = look.bar ? (stdout.columns ?? MAX_WIDTH) : MAX_WIDTH
  const timeline = new Timeline(paint, width)
  const plan = planRun(read.rules, sliceMs)
  const guard = createGuard()
  guard.loadRules(read.ruleSet)

  const wipe = look.bar ? '\r\u001b[2K' : ''
  let barAt = 0
  const report = await run({
    guard,
    rules: read.rules,
    plan,
    stop,
    onStart: (url) => {
      stdout.write(renderIntro({ plan, rules: read.rules, others: read.others, file: shown, url }, paint, width))
      stdout.write(`\n${timeline.head()}\n`)
    },
    onRow: (row) => {
      stdout.write(`${wipe}${timeline.line(row)}\n`)
      barAt = 0
    },
    onTick: (doneMs, health, state) => {
      if (!look.bar || doneMs < barAt) return
      barAt = doneMs + BAR_EVERY_MS
      stdout.write(`${wipe}${timeline.bar(plan, doneMs, health, state)}`)
    },
  })
  guard.dispose()
  stdout.write(`${wipe}\n${renderSummary(report, read.rules, paint, width)}`)
  return shortcomings(report, read.rules).length > 0 ? 1 : 0
}
