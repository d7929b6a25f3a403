// What a bundler gets to read: a required object, taken apart.
const { createGuard, isBlocked, loadRules } = require('leapguard')
const { ManualClock } = require('leapguard/testing')

const guard = createGuard({ clock: new ManualClock() })
guard.forceOpen('r')
let refused = false
try {
  guard.entrySync('r', () => 1)
} catch (error) {
  refused = isBlocked(error)
}
console.log(JSON.stringify({ refused, added: loadRules({ degrade: [] }).added.length }))
