// How long a breaker stays open: since when, how often it has been reopened, and the share drawn for this time.
import type { DegradeRule } from './degrade/rule.js'

/** Reopenings in a row beyond this lengthen a cooldown no further. */
export const MAX_GROWTH = 1_000_000

export class Cooldown {
  openedAt = Number.NaN
  /** Times a bad probe has opened the breaker again since it was closed. */
  growth = 0
  /** Share drawn at opening, 0 to `cooldownJitter`. */
  jitter = 0
  private lengthMs = 0

  /** Begins a cooldown. `random` is uniform in [0, 1). */
  begin(openedAt: number, rule: DegradeRule, random: () => number): void {
    this.openedAt = openedAt
    this.jitter = rule.cooldownJitter === 0 ? 0 : rule.cooldownJitter * shareOf(random())
    this.follow(rule)
  }

  /** Goes on with a cooldown that began elsewhere. */
  resume(openedAt: number, growth: number, jitter: number, rule: DegradeRule): void {
    this.openedAt = openedAt
    this.growth = growth
    this.jitter = jitter
    this.follow(rule)
  }

  /** Takes over changed numbers; growth and the share that was drawn stay. */
  follow(rule: DegradeRule): void {
    this.lengthMs = this.lengthOf(rule, this.jitter)
  }

  /** The next cooldown is longer. */
  grow(): void {
    this.growth = Math.min(MAX_GROWTH, this.growth + 1)
  }

  isOver(now: number): boolean {
    return now - this.openedAt >= this.lengthMs
  }

  endsAt(): number {
    return this.openedAt + this.lengthMs
  }

  /** Longest that a cooldown can be if it begins without a further bad probe, whatever share it draws. */
  longestMs(rule: DegradeRule): number {
    return this.lengthOf(rule, rule.cooldownJitter)
  }

  /** `cooldownMs * cooldownMultiplier^growth`, lengthened by the jitter, in whole ms, never past the cap. */
  private lengthOf({ cooldownMs, cooldownMultiplier, maxCooldownMs }: DegradeRule, jitter: number): number {
    let length = cooldownMs
    for (let i = 0; i < this.growth && length < maxCooldownMs && cooldownMultiplier > 1; i++)
      length *= cooldownMultiplier
    return Math.min(maxCooldownMs, Math.ceil(length * (1 + jitter)))
  }
}

/** A share that is none would hold a breaker open for ever or let it go early. */
function shareOf(random: number): number {
  return random >= 0 && random < 1 ? random : 0
}
