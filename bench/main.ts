// What does the guard cost? Measures every case (`npm run bench`) or those whose id contains a word (`npm run bench -- async`),
// prints ratios to the bare call beside the goals and writes bench/results/latest.json.
import { mkdirSync, writeFileSync } from 'node:fs'
import { CASES } from './cases.js'
import { judgeGoals } from './goals.js'
import type { Case } from './support/case.js'
import { describe, machine } from './support/machine.js'
import { run } from './support/spawn.js'
import { median } from './support/stats.js'
import { bytes, number, table } from './support/table.js'

const PASSES = 3
const FILE = new URL('results/latest.json', import.meta.url)

const words = process.argv.slice(2)
const chosen = CASES.filter(({ id }) => words.length === 0 || words.some((word) => id.includes(word)))
if (chosen.length === 0) throw new Error(`no case matches ${words.join(', ')}`)

const started = performance.now()
const readings = new Map<string, Record<string, number>[]>(chosen.map(({ id }) => [id, []]))
const results: Record<string, Record<string, number>> = {}

// Each pass visits the cases in another order: what the machine does meanwhile should not always meet the same case.
for (let pass = 0; pass < PASSES; pass++) {
  for (const one of shuffled(chosen)) {
    if (one.kind === 'reading' && pass > 0) continue
    progress(`pass ${pass + 1} of ${PASSES}: ${one.title}`)
    readings.get(one.id)?.push(await run({ id: one.id, mode: one.kind === 'pair' ? 'bench' : 'read' }))
  }
}
for (const one of chosen) {
  results[one.id] = merge(readings.get(one.id) ?? [])
  if (one.kind === 'reading' || !one.bytes) continue
  progress(`bytes: ${one.title}`)
  Object.assign(results[one.id] as object, await run({ id: one.id, mode: 'bytes' }))
}
progress('')

const where = machine()
const goals = judgeGoals(results)
console.log(
  `${describe(where)}\nMedians of ${PASSES} passes, processor time. Ratios are the result; nanoseconds are of this machine and moment.\n`,
)
console.log(pairTable())
for (const one of chosen) if (one.kind === 'reading') console.log(`\n${one.title}\n${readingTable(one.id)}`)
if (goals.length > 0) console.log(`\n${goalTable()}`)
if (words.length === 0) {
  mkdirSync(new URL('.', FILE), { recursive: true })
  writeFileSync(FILE, `${JSON.stringify({ machine: where, cases: results, goals }, null, 2)}\n`)
  console.log('\nwritten: bench/results/latest.json')
}
const missed = goals.filter(({ reached }) => !reached).length
console.log(
  `\n${goals.length - missed} goals reached, ${missed} not, ${Math.round((performance.now() - started) / 1e3)} s`,
)

/** Medians over the passes, field by field. */
function merge(all: readonly Record<string, number>[]): Record<string, number> {
  const merged: Record<string, number> = {}
  for (const field of Object.keys(all[0] ?? {})) merged[field] = median(all.map((one) => one[field] as number))
  return merged
}

function pairTable(): string {
  const rows = chosen.flatMap((one) => {
    if (one.kind !== 'pair') return []
    const r = results[one.id] ?? {}
    const numbers = [number(r.ratio), number(r.overNs), number(r.rawNs), bytes(r.rawBytes), bytes(r.extraBytes)]
    return [[one.title, one.against, ...numbers]]
  })
  return table(['case', 'against', 'ratio', 'ns over', 'ns bare', 'B bare', 'B over'], rows)
}

function readingTable(id: string): string {
  return table(
    ['case', 'value'],
    Object.entries(results[id] ?? {}).map(([field, value]) => [field, number(value)]),
  )
}

function goalTable(): string {
  const rows = goals.map(({ goal, most, unit, value, reached }) => [
    goal,
    `${most}${unit && ` ${unit}`}`,
    unit === 'B' ? `${bytes(value)} B` : `${number(value)}${unit && ` ${unit}`}`,
    reached ? 'reached' : 'NOT REACHED',
  ])
  return table(['goal', 'at most', 'measured', 'verdict'], rows)
}

function shuffled(cases: readonly Case[]): Case[] {
  return cases
    .map((one) => ({ one, key: Math.random() }))
    .sort((a, b) => a.key - b.key)
    .map(({ one }) => one)
}

function progress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`)
}
