// What a bundler gets to read: named imports.
import { createGuard, isBlocked, loadRules } from 'leapguard'
import { ManualClock } from 'leapguard/testing'

const guard = createGuard({ clock: new ManualClock() })
guard.forceOpen('r')
let refused = false
try {
  guard.entrySync('r', () => 1)
} catch (error) {
  refused = isBlocked(error)
}
console.log(JSON.stringify({ refused, added: loadRules({ degrade: [] }).added.length }))
