/** Smallest value that at least `share` (0..1) of the values do not exceed (nearest rank); `undefined` of nothing. */
export function percentile(values: readonly number[], share: number): number | undefined {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)]
}
