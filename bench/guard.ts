// Has the guard become slower than the committed baseline says? `npm run bench:guard` fails if it has, `-- --update` takes a new baseline.
import { readFileSync, writeFileSync } from 'node:fs'
import { guardPairs } from './guard-pairs.js'
import { describe, type Machine, machine } from './support/machine.js'
import { run } from './support/spawn.js'
import { median } from './support/stats.js'
import { bytes, number, table } from './support/table.js'
import {
  AGREEING,
  BYTE_COUNTS,
  BYTES_SLACK,
  judge,
  judgeBytes,
  PROCESSES_MOST,
  RUNS,
  runIsDone,
  SLACK,
  type Verdict,
} from './support/verdict.js'

/** What is known of a pair: its ratio, and bytes per guarded call where they are counted. */
interface Known {
  readonly ratio: number
  readonly bytes?: number
}

interface Baseline {
  readonly machine: Machine
  readonly pairs: Readonly<Record<string, Known>>
}

const FILE = new URL('results/baseline.json', import.meta.url)

const started = performance.now()
const seconds = () => `${Math.round((performance.now() - started) / 1e3)} s`
if (process.argv.includes('--update')) await update()
else await compare()

async function ratioOf(id: string): Promise<number> {
  return (await run({ id, mode: 'quick' })).ratio as number
}

async function bytesOf(id: string): Promise<number> {
  return (await run({ id, mode: 'bytes' })).guardedBytes as number
}

/** Runs are made round by round over all pairs, so that a bad moment of the machine hits one run of each and not all of one. */
async function compare(): Promise<void> {
  const baseline = JSON.parse(readFileSync(FILE, 'utf8')) as Baseline
  console.log(`here:     ${describe(machine())}\nbaseline: ${describe(baseline.machine)}\n`)
  const watched = guardPairs.map(({ id, title }) => ({
    id,
    title,
    known: baseline.pairs[id],
    runs: [] as number[],
    counts: [] as number[],
  }))
  for (let round = 0; round < RUNS; round++) {
    for (const { id, known, runs } of watched) {
      if (known !== undefined && judge(known.ratio, runs) === 'undecided') runs.push(await lowest(id, known.ratio))
    }
  }
  for (const { id, known, counts } of watched) {
    while (known?.bytes !== undefined && judgeBytes(known.bytes, counts) === 'undecided') counts.push(await bytesOf(id))
  }

  const judged = watched.map((one) => ({ ...one, ...verdictOf(one.known, one.runs, one.counts) }))
  const rows = judged.map(({ title, known, runs, counts, words }) => [
    title,
    number(known?.ratio),
    runs.map(number).join(' '),
    known === undefined ? '' : `${Math.round((median(runs) / known.ratio - 1) * 100)} %`,
    bytes(known?.bytes),
    counts.map(bytes).join(' '),
    words,
  ])
  console.log(table(['case', 'baseline', 'runs', 'change', 'B before', 'B now', 'verdict'], rows))
  conclude(judged.filter(({ bad }) => bad).length, judged.filter(({ better }) => better).length)
}

/** One run: the lowest ratio of a few processes. */
async function lowest(id: string, known: number): Promise<number> {
  const ratios: number[] = []
  while (!runIsDone(known, ratios)) ratios.push(await ratioOf(id))
  return Math.min(...ratios)
}

function verdictOf(known: Known | undefined, runs: readonly number[], counts: readonly number[]) {
  if (known === undefined) return { bad: true, better: false, words: 'NO BASELINE' }
  const time = judge(known.ratio, runs)
  const memory: Verdict = known.bytes === undefined ? 'same' : judgeBytes(known.bytes, counts)
  const faults = [time === 'worse' ? 'SLOWER' : '', memory === 'worse' ? 'MORE BYTES' : ''].filter(
    (word) => word !== '',
  )
  const better = faults.length === 0 && (time === 'better' || memory === 'better')
  return { bad: faults.length > 0, better, words: faults.join(', ') || (better ? 'better' : 'ok') }
}

function conclude(bad: number, better: number): void {
  const bound = `${SLACK * 100} % in ${AGREEING} of ${RUNS} runs or by more than ${BYTES_SLACK} bytes a call`
  if (bad > 0)
    console.log(`\nbench:guard: FAILED, ${bad} of ${guardPairs.length} worse by more than ${bound} (${seconds()})`)
  else console.log(`\nbench:guard: passed, nothing worse by more than ${bound} (${seconds()})`)
  if (better > 0) console.log(`${better} better: take a new baseline with --update, so that it stays so`)
  process.exitCode = bad > 0 ? 1 : 0
}

/** The median of as many runs as judge later, each with as many processes as it may have: a baseline taken high would hide what is to be found. */
async function update(): Promise<void> {
  const runs = new Map<string, number[]>(guardPairs.map(({ id }) => [id, []]))
  for (let round = 0; round < RUNS; round++) {
    for (const { id } of guardPairs) {
      const ratios: number[] = []
      while (ratios.length < PROCESSES_MOST) ratios.push(await ratioOf(id))
      runs.get(id)?.push(Math.min(...ratios))
    }
  }
  const pairs: Record<string, Known> = {}
  for (const one of guardPairs) {
    const ratio = Math.round(median(runs.get(one.id) ?? []) * 1000) / 1000
    if (!one.bytes) {
      pairs[one.id] = { ratio }
      continue
    }
    const counts: number[] = []
    while (counts.length < BYTE_COUNTS) counts.push(await bytesOf(one.id))
    pairs[one.id] = { ratio, bytes: Math.round(median(counts)) }
  }
  const baseline: Baseline = { machine: machine(), pairs }
  writeFileSync(FILE, `${JSON.stringify(baseline, null, 2)}\n`)
  console.log(`written: bench/results/baseline.json (${seconds()})`)
}
