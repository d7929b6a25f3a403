// The bounded registry against a model: up to 16 names the hand sees all of them, so who goes is known exactly.
import fc from 'fast-check'
import { createGuard, type EntryHandle, type Guard } from 'leapguard'
import { ManualClock } from 'leapguard/testing'
import { expect, it, vi } from 'vitest'

// Thousands of random schedules; more than enough on a slow machine.
vi.setConfig({ testTimeout: 60_000 })

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', '__proto__', 'constructor']
const VERBS = [
  'call',
  'call',
  'call',
  'fail',
  'hold',
  'end',
  'configure',
  'forceOpen',
  'auto',
  'reset',
  'remove',
] as const

interface Known {
  lastUsed: number
  passed: number
  open: boolean
  forced: boolean
  configured: boolean
  held: EntryHandle[]
}

class World {
  readonly clock = new ManualClock(0)
  readonly guard: Guard
  readonly known = new Map<string, Known>()
  evicted = 0
  overflowed = 0
  /** Calls of names that are no longer known, or never were. */
  readonly strays: EntryHandle[] = []

  constructor(readonly bound: number) {
    this.guard = createGuard({ clock: this.clock, maxResources: bound, onInternalError: () => {} })
    const rule = { strategy: 'consecutive-errors', threshold: 1, cooldownMs: 2 ** 30 } as const
    const names = NAMES.map((resource) => ({ ...rule, resource }))
    this.guard.loadDegradeRules(names)
    for (const name of this.guard.resources()) this.make(name)
  }

  do(verb: (typeof VERBS)[number], name: string): void {
    this.clock.advance(1)
    const { guard } = this
    if (verb === 'end') this.end(name)
    else if (verb === 'call' || verb === 'fail' || verb === 'hold') this.call(verb, name)
    else if (verb === 'remove') {
      expect(guard.remove(name)).toBe(this.known.has(name))
      this.forget(name)
    } else this.operate(verb, name)
  }

  private operate(verb: 'configure' | 'forceOpen' | 'auto' | 'reset', name: string): void {
    const { guard } = this
    const claims = verb === 'configure' || verb === 'forceOpen'
    const hasRoom = !claims || this.known.has(name) || this.makeRoom()
    const act = () => (verb === 'configure' ? guard.configure(name, {}) : guard[verb](name))
    if (hasRoom) act()
    else expect(act).toThrow(expect.objectContaining({ code: 'ERR_REGISTRY_FULL' }))
    if (claims && hasRoom && !this.known.has(name)) this.make(name)
    const known = this.known.get(name)
    if (known === undefined) return
    if (verb === 'configure') known.configured = true
    else if (verb === 'reset') Object.assign(known, { open: false, passed: 0 })
    else known.forced = verb === 'forceOpen'
  }

  private call(verb: 'call' | 'fail' | 'hold', name: string): void {
    if (!this.known.has(name)) {
      if (this.makeRoom()) this.make(name)
      else this.overflowed++
    }
    const known = this.known.get(name)
    if (known !== undefined) known.lastUsed = this.clock.now()
    if (known?.open || known?.forced) {
      expect(this.guard.tryEnter(name)).toBe(-1)
      return
    }
    const handle = this.guard.enter(name)
    if (known !== undefined) known.passed++
    if (verb === 'hold') (known?.held ?? this.strays).push(handle)
    else if (verb === 'call') handle.exit()
    else {
      handle.exit({ error: new Error('down') })
      if (known !== undefined) known.open = true
    }
  }

  /** Ends calls of the name, and those of names that were dropped meanwhile. */
  private end(name: string): void {
    for (const handle of [...(this.known.get(name)?.held.splice(0) ?? []), ...this.strays.splice(0)]) handle.exit()
  }

  private make(name: string): void {
    const fresh = { lastUsed: Number.NEGATIVE_INFINITY, passed: 0, open: false, forced: false, configured: false }
    this.known.set(name, { ...fresh, held: [] })
  }

  /** Foresees who goes. Several that were never used are alike: then the guard says which, later. */
  private makeRoom(): boolean {
    if (this.known.size < this.bound) return true
    const idle = [...this.known].filter(([, k]) => !k.open && !k.forced && !k.configured && k.held.length === 0)
    const [first] = idle.sort(([, x], [, y]) => (x.lastUsed < y.lastUsed ? -1 : 1))
    if (first === undefined) return false
    this.evicted++
    this.known.delete(first[0])
    this.neverUsed = first[1].lastUsed === Number.NEGATIVE_INFINITY
    return true
  }

  private neverUsed = false

  private forget(name: string): void {
    this.strays.push(...(this.known.get(name)?.held ?? []))
    this.known.delete(name)
  }

  agree(): void {
    const names = this.guard.resources()
    if (this.neverUsed) this.adoptChoice(names)
    this.neverUsed = false
    expect([...names].sort()).toEqual([...this.known.keys()].sort())
    expect(this.guard.snapshot().registry).toEqual({
      size: this.known.size,
      maxResources: this.bound,
      evicted: this.evicted,
      overflowed: this.overflowed,
    })
    for (const [name, { passed, held, open, forced }] of this.known) {
      expect(this.guard.stats(name)).toMatchObject({
        totals: { passed, running: held.length },
        rules: [{ state: open || forced ? 'open' : 'closed' }],
      })
    }
  }

  /** One that was never used went; which one is the guard's choice. */
  private adoptChoice(names: readonly string[]): void {
    const gone = [...this.known].filter(([name]) => !names.includes(name))
    const back = names.filter((name) => !this.known.has(name))
    expect(gone.length).toBe(back.length)
    for (const [name, { lastUsed }] of gone) {
      expect(lastUsed).toBe(Number.NEGATIVE_INFINITY)
      this.known.delete(name)
    }
    for (const name of back) this.make(name)
  }
}

it('keeps, evicts, refuses and counts as the model does', () => {
  let evicted = 0
  let overflowed = 0
  const step = fc.tuple(fc.constantFrom(...VERBS), fc.constantFrom(...NAMES))
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 6 }), fc.array(step, { maxLength: 80, size: 'max' }), (bound, steps) => {
      const world = new World(bound)
      world.agree()
      for (const [verb, name] of steps) {
        world.do(verb, name)
        world.agree()
      }
      evicted += world.evicted
      overflowed += world.overflowed
    }),
    { numRuns: 200 },
  )
  expect(evicted).toBeGreaterThan(500)
  expect(overflowed).toBeGreaterThan(500)
})
