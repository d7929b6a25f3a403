// The probes of one half-open breaker that are out: their sequence numbers and starts. As short as `probeCount`.

export class ProbeList {
  private readonly seqs: number[] = []
  private readonly starts: number[] = []

  get size(): number {
    return this.seqs.length
  }

  add(seq: number, start: number): void {
    this.seqs.push(seq)
    this.starts.push(start)
  }

  hasAny(seqs: readonly number[]): boolean {
    return seqs.some((seq) => this.seqs.includes(seq))
  }

  /** Takes a probe off the list; false if it is not on it. */
  remove(seq: number): boolean {
    const index = this.seqs.indexOf(seq)
    if (index < 0) return false
    this.seqs.splice(index, 1)
    this.starts.splice(index, 1)
    return true
  }

  clear(): void {
    this.seqs.length = 0
    this.starts.length = 0
  }

  /** Earliest start on the list; the list must not be empty. */
  oldestStart(): number {
    return this.starts[0] as number
  }
}
