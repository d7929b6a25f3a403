// Rounds of random calls, one after the other, until somebody says stop. Each is decided by its seed alone and can be played again.
import { createGuard, type Guard, type GuardOptions } from 'leapguard'
import { ModelRound } from './model-round.js'
import { Random } from './random.js'
import { WildRound } from './wild-round.js'

export type Make = (options: GuardOptions) => Guard

export interface Round {
  readonly name: string
  /** Calls made so far. */
  readonly calls: number
  /** Does something at random and looks whether all is well. Throws if not. */
  step(): Promise<void>
  /** Ends all calls and looks again. */
  finish(): Promise<void>
  /** What it was about, for who must find out why it failed. */
  where(): string
}

export interface SoakOptions {
  readonly seed: number
  /** Asked before each round. */
  readonly goesOn: (rounds: number) => boolean
  readonly steps?: number | undefined
  readonly make?: Make | undefined
  /** Failures after which it is enough. Default 5. */
  readonly enough?: number | undefined
  /** Told after each round, and waited for. */
  readonly after?: ((calls: number) => Promise<void>) | undefined
}

export interface Failure {
  readonly seed: number
  readonly rounds: number
  readonly text: string
}

export interface SoakResult {
  readonly rounds: number
  readonly steps: number
  readonly calls: number
  readonly failures: readonly Failure[]
}

/** Of every round but the first, which has the seed itself. */
const seedOf = (seed: number, round: number): number => (seed + round) >>> 0

export const soak = async ({
  seed,
  goesOn,
  steps = 200,
  make = createGuard,
  enough = 5,
  after,
}: SoakOptions): Promise<SoakResult> => {
  const failures: Failure[] = []
  let stepped = 0
  let calls = 0
  let rounds = 0
  /** One guard lives through it all. */
  const old = new WildRound(new Random(seed), make, true)
  const play = async (
    round: Round,
    count: number,
    finishes: boolean,
    replay: Omit<Failure, 'text'>,
  ): Promise<boolean> => {
    const before = round.calls
    let step = 0
    try {
      for (; step < count; step++) await round.step()
      if (finishes) await round.finish()
    } catch (error) {
      const what = error instanceof Error ? (error.stack ?? error.message) : String(error)
      failures.push({ ...replay, text: `${round.name} round, step ${step}: ${what}\n  at ${round.where()}` })
      return false
    } finally {
      stepped += step
      calls += round.calls - before
    }
    return true
  }
  let isOldWell = true
  for (; failures.length < enough && goesOn(rounds); rounds++) {
    const random = new Random(seedOf(seed, rounds))
    const round = random.chance(0.6) ? new ModelRound(random, make) : new WildRound(random, make)
    await play(round, steps, true, { seed: seedOf(seed, rounds), rounds: 1 })
    isOldWell &&= await play(old, steps / 4, false, { seed, rounds: rounds + 1 })
    await after?.(calls)
  }
  if (isOldWell) await play(old, 0, true, { seed, rounds })
  return { rounds, steps: stepped, calls, failures }
}
