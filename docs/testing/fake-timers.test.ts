import { type Clock, createGuard } from 'leapguard'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'

const followsFakes: Clock = {
  now: () => Date.now(),
  setTimer: (fn, delayMs) => setTimeout(fn, delayMs),
  clearTimer: (timer) => clearTimeout(timer as NodeJS.Timeout),
}
const RULE = { resource: 'mail', strategy: 'error-count', threshold: 1, cooldownMs: 5000 } as const

beforeEach(() => void vi.useFakeTimers({ now: 0 }))
afterEach(() => void vi.useRealTimers())

it('sends what is in the outbox every second, and pauses while the server is away', async () => {
  const guard = createGuard({ clock: followsFakes })
  guard.loadRules({ degrade: [RULE] })
  const send = vi.fn(async () => Promise.reject(new Error('connection refused')))
  const outbox = setInterval(() => guard.entry('mail', send).catch(() => undefined), 1000)

  await vi.advanceTimersByTimeAsync(13_000)
  expect(send).toHaveBeenCalledTimes(3) // at 1, 6 and 11 s
  clearInterval(outbox)
})

it('needs such a clock: the built-in one does not follow', async () => {
  const guard = createGuard()
  guard.loadRules({ degrade: [RULE] })
  guard.enter('mail').exit({ error: new Error('connection refused') })

  await vi.advanceTimersByTimeAsync(13_000)
  expect(guard.stats('mail').rules[0]?.retryAfterMs).toBeGreaterThan(0)
})
