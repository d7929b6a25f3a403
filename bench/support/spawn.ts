// How does a case get a process of its own?
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Answer, Job } from './child.js'

const CHILD = fileURLToPath(new URL('child.ts', import.meta.url))
/** Without the paths to the sources, so that a child measures the built package, as users have it. */
const TSCONFIG = fileURLToPath(new URL('../tsconfig.json', import.meta.url))

/**
 * Byte counts need a young generation of 512 MB (see bytes.ts) and an engine that compiles at the same point in every run: what it inlines decides
 * which numbers are boxed. Time is measured with the engine as users have it.
 */
const FLAGS: Record<Job['mode'], readonly string[]> = {
  bench: [],
  quick: [],
  bytes: ['--expose-gc', '--predictable', '--random-seed=1', '--min-semi-space-size=512', '--max-semi-space-size=512'],
  read: ['--expose-gc'],
}

/** Runs one job in a fresh process and returns its numbers. Jobs are run one after another: they would disturb each other. */
export function run(job: Job): Promise<Record<string, number>> {
  return new Promise((resolve, reject) => {
    const child = fork(CHILD, [JSON.stringify(job)], {
      execArgv: ['--import', 'tsx', ...FLAGS[job.mode]],
      env: { ...process.env, TSX_TSCONFIG_PATH: TSCONFIG },
    })
    let answer: Answer | undefined
    child.on('message', (message) => {
      answer = message as Answer
    })
    child.on('error', reject)
    child.on('exit', (code, signal) => {
      if (answer !== undefined && Number.isFinite(answer.consumed)) resolve(answer.values)
      else reject(new Error(`${job.mode} of ${job.id} ended without an answer (${signal ?? `status ${code}`})`))
    })
  })
}
