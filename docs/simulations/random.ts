// Seeded random numbers, so that a simulation gives the same table each time it runs.

/** Uniform numbers in [0, 1): a Weyl sequence, mixed. Good enough to count rare events by, not to hide anything. */
export function seeded(seed: number): () => number {
  let state = seed | 0
  return () => {
    state = (state + 0x9e3779b9) | 0
    let x = state
    x = Math.imul(x ^ (x >>> 16), 0x21f0aaad)
    x = Math.imul(x ^ (x >>> 15), 0x735a2d97)
    return ((x ^ (x >>> 15)) >>> 0) / 2 ** 32
  }
}
