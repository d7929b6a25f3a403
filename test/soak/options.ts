// The command line of the soak.
import { parseArgs } from 'node:util'

export interface Options {
  readonly seed: number
  readonly seconds: number
  /** Plays so many rounds however long they take. */
  readonly rounds: number | undefined
  /** Breaks the build on purpose, and wants every break found. */
  readonly selfTest: boolean
}

const USAGE = 'npm run soak -- [--seconds 300] [--seed N] [--rounds N] [--self-test]'

/** @throws Error that tells the usage. */
export const optionsFrom = (args: readonly string[], anySeed: () => number): Options => {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seed: { type: 'string' },
      seconds: { type: 'string' },
      rounds: { type: 'string' },
      'self-test': { type: 'boolean', default: false },
    },
  })
  const number = (name: 'seed' | 'seconds' | 'rounds', least: number): number | undefined => {
    const text = values[name]
    if (text === undefined) return undefined
    const value = Number(text)
    if (text.trim() === '' || !Number.isInteger(value) || value < least || value >= 2 ** 32)
      throw new Error(`--${name} must be an integer >= ${least}, got ${text}\n${USAGE}`)
    return value
  }
  return {
    seed: number('seed', 0) ?? anySeed(),
    seconds: number('seconds', 1) ?? 300,
    rounds: number('rounds', 1),
    selfTest: values['self-test'],
  }
}
