// The handle that `enter` gives out: a pooled permit and the life it was in, so that a late or double end does nothing.
import { Outcome } from '../rules/index.js'
import type { PooledPermit } from './permit.js'
import { failed, settle } from './pipeline.js'
import type { Resource } from './resource.js'
import type { EntryHandle } from './types.js'

export class Handle implements EntryHandle {
  private readonly permit: PooledPermit
  private readonly life: number
  private readonly owner: Resource

  constructor(permit: PooledPermit) {
    this.permit = permit
    this.life = permit.life
    this.owner = permit.owner
  }

  get resource(): string {
    return this.owner.name
  }

  exit(end?: { error?: unknown }): void {
    if (!this.isLive()) return
    if (end?.error !== undefined) failed(this.permit, end.error)
    else settle(this.permit, Outcome.SUCCESS)
  }

  cancel(): void {
    if (this.isLive()) settle(this.permit, Outcome.IGNORED)
  }

  [Symbol.dispose](): void {
    this.cancel()
  }

  /** Sequence numbers of this call and those around it, if it is a running call of `resource`. */
  lineage(resource: Resource): readonly number[] | null {
    if (this.owner !== resource || !this.isLive()) return null
    return [this.permit.seq, ...(this.permit.parents ?? [])]
  }

  private isLive(): boolean {
    return this.permit.isLive(this.life)
  }
}
