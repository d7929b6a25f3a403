// What the run has shown: the table at the end, the verdict, the exit status. Text and numbers only.
import type { DegradeRule } from 'leapguard'
import { HEALTH_COLOURS, type Paint } from './paint.js'
import { catches, type Health } from './phases.js'
import { isWide, wrap } from './text.js'
import type { Words } from './watch.js'

export interface BadPhase {
  health: Health
  /** A breaker was open when the phase began. */
  wasOpen: boolean
  openedAfterMs: number | undefined
  openedBy: Words | undefined
  /** Calls refused during the phase: without the guard they would have gone to the upstream. */
  spared: number
  /** Requests that arrived at the upstream during the phase, by its own count. */
  reached: number
  ended: boolean
  /** The healthy phase after it was played to its end. */
  recoveryWatched: boolean
  /** From the end of the phase until all breakers were closed. */
  recoveredAfterMs: number | undefined
  /** Rules whose breakers were not closed at the end of the healthy phase after it. */
  unclosed: readonly string[]
}

export interface Report {
  interrupted: boolean
  elapsedMs: number
  badPhases: BadPhase[]
  calls: number
  fromUpstream: number
  fromCache: number
  fromDefault: number
  aborted: number
  heldBack: number
  unanswered: number
  /** Openings while the upstream was healthy. */
  falseAlarms: number
  leftRunning: number
  leftConnections: number
}

/** What went wrong, one sentence each; phases that were interrupted prove nothing. */
export function shortcomings(report: Report, rules: readonly DegradeRule[]): string[] {
  const found: string[] = []
  for (const bad of report.badPhases) {
    if (bad.ended && !hasOpened(bad)) found.push(notOpened(bad.health, rules))
    if (bad.recoveryWatched && bad.unclosed.length > 0) {
      const names = bad.unclosed.map((id) => `'${id}'`).join(' and ')
      found.push(`${names} did not close in the healthy phase after the ${bad.health} phase.`)
    }
  }
  if (report.unanswered > 0) found.push(`${report.unanswered} callers got an error instead of an answer.`)
  if (report.leftRunning > 0) found.push(`${report.leftRunning} calls were never settled by the guard.`)
  if (report.leftConnections > 0) found.push(`${report.leftConnections} connections were left open.`)
  return found
}

export function renderSummary(report: Report, rules: readonly DegradeRule[], paint: Paint, width: number): string {
  const ended = report.badPhases.filter((bad) => bad.ended)
  const found = shortcomings(report, rules)
  const lines = [
    paint('bold', report.interrupted ? `Interrupted after ${seconds(report.elapsedMs)}. So far:` : 'Summary'),
    '',
    paint('bold', row('phase', 'opened after', 'spared', 'reached', 'recovered after', 'opened by')),
    ...ended.map((bad) => renderBadPhase(bad, paint, width)),
    '',
    ...prose(report, ended).flatMap((text) => wrap(text, width)),
    '',
  ]
  if (found.length > 0) lines.push(...found.map((fault) => paint('red', `FAILED: ${fault}`)))
  else if (!report.interrupted)
    lines.push(paint('green', 'OK: in every bad phase a breaker opened, and closed after it.'))
  return `${lines.join('\n')}\n`
}

function renderBadPhase(bad: BadPhase, paint: Paint, width: number): string {
  const first = bad.openedAfterMs === undefined ? 'never' : seconds(bad.openedAfterMs)
  const opened = bad.wasOpen ? 'was open' : first
  const waited = bad.recoveryWatched ? 'never' : '-'
  const recovered = bad.recoveredAfterMs === undefined ? waited : seconds(bad.recoveredAfterMs)
  const why = (isWide(width) ? bad.openedBy?.long : bad.openedBy?.short) ?? '-'
  const text = row(bad.health, opened, number(bad.spared), number(bad.reached), hasOpened(bad) ? recovered : '-', why)
  return paint(HEALTH_COLOURS[bad.health], text)
}

function prose(report: Report, ended: readonly BadPhase[]): string[] {
  const spared = ended.reduce((sum, bad) => sum + bad.spared, 0)
  const reached = ended.reduce((sum, bad) => sum + bad.reached, 0)
  const paragraphs = [
    `spared: calls refused during the bad phase, ${number(spared)} in all; without the guard the upstream would have had to bear them too. ` +
      `reached: calls that did arrive at the bad upstream, by its own count, ${number(reached)} in all: what it took to notice, and the probes. ` +
      'recovered: from the end of the bad phase until every breaker was closed.',
    `${number(report.calls)} calls in ${seconds(report.elapsedMs)}: ${number(report.fromUpstream)} answered by the upstream, ` +
      `${number(report.fromCache)} from the cache, ${number(report.fromDefault)} by the default, ${number(report.aborted)} aborted by their callers. ` +
      `Left behind: ${report.leftRunning} running calls, ${report.leftConnections} connections.`,
  ]
  if (report.falseAlarms > 0) {
    const times = report.falseAlarms === 1 ? 'once' : `${report.falseAlarms} times`
    paragraphs.push(
      `A breaker opened ${times} while the upstream was healthy: this machine was too busy to answer in time, or the rules are very strict.`,
    )
  }
  if (report.heldBack > 0) {
    paragraphs.push(`${number(report.heldBack)} more calls were not made because too many were in flight already.`)
  }
  return paragraphs
}

function notOpened(health: Health, rules: readonly DegradeRule[]): string {
  const able = rules.filter((rule) => catches(rule, health)).map((rule) => `'${rule.id}'`)
  if (able.length === 0) return `no breaker opened in the ${health} phase: no rule looks for that.`
  return `${able.join(' and ')} did not open in the ${health} phase.`
}

function hasOpened(bad: BadPhase): boolean {
  return bad.wasOpen || bad.openedAfterMs !== undefined
}

function row(phase: string, opened: string, spared: string, reached: string, recovered: string, by: string): string {
  return `${phase.padEnd(8)}${opened.padStart(13)}${spared.padStart(8)}${reached.padStart(9)}${recovered.padStart(17)}  ${by}`
}

function number(n: number): string {
  return n.toLocaleString('en-US')
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(2)} s`
}
