// The generic ring: its options, its own buckets, late stamps, and callbacks that fail. Long schedules are left to the properties.
import { LeapArray, type LeapArrayOptions } from 'leapguard'
import { describe, expect, it } from 'vitest'

interface Bucket {
  start: number
  hits: number
}

const OPTIONS: LeapArrayOptions<Bucket> = {
  intervalMs: 1000,
  bucketCount: 5,
  create: (start) => ({ start, hits: 0 }),
  reset: (bucket, start) => {
    bucket.start = start
    bucket.hits = 0
  },
}
const ring = (options: Partial<LeapArrayOptions<Bucket>> = {}): LeapArray<Bucket> =>
  new LeapArray({ ...OPTIONS, ...options })
const starts = (buckets: readonly Bucket[]): number[] => buckets.map((bucket) => bucket.start)

describe('options', () => {
  it('are shown as they are in force', () => {
    const { intervalMs, bucketCount, bucketMs } = ring({ intervalMs: 900, bucketCount: 3 })
    expect({ intervalMs, bucketCount, bucketMs }).toEqual({ intervalMs: 900, bucketCount: 3, bucketMs: 300 })
  })

  it.each([
    ['intervalMs', 0],
    ['intervalMs', -1000],
    ['intervalMs', 1000.5],
    ['intervalMs', Number.NaN],
    ['intervalMs', Number.POSITIVE_INFINITY],
    ['bucketCount', 0],
    ['bucketCount', 3],
    ['bucketCount', 2.5],
    ['bucketCount', 1001],
    ['bucketCount', Number.NaN],
  ])('refuse %s %d and name it', (field, value) => {
    const make = () => ring({ [field]: value })
    expect(make).toThrow(RangeError)
    expect(make).toThrow(field)
    expect(make).toThrow(String(value))
  })

  it('refuse an unknown edge', () => {
    // @ts-expect-error there is no such edge
    expect(() => ring({ edge: 'open' })).toThrow(/edge.*open/)
  })
})

describe('the edge', () => {
  it.each([
    ['exclusive', []],
    ['inclusive', [0]],
  ] as const)('%s decides on a bucket that is exactly one window old, and on no other', (edge, atEdge) => {
    const array = ring({ edge })
    const bucket = array.current(0)
    expect(starts(array.live(999.75))).toEqual([0])
    expect(starts(array.live(1000))).toEqual(atEdge)
    expect(starts(array.live(1000.25))).toEqual([])
    expect(array.at(0, 1000)).toBe(edge === 'inclusive' ? bucket : undefined)
  })

  it('is exclusive by default', () => {
    const array = ring()
    array.current(0)
    expect(array.live(1000)).toEqual([])
  })
})

describe('buckets', () => {
  it('are made on first use only, with the start of the bucket', () => {
    const made: number[] = []
    const array = ring({
      create: (start) => {
        made.push(start)
        return { start, hits: 0 }
      },
    })
    expect(made).toEqual([])
    expect(array.live(710)).toEqual([])
    expect(made).toEqual([])
    array.current(710)
    array.current(799.9)
    expect(made).toEqual([600])
    array.current(-1)
    expect(made).toEqual([600, -200])
  })

  it('are reset in place when their turn comes again, told their new start', () => {
    const array = ring()
    const first = array.current(0)
    first.hits = 7
    expect(array.current(1100)).toBe(first)
    expect(first).toEqual({ start: 1000, hits: 0 })
  })

  it('may be anything, undefined too', () => {
    let made = 0
    const array = new LeapArray<undefined>({
      intervalMs: 10,
      bucketCount: 1,
      create: () => {
        made++
        return undefined
      },
      reset: () => {},
    })
    expect([array.current(0), array.current(5), made]).toEqual([undefined, undefined, 1])
    expect(array.live(5)).toEqual([undefined])
  })

  it('come oldest first, wherever the ring begins', () => {
    const array = ring()
    for (const t of [1400, 1600, 1800, 2000, 2200]) array.current(t)
    expect(starts(array.live(2399))).toEqual([1400, 1600, 1800, 2000, 2200])
    expect(starts(array.live(2400))).toEqual([1600, 1800, 2000, 2200])
  })
})

describe('a late stamp', () => {
  it('finds its bucket while the ring still holds it', () => {
    const array = ring()
    const old = array.current(1000)
    array.current(1900)
    expect(array.current(1150)).toBe(old)
    expect(starts(array.live(1900))).toEqual([1000, 1800])
  })

  it('fills a gap between later buckets', () => {
    const array = ring()
    array.current(1000)
    array.current(1800)
    array.current(1450).hits++
    expect(array.live(1800)).toEqual([
      { start: 1000, hits: 0 },
      { start: 1400, hits: 1 },
      { start: 1800, hits: 0 },
    ])
  })

  it('gets a bucket of its own that is not kept, if a later time owns its slot', () => {
    const array = ring()
    const present = array.current(2000)
    present.hits = 3
    const late = array.current(1050)
    expect(late).toEqual({ start: 1000, hits: 0 })
    late.hits = 9
    expect(array.current(1050)).not.toBe(late)
    expect(array.live(2000)).toEqual([{ start: 2000, hits: 3 }])
    expect(array.covering(1050)).toBeUndefined()
  })
})

describe('reading', () => {
  it('finds the bucket that covers a time, however old', () => {
    const array = ring()
    const bucket = array.current(610)
    expect([array.covering(600), array.covering(799.9)]).toEqual([bucket, bucket])
    expect([array.covering(599.9), array.covering(800), array.covering(1600)]).toEqual([
      undefined,
      undefined,
      undefined,
    ])
  })

  it('finds whatever sits in the slot of a time while that is live', () => {
    const array = ring()
    const bucket = array.current(610)
    expect(array.at(1610, 1599)).toBe(bucket)
    expect(array.at(1610, 1600)).toBeUndefined()
    expect(array.at(810, 810)).toBeUndefined()
  })

  it('counts a bucket that begins after now as live', () => {
    const array = ring()
    array.current(5000)
    expect(starts(array.live(100))).toEqual([5000])
  })
})

describe('callbacks that throw', () => {
  it('leave the slot as it was when create throws', () => {
    let broken = true
    const array = ring({
      create: (start) => {
        if (broken) throw new Error('create')
        return { start, hits: 0 }
      },
    })
    expect(() => array.current(0)).toThrow('create')
    expect(array.live(0)).toEqual([])
    broken = false
    expect(array.current(0)).toEqual({ start: 0, hits: 0 })
  })

  it('do not pass a bucket off as reset when reset throws', () => {
    let broken = true
    const array = ring({
      reset: (bucket, start) => {
        if (broken) throw new Error('reset')
        bucket.start = start
        bucket.hits = 0
      },
    })
    array.current(0).hits = 5
    expect(() => array.current(1000)).toThrow('reset')
    expect(array.live(1000)).toEqual([])
    broken = false
    expect(array.current(1000)).toEqual({ start: 1000, hits: 0 })
  })
})
