// The window a breaker decides on, at the numbers where it could slip. Long schedules are left to the properties.
import { CountingWindow } from 'leapguard'
import { describe, expect, it } from 'vitest'

/** Ten buckets of 100 ms. */
const tenths = (): CountingWindow => new CountingWindow(1000, 10)
const sums = ({ total, bad }: CountingWindow): [number, number] => [total, bad]
const at = (window: CountingWindow, now: number): [number, number] => [window.totalAt(now), window.badAt(now)]

describe('a window nobody has written to', () => {
  it('reads zeros at any time and is emptied calmly', () => {
    const window = tenths()
    expect(sums(window)).toEqual([0, 0])
    expect([at(window, -1e15), at(window, 0), at(window, 1e15)]).toEqual([
      [0, 0],
      [0, 0],
      [0, 0],
    ])
    window.clear(500)
    window.roll(700)
    expect(sums(window)).toEqual([0, 0])
    window.add(750, 1)
    expect(sums(window)).toEqual([1, 1])
  })

  it('shows its shape and refuses one that does not work out', () => {
    const { intervalMs, bucketCount, bucketMs } = new CountingWindow(60_000, 600)
    expect({ intervalMs, bucketCount, bucketMs }).toEqual({ intervalMs: 60_000, bucketCount: 600, bucketMs: 100 })
    expect(() => new CountingWindow(1000, 3)).toThrow(RangeError)
    expect(() => new CountingWindow(0, 1)).toThrow(RangeError)
    expect(() => new CountingWindow(1000, 0)).toThrow(RangeError)
  })

  it('may begin anywhere, before the epoch too', () => {
    for (const start of [-1e12, -50, -0.5, 0, 1.7e12, 2 ** 52]) {
      const window = tenths()
      window.add(start, 1)
      window.add(start, 0)
      expect(sums(window)).toEqual([2, 1])
      expect(at(window, start)).toEqual([2, 1])
    }
  })
})

describe('rolling', () => {
  it('drops bucket after bucket, and only those it passes', () => {
    const window = tenths()
    for (let t = 0; t < 1000; t += 100) window.add(t, t % 200 === 0 ? 1 : 0)
    expect(sums(window)).toEqual([10, 5])
    const seen: [number, number][] = []
    for (let t = 1000; t < 2000; t += 100) {
      window.roll(t)
      seen.push(sums(window))
    }
    expect(seen).toEqual([
      [9, 4],
      [8, 4],
      [7, 3],
      [6, 3],
      [5, 2],
      [4, 2],
      [3, 1],
      [2, 1],
      [1, 0],
      [0, 0],
    ])
  })

  it.each([
    [900, 1],
    [999.9, 1],
    [1000, 0],
    [1099, 0],
    [10_000, 0],
    [2 ** 31, 0],
    [2 ** 32, 0],
    [2 ** 32 + 1000, 0],
    [1e15, 0],
  ])('after a gap of %d ms still holds %d', (gap, held) => {
    const window = tenths()
    window.add(0, 1)
    expect(at(window, gap)).toEqual([held, held])
    window.roll(gap)
    expect(sums(window)).toEqual([held, held])
    window.add(gap, 0)
    expect(sums(window)).toEqual([held + 1, held])
  })

  it('of one bucket empties it at each turn', () => {
    const window = new CountingWindow(1000, 1)
    window.add(0, 1)
    window.add(999, 1)
    expect(sums(window)).toEqual([2, 2])
    window.add(1000, 0)
    expect(sums(window)).toEqual([1, 0])
  })

  it('forward and reading back agree', () => {
    const window = tenths()
    window.add(50, 1)
    window.roll(950)
    expect(at(window, 50)).toEqual([1, 1])
    window.roll(50)
    expect(sums(window)).toEqual([1, 1])
    window.roll(1050)
    expect(at(window, 50)).toEqual([0, 0])
  })
})

describe('a late record', () => {
  it('goes to its own bucket and ages with it', () => {
    const window = tenths()
    window.add(500, 0)
    window.add(0, 1)
    expect(sums(window)).toEqual([2, 1])
    window.roll(1000)
    expect(sums(window)).toEqual([1, 0])
    window.roll(1500)
    expect(sums(window)).toEqual([0, 0])
  })

  it('counts at the oldest bucket of the ring and not one before it', () => {
    const window = tenths()
    window.add(950, 0)
    window.add(0, 1)
    expect(sums(window)).toEqual([2, 1])
    window.add(-0.5, 1)
    window.addMany(-1000, 5, 5)
    expect(sums(window)).toEqual([2, 1])
    expect(at(window, 950)).toEqual([2, 1])
  })
})

describe('recording many', () => {
  it('is recording one by one', () => {
    const many = tenths()
    const one = tenths()
    many.addMany(120, 3, 2)
    for (const bad of [1, 1, 0] as const) one.add(120, bad)
    many.addMany(480, 1, 0)
    one.add(480, 0)
    for (const now of [480, 1099, 1100, 1479, 1480]) expect(at(many, now)).toEqual(at(one, now))
    many.roll(1100)
    one.roll(1100)
    expect(sums(many)).toEqual(sums(one))
    expect(sums(many)).toEqual([1, 0])
  })

  it('keeps counts beyond 32 bits exact', () => {
    const window = tenths()
    window.addMany(0, 2 ** 40, 2 ** 33)
    window.addMany(100, 1, 1)
    expect(sums(window)).toEqual([2 ** 40 + 1, 2 ** 33 + 1])
    window.roll(1000)
    expect(sums(window)).toEqual([1, 1])
  })
})

describe('emptying', () => {
  it('leaves nothing behind, and the window works on', () => {
    const window = tenths()
    window.add(0, 1)
    window.add(300, 1)
    window.clear(350)
    expect([sums(window), at(window, 350)]).toEqual([
      [0, 0],
      [0, 0],
    ])
    window.add(350, 1)
    window.roll(1000)
    expect(sums(window)).toEqual([1, 1])
  })

  it('works across a gap longer than the window', () => {
    const window = tenths()
    window.add(0, 1)
    window.clear(1e9)
    expect(sums(window)).toEqual([0, 0])
    window.add(1e9, 0)
    expect(sums(window)).toEqual([1, 0])
  })

  it('at a time the ring has left behind keeps the later counts', () => {
    const window = tenths()
    window.add(5000, 1)
    window.clear(4000)
    expect(sums(window)).toEqual([1, 1])
    window.clear(4100)
    expect(sums(window)).toEqual([0, 0])
  })
})

describe('reading at a time', () => {
  it('leaves the sums where they were', () => {
    const window = tenths()
    window.add(0, 1)
    expect(at(window, 5000)).toEqual([0, 0])
    expect(sums(window)).toEqual([1, 1])
    expect(at(window, 999)).toEqual([1, 1])
  })

  it('counts a bucket that begins after it as live', () => {
    const window = tenths()
    window.add(5000, 1)
    expect(at(window, 0)).toEqual([1, 1])
  })
})

describe('saving and restoring', () => {
  it('keeps what is live, bucket by bucket, and loses nothing else on the way through JSON', () => {
    const window = tenths()
    for (const t of [0, 50, 130, 990]) window.add(t, t > 100 ? 1 : 0)
    const saved = window.saved(990)
    expect(saved).toEqual([
      [0, 2, 0],
      [100, 1, 1],
      [900, 1, 1],
    ])
    const restored = tenths()
    restored.restore(JSON.parse(JSON.stringify(saved)), 990)
    expect(sums(restored)).toEqual([4, 2])
    expect(restored.saved(990)).toEqual(saved)
    for (const now of [999, 1000, 1099, 1100, 1899, 1900]) {
      expect(at(restored, now), String(now)).toEqual(at(window, now))
      expect(restored.saved(now), String(now)).toEqual(window.saved(now))
    }
  })

  it('saves nothing of a window that is empty or past', () => {
    const window = tenths()
    expect(window.saved(0)).toEqual([])
    window.add(0, 1)
    expect(window.saved(1000)).toEqual([])
    expect(sums(window)).toEqual([1, 1])
  })

  it('drops at restoring what has aged out meanwhile, strictly at the edge', () => {
    const saved = [
      [0, 2, 1],
      [500, 3, 2],
    ] as const
    for (const [now, kept] of [
      [999.5, [5, 3]],
      [1000, [3, 2]],
      [1499.5, [3, 2]],
      [1500, [0, 0]],
    ] as const) {
      const window = tenths()
      window.restore(saved, now)
      expect(at(window, now), String(now)).toEqual(kept)
      expect(sums(window), String(now)).toEqual(kept)
    }
  })

  it('takes buckets of the future as of now, so that they age out in one window', () => {
    const window = tenths()
    const saved = [
      [5000, 2, 1],
      [5100, 1, 1],
    ] as const
    window.restore(saved, 250)
    expect(window.saved(250)).toEqual([[200, 3, 2]])
    expect(at(window, 1200)).toEqual([0, 0])
  })

  it('saves each bucket once, also at a time before them', () => {
    const window = tenths()
    window.add(2000, 1)
    window.add(2950, 0)
    expect(window.saved(1000)).toEqual([
      [2000, 1, 1],
      [2900, 1, 0],
    ])
  })

  it('works before the epoch', () => {
    const window = tenths()
    window.add(-150, 1)
    expect(window.saved(-50)).toEqual([[-200, 1, 1]])
  })
})
