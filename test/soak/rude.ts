// Callbacks that behave as badly as callbacks can. Whatever they do, the guard must hold.
import type { Classify, CustomRule, Guard, IgnoreMatcher, OutcomeName } from 'leapguard'
import type { Random } from './random.js'

const failedPromise = (): Promise<never> => Promise.reject(new Error('a callback that answers later, and badly'))

/** An answer of the wrong kind, or none. */
export const nonsense = (random: Random): unknown =>
  random.pick([
    () => Number.NaN,
    () => 'nonsense',
    () => Number.NEGATIVE_INFINITY,
    () => failedPromise(),
    () => Object.create(null),
    () => {
      throw new Error('a callback that fails')
    },
  ])()

/** A custom rule that refuses, asks for time, fails and talks nonsense as it likes. */
export const rudeRule = (random: Random, meddle: () => void): CustomRule => {
  const verb = (usual: () => unknown) => (): never => {
    if (random.chance(0.1)) meddle()
    return (random.chance(0.1) ? nonsense(random) : usual()) as never
  }
  return {
    check: verb(() => random.pick([0, 0, 0, 0, 1, -5])),
    ...(random.chance(0.5) ? { advance: verb(() => undefined) } : {}),
    ...(random.chance(0.7) ? { take: verb(() => undefined) } : {}),
    ...(random.chance(0.7) ? { settle: verb(() => random.int(4)) } : {}),
    ...(random.chance(0.5) ? { waitMs: verb(() => random.int(50)) } : {}),
  }
}

export const rudeClassify =
  (random: Random, meddle: () => void): Classify =>
  (): OutcomeName | undefined => {
    if (random.chance(0.1)) meddle()
    if (random.chance(0.1)) return nonsense(random) as never
    return random.pick(['success', 'failure', 'ignored', undefined])
  }

export const rudeIgnore =
  (random: Random, meddle: () => void): IgnoreMatcher =>
  (): boolean => {
    if (random.chance(0.1)) meddle()
    return (random.chance(0.1) ? nonsense(random) : random.chance(0.2)) as boolean
  }

/** Listens and calls back. Returns what unsubscribes it. */
export const rudeListener = (random: Random, guard: Guard, meddle: () => void): (() => void) => {
  const off = guard.on(random.pick(['state', 'blocked', 'reload'] as const), () => {
    if (random.chance(0.3)) meddle()
    if (random.chance(0.05)) off()
    if (random.chance(0.2)) return nonsense(random) as never
  })
  return off
}

/** For jitter: mostly in [0, 1). */
export const rudeChance = (random: Random) => (): number =>
  random.chance(0.1) ? (nonsense(random) as number) : random.next()
