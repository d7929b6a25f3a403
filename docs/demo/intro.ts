// What is printed before the timeline: what is being shown, by which rules, and how to read the columns.
import type { DegradeRule } from 'leapguard'
import { HEALTH_COLOURS, type Paint } from './paint.js'
import { type Health, type Plan, planMs } from './phases.js'
import { RESOURCE } from './rules-file.js'
import { wrap } from './text.js'

export interface Intro {
  plan: Plan
  rules: readonly DegradeRule[]
  /** Rules of the file that name other resources. */
  others: number
  file: string
  url: string
}

export function renderIntro({ plan, rules, others, file, url }: Intro, paint: Paint, width: number): string {
  const pace = `About ${plan.callsPerSecond} times a second a client asks a real HTTP server (${url}) for a user,`
  const text = [
    paint('bold', 'leapguard: a failing dependency behind circuit-breaking rules'),
    '',
    ...wrap(
      `${pace} through entry('${RESOURCE}', fetchUser). The server fails, slows down, hangs, and recovers in between. ` +
        `Watch the rules notice, refuse calls while it is ill, and let them through again. Takes ${length(planMs(plan))}.`,
      width,
    ),
    '',
    heading('Phases', paint),
    ...phaseLines(plan, paint, width),
    heading(`Rules from ${file}`, paint) + paint('dim', elsewhere(others)),
    ...rules.flatMap((rule) => wrap(`  ${describeRule(rule)}`, width, 4)),
    heading('Columns, counted over one second each', paint),
    ...columnLines(plan).flatMap(([name, meaning]) => wrap(`  ${name.padEnd(8)} ${meaning}`, width, 11)),
    ...plan.warnings.flatMap((warning) => wrap(`Note: ${warning}.`, width)).map((line) => paint('yellow', line)),
  ]
  return `${text.join('\n')}\n`
}

/** One rule in one sentence, e.g. `errors: opens when 0.3 of at least 20 calls in 1 s fail; probes after 1 s`. */
export function describeRule(rule: DegradeRule): string {
  const least = rule.comparison === 'above' ? 'more than ' : ''
  const { statIntervalMs } = rule
  const window = statIntervalMs === undefined ? `of the last ${rule.statCallCount}` : `in ${length(statIntervalMs)}`
  const calls = `of at least ${rule.minRequestAmount} calls ${window}`
  const measure = {
    'error-ratio': `${least}${rule.threshold} ${calls} fail`,
    'slow-call-ratio': `${least}${rule.threshold} ${calls} take over ${rule.maxAllowedRtMs} ms${rule.countRunning ? ', running ones included' : ''}`,
    'error-count': `${least}${rule.threshold} calls ${window} fail`,
    'consecutive-errors': `${least}${rule.threshold} calls in a row fail`,
  }[rule.strategy]
  const dry = rule.dryRun ? ' (dry run: it only watches)' : ''
  return `${rule.id}: opens when ${measure}; probes after ${length(rule.cooldownMs)}${dry}`
}

function phaseLines(plan: Plan, paint: Paint, width: number): string[] {
  const meanings: Readonly<Record<Health, string>> = {
    healthy: 'answers in a few milliseconds',
    failing: 'two thirds get a 503, one third a connection reset',
    slow: `answers after ${plan.slowMs} ms`,
    hung: 'never answers; requests still waiting at the end of the phase are aborted',
  }
  const order = plan.phases.map(({ health, slices }) => `${health} ${length(slices * plan.sliceMs)}`).join(', ')
  return [
    ...wrap(`  ${order}`, width, 2),
    ...(['healthy', 'failing', 'slow', 'hung'] as const).flatMap((health) => {
      const [first = '', ...rest] = wrap(`  ${health.padEnd(8)} ${meanings[health]}`, width, 11)
      return [first.replace(health, paint(HEALTH_COLOURS[health], health)), ...rest]
    }),
  ]
}

function columnLines(plan: Plan): [string, string][] {
  const limit = plan.slowLimitMs
  const slow =
    limit === undefined ? 'not known: no rule has a slow limit' : `calls that ran past ${limit} ms, ended or not`
  return [
    ['passed', 'calls let through to the server'],
    ['blocked', 'calls refused at once, in the same tick, by an open breaker'],
    ['failed', 'calls that ended with an error'],
    ['slow', slow],
    ['running', 'calls in flight at the end of the second'],
    ['p99 ms', '99 of 100 callers waited no longer for an answer, those still waiting included'],
    ['cache', `answered by fallback level 1: the last good answer, if not older than ${length(plan.cacheMs)}`],
    ['default', 'answered by fallback level 2: a default, when level 1 throws'],
  ]
}

function elsewhere(others: number): string {
  if (others === 0) return ''
  return others === 1 ? ' (1 more names another resource)' : ` (${others} more name other resources)`
}

function heading(text: string, paint: Paint): string {
  return paint('bold', text)
}

function length(ms: number): string {
  if (ms < 1000) return `${ms} ms`
  if (ms < 180_000) return `${Math.round(ms / 100) / 10} s`
  return `${Math.round(ms / 6000) / 10} min`
}
