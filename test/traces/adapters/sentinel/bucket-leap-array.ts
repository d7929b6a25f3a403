// Sentinel's metric over a plain sliding window. The ring is the library's; the sums read from its buckets are Sentinel's metric.
import { LeapArray } from 'leapguard'
import type { Adapter, Player, Trace } from '../../types.js'

const COUNTS = ['pass', 'block', 'success', 'exception'] as const
type Count = (typeof COUNTS)[number]
type Bucket = Record<Count | 'start' | 'rt' | 'minRt', number>
type Ring = LeapArray<Bucket>

/** Above this many slots the recordings leave empty rows and lists of starts out. */
const MANY_SLOTS = 20

export const bucketLeapArray: Adapter = {
  source: 'alibaba/Sentinel',
  kind: 'window',
  class: 'BucketLeapArray',
  open,
}

function open({ config }: Trace): Player {
  const maxRt = config.statisticMaxRt as number
  const zeroed = (start: number): Bucket => ({
    start,
    pass: 0,
    block: 0,
    success: 0,
    exception: 0,
    rt: 0,
    minRt: maxRt,
  })
  const ring: Ring = new LeapArray<Bucket>({
    intervalMs: config.intervalInMs as number,
    bucketCount: config.sampleCount as number,
    edge: 'inclusive',
    create: zeroed,
    reset: (bucket, start) => Object.assign(bucket, zeroed(start)),
  })
  return (step) => {
    const [at, op] = step as [number, unknown]
    switch (op) {
      case 'add':
        add(ring.current(at), step[2], step[3] as number)
        return step.slice(0, 4)
      case 'read':
        return [at, op, read(ring, at, maxRt)]
      case 'peek':
        return [at, op, peek(ring, at)]
      default:
        throw new Error(`unknown operation ${JSON.stringify(op)}`)
    }
  }
}

function add(bucket: Bucket, event: unknown, n: number): void {
  const count = COUNTS.find((each) => each === event)
  if (count !== undefined) bucket[count] += n
  else if (event === 'rt') {
    bucket.rt += n
    bucket.minRt = Math.min(bucket.minRt, n)
  } else throw new Error(`unknown event ${JSON.stringify(event)}`)
}

/** The metric: refreshes first. */
function read(ring: Ring, at: number, maxRt: number): object {
  ring.current(at)
  const live = ring.live(at)
  const previous = previousBucket(ring, at)
  return {
    pass: sum(live, 'pass'),
    block: sum(live, 'block'),
    success: sum(live, 'success'),
    exception: sum(live, 'exception'),
    rt: sum(live, 'rt'),
    minRt: Math.max(1, Math.min(maxRt, ...live.map((bucket) => bucket.minRt))),
    maxSuccess: Math.max(1, ...live.map((bucket) => bucket.success)),
    previousWindowPass: previous?.pass ?? 0,
    previousWindowBlock: previous?.block ?? 0,
    windows: live.map(row).filter((each) => ring.bucketCount <= MANY_SLOTS || each.slice(1).some((n) => n !== 0)),
  }
}

/** Looks without refreshing. */
function peek(ring: Ring, at: number): object {
  const live = ring.live(at)
  return {
    ...(ring.bucketCount > MANY_SLOTS ? { validCount: live.length } : { starts: live.map((bucket) => bucket.start) }),
    pass: sum(live, 'pass'),
    previousStart: previousBucket(ring, at)?.start ?? null,
    headStart: ring.at(at + ring.bucketMs, at)?.start ?? null,
    currentPass: ring.covering(at)?.pass ?? null,
  }
}

/** What sits in the slot one bucket back, unless it ended before the bucket that belongs there began. */
function previousBucket(ring: Ring, at: number): Bucket | undefined {
  const bucket = ring.at(at - ring.bucketMs, at)
  return bucket !== undefined && bucket.start + ring.bucketMs >= at - ring.bucketMs ? bucket : undefined
}

/** `[start, pass, block, success, exception, avgRt]` */
function row(bucket: Bucket): number[] {
  const avgRt = bucket.success === 0 ? bucket.rt : Math.trunc(bucket.rt / bucket.success)
  return [bucket.start, ...COUNTS.map((count) => bucket[count]), avgRt]
}

function sum(buckets: readonly Bucket[], field: keyof Bucket): number {
  return buckets.reduce((total, bucket) => total + bucket[field], 0)
}
