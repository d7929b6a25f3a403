// What do two readings of the clock cost beside an await? No guard that reads its clock at both ends can be cheaper.
import { PreciseClock } from 'leapguard'
import { type Case, pair } from './support/case.js'
import { fetchUser } from './support/service.js'

function build() {
  const clock = new PreciseClock()
  return {
    async raw(calls: number) {
      let sum = 0
      for (let i = 0; i < calls; i++) sum += await fetchUser()
      return sum
    },
    async guarded(calls: number) {
      let sum = 0
      for (let i = 0; i < calls; i++) {
        const start = clock.now()
        sum += await fetchUser()
        sum += clock.now() - start
      }
      return sum
    },
  }
}

export const clockCases: readonly Case[] = [
  pair('clock/two-readings', 'await fn() between two clock readings', 'await fn()', build),
]
