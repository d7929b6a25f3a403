// Which pairs does `npm run bench:guard` watch, and in which unit?
import { setImmediate as turn } from 'node:timers/promises'
import { buildEntry } from './async.js'
import { buildFailure } from './failure.js'
import { buildEnter, buildTryEnter } from './manual.js'
import { buildRefused } from './refused.js'
import { buildGuards } from './ring.js'
import { type Loop, type Pair, type PairCase, pair } from './support/case.js'
import { ERROR_RULE, failUser, fetchUser, readUser, SLOW_RULE } from './support/service.js'
import { buildSync } from './sync.js'

// The unit of a pair holds as many clock readings as the guard needs: how dear they are beside a promise differs from machine to
// machine, and the committed baseline comes from another machine than the one that judges. Node's own clock, not ours: a change of
// ours must show.
const { hrtime } = process

async function timedAwait(calls: number): Promise<number> {
  let sum = 0
  for (let i = 0; i < calls; i++) {
    const start = hrtime()
    sum += await fetchUser()
    sum += hrtime()[1] - start[1]
  }
  return sum
}

async function onceTimedAwait(calls: number): Promise<number> {
  let sum = 0
  for (let i = 0; i < calls; i++) {
    sum += hrtime()[1]
    sum += await fetchUser()
  }
  return sum
}

async function timedFailure(calls: number): Promise<number> {
  let sum = 0
  for (let i = 0; i < calls; i++) {
    const start = hrtime()
    try {
      await failUser()
    } catch {
      sum += hrtime()[1] - start[1]
    }
  }
  await turn()
  return sum
}

function timedCall(calls: number): number {
  let sum = 0
  for (let i = 0; i < calls; i++) {
    const start = hrtime()
    sum += readUser()
    sum += hrtime()[1] - start[1]
  }
  return sum
}

function watch(name: string, title: string, against: string, raw: Loop, build: () => Pair | Promise<Pair>): PairCase {
  return pair(`guard/${name}`, title, against, async () => ({ raw, guarded: (await build()).guarded }))
}

export const guardPairs: readonly PairCase[] = [
  watch('entry-slow-call', 'entry, one slow-call rule', 'await, 2 clock readings', timedAwait, () =>
    buildEntry([SLOW_RULE]),
  ),
  watch('entry-error', 'entry, one error-ratio rule', 'await, 2 clock readings', timedAwait, () =>
    buildEntry([ERROR_RULE]),
  ),
  watch('sync-error', 'entrySync, one error-ratio rule', 'call, 2 clock readings', timedCall, () =>
    buildSync([ERROR_RULE]),
  ),
  watch('enter-exit', 'enter/exit, one error-ratio rule', 'await, 2 clock readings', timedAwait, () =>
    buildEnter([ERROR_RULE]),
  ),
  watch('try-enter', 'tryEnter/leave, one error-ratio rule', 'await, 2 clock readings', timedAwait, () =>
    buildTryEnter([ERROR_RULE]),
  ),
  watch('refused', 'refused entry, awaited', 'await, 1 clock reading', onceTimedAwait, buildRefused),
  watch('failure', 'failing entry', 'rejection, 2 clock readings', timedFailure, () => buildFailure(10, 0)),
  pair('guard/window', 'tryEnter/leave, 600 buckets', 'the same, 10 buckets', buildGuards, false),
]
