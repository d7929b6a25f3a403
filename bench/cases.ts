// Which cases are there?
import { asyncCases } from './async.js'
import { clockCases } from './clock.js'
import { failureCases } from './failure.js'
import { guardPairs } from './guard-pairs.js'
import { manualCases } from './manual.js'
import { memoryCases } from './memory.js'
import { refusedCases } from './refused.js'
import { resourceCases } from './resources.js'
import { ringCases } from './ring.js'
import { statisticsCases } from './statistics.js'
import type { Case } from './support/case.js'
import { syncCases } from './sync.js'

export const CASES: readonly Case[] = [
  ...ringCases,
  ...clockCases,
  ...asyncCases,
  ...syncCases,
  ...manualCases,
  ...refusedCases,
  ...failureCases,
  ...resourceCases,
  ...statisticsCases,
  ...memoryCases,
]

export function caseById(id: string): Case {
  const found = [...CASES, ...guardPairs].find((entry) => entry.id === id)
  if (found === undefined) throw new Error(`no case '${id}'`)
  return found
}
