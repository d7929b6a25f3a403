// Which number stands for many readings?

/** The middle reading, or the mean of the two in the middle. */
export function median(readings: readonly number[]): number {
  return quantile(readings, 0.5)
}

/** Reading at `share` (0..1) of the sorted list, interpolated between neighbours. */
export function quantile(readings: readonly number[], share: number): number {
  if (readings.length === 0) throw new RangeError('quantile: no readings')
  const sorted = [...readings].sort((a, b) => a - b)
  const position = (sorted.length - 1) * share
  const below = Math.floor(position)
  const low = sorted[below] as number
  const high = sorted[Math.min(below + 1, sorted.length - 1)] as number
  return low + (high - low) * (position - below)
}

/** Median of the ratios of readings taken next to each other: a slow moment of the machine hits both sides of a pair alike. */
export function pairedRatio(raw: readonly number[], guarded: readonly number[]): number {
  if (raw.length !== guarded.length) throw new RangeError('pairedRatio: sides of different length')
  return median(guarded.map((reading, i) => reading / (raw[i] as number)))
}

/** Distance between the quartiles as a share of the median: how far the readings agree. */
export function spread(readings: readonly number[]): number {
  return (quantile(readings, 0.75) - quantile(readings, 0.25)) / median(readings)
}
