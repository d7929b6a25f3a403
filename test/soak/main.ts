// npm run soak: five minutes of random calls against the models, and of looking after the process. Not part of CI.
import { cpus } from 'node:os'
import { type Options, optionsFrom } from './options.js'
import { SABOTAGES } from './sabotage.js'
import { type SoakResult, soak } from './soak.js'
import { type Check, Watch } from './watch.js'

/** Looks at memory in a run of the usual kind, and between them in a self-test. */
const SAMPLES = 60
const SELF_TEST_LOOK_MS = 100
/** Rounds in which a break must be found: where it shows at all, and where only the process as a whole shows it. */
const MOST_ROUNDS = 5000
const PROCESS_ROUNDS = 200

const count = (n: number): string => n.toLocaleString('en')

interface Run extends SoakResult {
  readonly checks: readonly Check[]
}

const run = async (seed: number, watch: Watch, goesOn: (rounds: number) => boolean, enough?: number): Promise<Run> => {
  const began = performance.now() // real time
  let said = began
  const result = await soak({
    seed,
    goesOn,
    enough,
    after: async (calls) => {
      await watch.look(calls)
      if (performance.now() - said < 30_000) return // real time
      said = performance.now() // real time
      console.log(`  after ${Math.round((said - began) / 1000)} s: ${count(calls)} calls`)
    },
  })
  return { ...result, checks: await watch.end(result.calls) }
}

const soaked = async ({ seed, seconds, rounds: wanted }: Options): Promise<number> => {
  const until = performance.now() + seconds * 1000 // real time
  const goesOn = (done: number) => (wanted === undefined ? performance.now() < until : done < wanted) // real time
  const { rounds, steps, calls, failures, checks } = await run(seed, new Watch((seconds * 1000) / SAMPLES), goesOn)
  for (const { seed, rounds, text } of failures) {
    console.log(`\nFAILED ${text}\n  replay: npm run soak -- --seed ${seed} --rounds ${rounds}`)
  }
  console.log(`\nseed ${seed}: ${count(rounds)} rounds, ${count(steps)} steps, ${count(calls)} calls`)
  for (const { name, ok, text } of checks) console.log(`${ok ? 'ok    ' : 'FAILED'} ${name}: ${text}`)
  const failed = failures.length + checks.filter(({ ok }) => !ok).length
  // The guard that lives through all rounds counts as one more.
  console.log(`\n${rounds + 1 + checks.length - failed} passed, ${failed} failed`)
  return failed
}

const selfTested = async (seed: number): Promise<number> => {
  let failed = 0
  for (const { name, ofProcess, apply } of SABOTAGES) {
    const mend = apply()
    const rounds = ofProcess ? PROCESS_ROUNDS : MOST_ROUNDS
    const { failures, checks } = await run(seed, new Watch(SELF_TEST_LOOK_MS), (done) => done < rounds, 1)
    mend()
    const found = failures[0]?.text.split('\n')[0] ?? checks.find(({ ok }) => !ok)?.text
    if (found === undefined) failed++
    console.log(`${found === undefined ? 'MISSED' : 'found '} ${name}${found === undefined ? '' : `: ${found}`}`)
  }
  console.log(`\n${SABOTAGES.length - failed} passed, ${failed} failed`)
  return failed
}

const options = optionsFrom(process.argv.slice(2), () => Date.now() % 2 ** 32) // real time
console.log(`soak with seed ${options.seed}, Node ${process.versions.node}, ${cpus()[0]?.model ?? 'unknown CPU'}`)
process.exitCode = (await (options.selfTest ? selfTested(options.seed) : soaked(options))) > 0 ? 1 : 0
