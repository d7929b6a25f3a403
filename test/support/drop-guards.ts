// Run by itself, with --expose-gc: node ... drop-guards.ts COUNT keep|drop. Makes that many guards one after the other, uses each, and drops
// (or keeps) it. Prints by how many bytes the heap has grown from a thousand guards on.
import { createGuard, type Guard } from 'leapguard'
import { ManualClock } from 'leapguard/testing'

const WARM_UP = 1000
const [count, fate] = [Number(process.argv[2]), process.argv[3]]
const kept: Guard[] = []

async function use(i: number): Promise<void> {
  const clock = new ManualClock(0)
  const guard = createGuard({ clock })
  guard.loadDegradeRules([
    { resource: 'r', strategy: 'error-count', threshold: 1, cooldownMs: 1000 },
    { resource: 'r', strategy: 'slow-call-ratio', threshold: 0.5, maxAllowedRtMs: 100 },
  ])
  guard.on('state', () => {})
  guard.configure('other', { rules: [{ check: () => 0 }] })
  guard.entrySync('other', () => i)
  guard.enter('r') // never ended
  guard.enter('r').exit({ error: new Error('down') })
  clock.advance(1000)
  if (i % 100 === 0)
    void guard.entry('r', () => new Promise(() => {})) // a probe that never comes back
  else if (i % 100 === 50) await guard.entry('r', async () => i)
  if (i % 2 === 0) guard.dispose()
  if (fate === 'keep') kept.push(guard)
}

async function heap(): Promise<number> {
  for (let i = 0; i < 3; i++) {
    await new Promise((done) => setImmediate(done)) // what the collector tells of is heard between turns
    globalThis.gc?.()
  }
  return process.memoryUsage().heapUsed
}

async function main(): Promise<void> {
  for (let i = 0; i < WARM_UP; i++) await use(i)
  kept.length = 0
  const before = await heap()
  for (let i = 0; i < count; i++) await use(i)
  console.log((await heap()) - before)
}

void main()
