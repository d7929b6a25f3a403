// The one place where a time is turned into a bucket number.

/**
 * Number of the bucket of length `bucketMs` that covers `t`, counted from the epoch: floor(t / bucketMs), exact.
 *
 * A division alone can round a time just below an edge up to the edge; one comparison mends that.
 */
export function bucketNumber(t: number, bucketMs: number): number {
  const n = Math.floor(t / bucketMs)
  return n * bucketMs > t ? n - 1 : n
}

/** Slot of a bucket in a ring of `size`, for negative times too. */
export function slotOf(bucket: number, size: number): number {
  const slot = bucket % size
  return slot < 0 ? slot + size : slot
}

/** Checks the shape of a ring: both integers, the bucket count dividing the interval. Throws RangeError. Returns the bucket length. */
export function bucketLength(intervalMs: number, bucketCount: number): number {
  if (!Number.isSafeInteger(intervalMs) || intervalMs < 1) {
    throw new RangeError(`intervalMs must be an integer >= 1, got ${String(intervalMs)}`)
  }
  if (!Number.isSafeInteger(bucketCount) || bucketCount < 1 || intervalMs % bucketCount !== 0) {
    throw new RangeError(
      `bucketCount must be an integer >= 1 that divides intervalMs (${intervalMs}), got ${String(bucketCount)}`,
    )
  }
  return intervalMs / bucketCount
}
