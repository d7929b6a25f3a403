// The statistics window of a resource, where one is asked for: the option read, and calls entered into the window. Hot.
import {
  Checker,
  type Fault,
  Flag,
  isPlainObject,
  type Moment,
  Outcome,
  type Permit,
  readRingShape,
  show,
} from '../rules/index.js'
import { type MetricSnapshot, MetricWindow, type MetricWindowOptions } from '../windows/index.js'
import { invalidArgument } from './errors.js'

type Shape = Required<MetricWindowOptions>

const FIELDS: ReadonlySet<string> = new Set<keyof MetricWindowOptions>(['intervalMs', 'bucketCount', 'percentiles'])

/** What the option asks for: every setting, or null for no window. @throws TypeError `ERR_INVALID_ARGUMENT` with all that is wrong. */
export function readStatistics(option: unknown): Shape | null {
  if (option === undefined || option === false) return null
  const given = option === true ? {} : option
  if (!isPlainObject(given)) {
    throw invalidArgument(`statistics must be true, false or an object of options, got ${show(given)}`)
  }
  const faults: Fault[] = []
  const checker = new Checker(given, 'statistics', faults, '')
  checker.knownFields(FIELDS)
  const shape = { ...readRingShape(checker, 'intervalMs'), percentiles: checker.boolean('percentiles', true) }
  if (faults.length > 0) throw invalidArgument(faults.map(({ message }) => message).join('; '))
  return shape
}

/** The window, and the words of the gatehouse for it. Times come inside objects: a double handed over would be boxed. */
export class Statistics {
  private readonly window: MetricWindow

  constructor(shape: Shape) {
    this.window = new MetricWindow(shape)
  }

  hasShape({ intervalMs, bucketCount, percentiles }: Shape): boolean {
    const { window } = this
    return (
      window.intervalMs === intervalMs && window.bucketCount === bucketCount && window.hasPercentiles === percentiles
    )
  }

  passed(moment: Moment): void {
    this.window.addPassed(moment.now)
  }

  blocked(moment: Moment): void {
    this.window.addBlocked(moment.now)
  }

  /** An ignored call says nothing of how long calls take: it may have been cut short, or never begun. */
  ended(moment: Moment, permit: Permit, outcome: Outcome, flags: number): void {
    const { window } = this
    if (outcome === Outcome.SUCCESS) window.addSucceeded(moment.now, moment.now - permit.start)
    else if (outcome === Outcome.FAILURE) window.addFailed(moment.now, moment.now - permit.start)
    else window.addIgnored(moment.now)
    if ((flags & Flag.SLOW) !== 0) window.addSlow(moment.now)
  }

  read(now: number): MetricSnapshot {
    return this.window.read(now)
  }

  clear(): void {
    this.window.clear()
  }
}
