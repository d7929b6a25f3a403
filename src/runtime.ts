// What all resources of one guard share: time, permits, events, faults. A guard has one; so has a CircuitBreaker on its own.
import { show } from '../rules/index.js'
import { type Clock, PreciseClock } from '../windows/index.js'
import { invalidArgument } from './errors.js'
import { Events } from './events.js'
import { Faults } from './faults.js'
import { Nesting } from './nesting.js'
import { PermitPool } from './permit.js'
import type { Waiting } from './saved-state.js'
import { readStatistics } from './statistics.js'
import { GuardTime } from './time.js'
import type { GuardOptions } from './types.js'

const OPTIONS: ReadonlySet<string> = new Set<keyof GuardOptions>([
  'clock',
  'onClockBack',
  'onRuleChange',
  'onInternalError',
  'refusalStacks',
  'random',
  'maxResources',
  'onRegistryFull',
  'name',
  'statistics',
  'restore',
])

const MAX_RESOURCES = 1_000_000

export class Runtime {
  readonly faults: Faults
  readonly time: GuardTime
  readonly events: Events
  readonly permits = new PermitPool()
  readonly nesting = new Nesting()
  readonly random: () => number
  readonly refusalStacks: boolean
  readonly restartOnChange: boolean
  readonly maxResources: number
  readonly shareOverflow: boolean
  /** The guard's name, as events and snapshots show it. */
  readonly name: string
  /** The statistics window of resources that are not configured otherwise. */
  readonly statistics: ReturnType<typeof readStatistics>
  /** Saved states that no breaker has taken up yet. */
  waiting: Waiting | undefined = undefined
  /** Probe slots taken now, over all resources. */
  probesOut = 0

  constructor(options: GuardOptions) {
    if (typeof options !== 'object' || options === null) throw invalidArgument('guard options must be an object')
    for (const key of Object.keys(options)) {
      if (!OPTIONS.has(key))
        throw invalidArgument(`unknown guard option '${key}'; there are ${[...OPTIONS].join(', ')}`)
    }
    const { onClockBack = 'clamp', onRuleChange = 'keep', onInternalError, refusalStacks = false, random } = options
    const { maxResources = 10_000, onRegistryFull = 'unguarded', name = 'guard' } = options
    if (typeof name !== 'string' || name === '') {
      throw invalidArgument(`name must be a non-empty string, got ${show(name)}`)
    }
    oneOf('onClockBack', onClockBack, ['clamp', 'refuse', 'raw'])
    oneOf('onRuleChange', onRuleChange, ['keep', 'restart'])
    oneOf('onRegistryFull', onRegistryFull, ['unguarded', 'shared'])
    if (!Number.isInteger(maxResources) || maxResources < 1 || maxResources > MAX_RESOURCES) {
      throw invalidArgument(`maxResources must be an integer >= 1 and <= ${MAX_RESOURCES}, got ${show(maxResources)}`)
    }
    isFunction('onInternalError', onInternalError)
    isFunction('random', random)
    if (typeof refusalStacks !== 'boolean') throw invalidArgument('refusalStacks must be true or false')
    this.faults = new Faults(onInternalError, name)
    this.time = new GuardTime(chooseClock(options.clock), onClockBack, this.faults)
    this.events = new Events(this.faults, name)
    this.random = random ?? Math.random
    this.refusalStacks = refusalStacks
    this.restartOnChange = onRuleChange === 'restart'
    this.maxResources = maxResources
    this.shareOverflow = onRegistryFull === 'shared'
    this.name = name
    this.statistics = readStatistics(options.statistics)
  }
}

/** `'auto'` and `'adaptive'` mean `'precise'` in this version. */
function chooseClock(clock: GuardOptions['clock'] = 'auto'): Clock {
  if (typeof clock === 'object' && clock !== null && typeof clock.now === 'function') return clock
  oneOf('clock', clock, ['auto', 'adaptive', 'precise'])
  return new PreciseClock()
}

function oneOf(name: string, value: unknown, values: readonly string[]): void {
  if (!values.includes(value as string)) {
    throw invalidArgument(
      `${name} must be one of ${values.map((v) => `'${v}'`).join(', ')}${name === 'clock' ? ' or a Clock' : ''}`,
    )
  }
}

function isFunction(name: string, value: unknown): void {
  if (value !== undefined && typeof value !== 'function') throw invalidArgument(`${name} must be a function`)
}
