// Plays traces on the library through the adapter that knows them, step by step.
import { ADAPTERS } from './adapters/index.js'
import { difference } from './compare.js'
import type { Adapter, Player, Replayed, Step, Trace } from './types.js'

/**
 * Plays one trace to its end. After a step that differs the rest is still played and compared, so that the count of matched steps
 * says how far the library is off.
 */
export function replay(trace: Trace, adapters: readonly Adapter[] = ADAPTERS): Replayed {
  const adapter = adapters.find((each) => knows(each, trace))
  if (adapter === undefined) return { trace, matched: 0, difference: undefined, known: false }
  let player: Player
  try {
    player = adapter.open(trace)
  } catch (error) {
    return { trace, matched: 0, difference: `cannot be set up: ${messageOf(error)}`, known: true }
  }
  return { trace, ...playAll(trace, player), known: true }
}

function knows(adapter: Adapter, { source, kind, config }: Trace): boolean {
  return adapter.source === source && adapter.kind === kind && adapter.class === config.class
}

function playAll({ steps }: Trace, player: Player): Pick<Replayed, 'matched' | 'difference'> {
  let matched = 0
  let first: string | undefined
  for (const [index, step] of steps.entries()) {
    const found = play(step, player)
    if (found === undefined) matched++
    else first ??= `step ${index + 1} of ${steps.length} ${JSON.stringify(step)}: ${found}`
  }
  return { matched, difference: first }
}

function play(step: Step, player: Player): string | undefined {
  try {
    return difference(step, player(step))
  } catch (error) {
    return messageOf(error)
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error)
}
