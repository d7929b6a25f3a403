// Builds that are broken on purpose, each rarely and in one place. A soak that does not find them finds nothing.
import { CountingWindow, Guard } from 'leapguard'
import { Breaker } from '../../rules/breaker.js'
import { ProbeList } from '../../rules/probe-list.js'
import { PermitPool, PooledPermit } from '../../src/permit.js'
import { Random } from './random.js'

/** Replaces a method; the replacement is given the original. Returns what puts it back. */
// biome-ignore lint/suspicious/noExplicitAny: any method of any class
type AnyMethod = (this: any, ...args: any[]) => any

const patch = <T extends object>(target: T, name: keyof T, make: (original: AnyMethod) => AnyMethod): (() => void) => {
  const original = target[name]
  target[name] = make(original as AnyMethod) as T[keyof T]
  return () => {
    target[name] = original
  }
}

export interface Sabotage {
  readonly name: string
  /** Only the process as a whole shows it: the rounds may all pass. */
  readonly ofProcess: boolean
  /** So rare that it takes hundreds of rounds to meet it. */
  readonly isSlow: boolean
  /** Breaks the build. Returns what mends it. */
  readonly apply: () => () => void
}

const ONE_IN = 1000

/** Leaves out one call of a method in a thousand. */
const sometimesNot = <T extends object>(target: T, name: keyof T, instead?: unknown): (() => void) => {
  const random = new Random(7)
  return patch(
    target,
    name,
    (original) =>
      function (this: unknown, ...args) {
        return random.int(ONE_IN) === 0 ? instead : original.apply(this, args)
      },
  )
}

/** Does something more at one call of a method in a thousand. */
const sometimesAlso = <T extends object>(target: T, name: keyof T, also: () => void): (() => void) => {
  const random = new Random(7)
  return patch(
    target,
    name,
    (original) =>
      function (this: unknown, ...args) {
        if (random.int(ONE_IN) === 0) also()
        return original.apply(this, args)
      },
  )
}

const leak: unknown[] = []

export const SABOTAGES: readonly Sabotage[] = [
  {
    name: 'a breaker misses one end in a thousand',
    isSlow: false,
    ofProcess: false,
    apply: () => sometimesNot(Breaker.prototype, 'settle', 0),
  },
  {
    name: 'a guard drops one leave in a thousand',
    isSlow: true,
    ofProcess: false,
    apply: () => sometimesNot(Guard.prototype, 'leave'),
  },
  {
    name: 'a window misses one call in a thousand',
    isSlow: true,
    ofProcess: false,
    apply: () => sometimesNot(CountingWindow.prototype, 'add'),
  },
  {
    name: 'one probe in a thousand is not noted',
    isSlow: true,
    ofProcess: false,
    apply: () => sometimesNot(ProbeList.prototype, 'add'),
  },
  {
    name: 'one permit in a thousand is not given back',
    isSlow: false,
    ofProcess: false,
    apply: () => sometimesNot(PermitPool.prototype, 'release'),
  },
  {
    name: 'listeners stay on signals',
    isSlow: false,
    ofProcess: false,
    apply: () =>
      patch(
        PooledPermit.prototype,
        'strip',
        (original) =>
          function (this: { unhook: unknown }) {
            this.unhook = undefined
            original.call(this)
          },
      ),
  },
  {
    name: 'a rejection is handled by nobody',
    isSlow: true,
    ofProcess: true,
    apply: () => sometimesAlso(Guard.prototype, 'entry', () => void Promise.reject(new Error('sabotage'))),
  },
  {
    name: 'a timer is left',
    isSlow: true,
    ofProcess: true,
    apply: () => {
      const timers: NodeJS.Timeout[] = []
      const undo = sometimesAlso(Guard.prototype, 'tryEnter', () => timers.push(setTimeout(() => {}, 1e6)))
      return () => {
        undo()
        for (const timer of timers) clearTimeout(timer)
      }
    },
  },
  {
    name: 'a kilobyte of each call is kept',
    isSlow: true,
    ofProcess: true,
    apply: () => {
      const undo = patch(
        Guard.prototype,
        'tryEnter',
        (original) =>
          function (this: unknown, ...args) {
            leak.push(Array.from({ length: 128 }, (_, i) => i))
            return original.apply(this, args)
          },
      )
      return () => {
        undo()
        leak.length = 0
      }
    },
  },
]
