// Run by itself: node ... throwing-subscriber.ts. Subscribers of every channel throw while guarded calls are made. Prints, as JSON, what the
// calls gave and in which order things happened, then what Node.js raised.
import { setImmediate } from 'node:timers/promises'
import { channels, createGuard } from 'leapguard'
import { ManualClock } from 'leapguard/testing'

const order: string[] = []
const raised: string[] = []
process.on('uncaughtException', (error) => {
  raised.push(error.message)
  order.push(`raised: ${error.message}`)
})

const guard = createGuard({ clock: new ManualClock(0), onInternalError: () => {} })
for (const channel of Object.values(channels)) {
  channel.subscribe((_message, name) => {
    throw new Error(`thrown on ${String(name)}`)
  })
}
// A second subscriber of each, and listeners, hear all the same.
const heard: string[] = []
for (const channel of Object.values(channels)) channel.subscribe((_message, name) => heard.push(String(name)))
guard.on('state', ({ to }) => heard.push(to))

const settled = async (call: Promise<unknown>): Promise<string> =>
  call.then(
    (value) => `value ${value}`,
    (error: Error & { code?: string }) => error.code ?? error.message,
  )

guard.loadRules({ degrade: [{ resource: 'r', strategy: 'error-count', threshold: 1 }] })
const results = [
  await settled(guard.entry('r', () => Promise.reject(new Error('down')))),
  await settled(guard.entry('r', () => 'up')),
]
order.push('calls settled')
guard.configure('faulty', {
  classify: () => {
    throw new Error('classify')
  },
})
results.push(String(guard.entrySync('faulty', () => 'up')), String(guard.tryEnter('r')))
order.push('synchronous calls returned')
await setImmediate() // real time: exceptions of subscribers are raised in a later tick
console.log(JSON.stringify({ results, order, raised, heard, totals: guard.stats('r').totals }))
