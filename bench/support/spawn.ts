// How does a case get a process of its own?
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Answer, Job } from './child.js'

const CHILD = fileURLToPath(new URL('child.ts', import.meta.url))

/** Young generation of 512 MB for byte counts (see child.ts); time is measured with the engine as users have it. */
const FLAGS: Record<Job['mode'], readonly string[]> = {
  bench: [],
  quick: [],
  bytes: ['--expose-gc', '--min-semi-space-size=512', '--max-semi-space-size=512'],
  read: ['--expose-gc'],
}

/** Runs one job in a fresh process and returns its numbers. Jobs are run one after another: they would disturb each other. */
export function run(job: Job): Promise<Record<string, number>> {
  return new Promise((resolve, reject) => {
    const child = fork(CHILD, [JSON.stringify(job)], { execArgv: ['--import', 'tsx', ...FLAGS[job.mode]] })
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
