// Enumerates: every order of a scenario's steps, in every variant of each step, each played against guard and model.
import type { ModelOutcome } from './model-breaker.js'
import { type Grip, type Live, RESOURCE, type Twin } from './model-guard.js'

export const OUTCOMES: readonly ModelOutcome[] = ['success', 'failure', 'ignored']

export interface RaceStep<W> {
  readonly name: string
  /** Name of the step that must come before this one. */
  readonly after?: string
  /** Steps of one kind are interchangeable: they end calls that began alike. */
  readonly kind?: string
  /** How many ways there are to take this step. Default 1. */
  readonly variants?: number
  readonly run: (world: W, variant: number) => void
}

export interface World {
  readonly twin: Twin
  /** By place; a place stays empty if its newcomer was refused. */
  readonly calls: (Live | undefined)[]
}

/** An entry that must be admitted; both sides agree afterwards. */
export const mustEnter = (twin: Twin, grip: Grip = 'permit'): Live => {
  const call = twin.enter(grip)
  if (call === undefined) throw new Error(`refused at ${twin.now}`)
  twin.agree('entry')
  return call
}

/** An end; both sides agree afterwards. */
export const mustEnd = (twin: Twin, call: Live | undefined, outcome: ModelOutcome): void => {
  if (call === undefined) throw new Error('there is no such call')
  twin.end(call, outcome)
  twin.agree(`end as ${outcome}`)
}

/** Ends one of the calls in flight: a success, a failure or ignored. */
export const ends = (index: number, after?: string): RaceStep<World> => ({
  name: `end ${index}`,
  ...(after === undefined ? {} : { after }),
  variants: OUTCOMES.length,
  run: ({ twin, calls }, variant) => {
    const call = calls[index]
    if (call !== undefined) twin.end(call, OUTCOMES[variant] as ModelOutcome)
  },
})

/** Ends of the first `count` calls in flight. */
export const endsOf = (count: number): RaceStep<World>[] => Array.from({ length: count }, (_, i) => ends(i))

/** The same steps with those from `from` up to `to` interchangeable. */
export const alike = <W>(steps: readonly RaceStep<W>[], from: number, to: number): RaceStep<W>[] =>
  steps.map((step, i) => (i >= from && i < to ? { ...step, kind: `alike from ${from}` } : step))

/**
 * Every order of the steps that respects `after`. Steps of the same `kind` differ in name only, so one order of them
 * stands for all: with their variants it still gives every sequence of what can be told apart.
 */
export const ordersOf = <W>(steps: readonly RaceStep<W>[]): number[][] => {
  const found: number[][] = []
  const walk = (order: number[]): void => {
    if (order.length === steps.length) found.push(order)
    steps.forEach((step, i) => {
      if (order.includes(i)) return
      if (step.kind !== undefined && steps.some((twin, j) => j < i && twin.kind === step.kind && !order.includes(j)))
        return
      if (step.after !== undefined && !order.some((done) => steps[done]?.name === step.after)) return
      walk([...order, i])
    })
  }
  walk([])
  return found
}

/** Every choice of one variant per step. */
export const choicesOf = <W>(steps: readonly RaceStep<W>[]): number[][] =>
  steps.reduce<number[][]>(
    (choices, step) =>
      choices.flatMap((choice) => Array.from({ length: step.variants ?? 1 }, (_, variant) => [...choice, variant])),
    [[]],
  )

export interface Race<W extends World> {
  readonly setUp: () => W
  readonly steps: readonly RaceStep<W>[]
  /** Played after the last step of every order: what must be possible whatever happened. */
  readonly finish?: (world: W) => void
}

/**
 * Plays every order and variant, comparing guard and model after each step. Returns how many were played;
 * throws at the first difference with the steps that led to it.
 */
export const playAll = <W extends World>(race: Race<W>): number => {
  const orders = ordersOf(race.steps)
  const choices = choicesOf(race.steps)
  for (const order of orders) for (const choice of choices) playOne(race, order, choice)
  return orders.length * choices.length
}

const playOne = <W extends World>(race: Race<W>, order: readonly number[], choice: readonly number[]): void => {
  const path: string[] = []
  try {
    const world = race.setUp()
    world.twin.agree('the set-up')
    for (const i of order) {
      const step = race.steps[i] as RaceStep<W>
      path.push((step.variants ?? 1) > 1 ? `${step.name} (${choice[i]})` : step.name)
      world.twin.wait(1)
      step.run(world, choice[i] as number)
      world.twin.agree(step.name)
    }
    race.finish?.(world)
  } catch (error) {
    throw new Error(`[${path.join(', ')}] ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** After the cooldown, and with nobody in flight, healthy calls alone bring every breaker back to closed. */
export const recovers = ({ twin, calls }: World): void => {
  for (const call of calls) if (call !== undefined) twin.end(call, 'ignored')
  twin.agree('the end of all calls')
  const stuck = twin.breakers.filter(({ model }) => model.state !== 'closed')
  if (stuck.length === 0) return
  twin.wait(1000)
  for (let i = 0; i < 6; i++) {
    const call = twin.enter()
    if (call === undefined)
      throw new Error(`refused at ${twin.now} although nobody is in flight and the cooldown is over`)
    twin.agree('a healthy entry')
    twin.end(call, 'success')
    twin.agree('a healthy end')
    if (twin.guard.stats(RESOURCE).rules.every((rule) => rule.state === 'closed')) return
  }
  throw new Error('not closed after six healthy calls')
}
