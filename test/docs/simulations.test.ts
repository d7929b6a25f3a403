// The tables of docs/anti-patterns.md are what the simulations give, and the simulations agree with arithmetic where there is some.
import { expect, it } from 'vitest'
import { atLeast, fromFresh } from '../../docs/simulations/chances.js'
import { COOLDOWNS, expectedCalls, outage } from '../../docs/simulations/cooldown.js'
import * as halfDead from '../../docs/simulations/half-dead.js'
import * as volume from '../../docs/simulations/minimum-volume.js'
import * as normal from '../../docs/simulations/normal-errors.js'
import * as retries from '../../docs/simulations/retries.js'
import { fillIn, type Table } from '../../docs/simulations/table.js'
import { TABLES } from '../../docs/simulations/tables.js'
import * as window from '../../docs/simulations/window-length.js'
import { readPage } from './pages.js'

const { text } = readPage('docs/anti-patterns.md')
/** Real time: the simulations make some millions of calls. */
const LONG = { timeout: 120_000 }

/** Four standard deviations of a count that has this mean: a wrong formula or a wrong window is further off. */
function spread(mean: number): number {
  return 4 * Math.sqrt(mean) + 1
}

it('the page shows the tables that the simulations give, and no others', LONG, () => {
  const tables = TABLES.map((make) => make())
  const marked = [...text.matchAll(/<!-- table: (.*) -->/g)].map((match) => match[1])
  expect(marked).toEqual(tables.map(({ name }) => name))
  expect(fillIn(text, tables)).toBe(text)
})

it('a table that is out of date is noticed', () => {
  const table: Table = { name: 'hosts', columns: ['a'], rows: [['1']] }
  expect(fillIn(text, [table])).not.toBe(text)
  expect(() => fillIn(text, [{ ...table, name: 'none' }])).toThrow("'none'")
})

it('false trips by minimum volume are those of the binomial distribution', LONG, () => {
  for (const minimum of volume.MINIMA) {
    const expected = volume.expected(minimum) * volume.DAYS
    expect(Math.abs(volume.simulate(minimum).trips - expected), String(minimum)).toBeLessThan(spread(expected))
  }
})

it('the chance of a run is the binomial one where only its last call is judged, and adds up where all are', () => {
  const rule = { threshold: 0.5, minimum: 20 }
  for (const p of [0.05, 0.3, 0.6]) {
    expect(fromFresh(rule, 20, p).opens).toBeCloseTo(atLeast(10, 20, p), 12)
    expect(fromFresh({ threshold: 1, minimum: 1 }, 1, p).opens).toBeCloseTo(p, 12)
  }
  expect(fromFresh({ threshold: 0.5, minimum: 1 }, 2, 0.1).opens).toBeCloseTo(0.1 + 0.9 * 0.1, 12)
  expect(fromFresh({ threshold: 0.5, minimum: 1 }, 2, 0.1).calls).toBeCloseTo(1.9, 12)
})

it('fresh windows trip as often as the binomial distribution says', () => {
  const windows = 3000
  for (const threshold of normal.THRESHOLDS) {
    const expected = normal.chanceFresh(threshold) * windows
    const counted = normal.countFresh(threshold, windows) * windows
    expect(Math.abs(counted - expected), String(threshold)).toBeLessThan(spread(expected))
  }
})

it('a window is noticed to be bad when half of it has passed, and never if too few calls fit in', () => {
  for (const windowMs of window.WINDOWS) {
    for (const gapMs of window.GAPS) {
      const noticed = window.noticedAfter(window.ratioOver(windowMs), gapMs)
      const name = `${windowMs} ${gapMs}`
      if (windowMs / gapMs < 20) expect(noticed, name).toBeUndefined()
      // The oldest bucket leaves at once, so up to a tenth of the window is missing.
      else expect(Math.abs((noticed as number) - windowMs * 0.475), name).toBeLessThanOrEqual(windowMs * 0.025 + gapMs)
    }
  }
})

it('an outage gets one probe per cooldown', () => {
  for (const cooldown of COOLDOWNS) expect(outage(cooldown).reached).toBe(expectedCalls(cooldown))
})

it('a half-dead service is closed for as long as the formula says', LONG, () => {
  for (const setting of halfDead.SETTINGS) {
    const expected = halfDead.expectedClosedShare(setting)
    const closes = (expected * halfDead.ILLNESS.forMs) / 400
    const tolerance = (expected * 4) / Math.sqrt(closes)
    expect(Math.abs(halfDead.simulate(setting).closedShare - expected), JSON.stringify(setting)).toBeLessThan(tolerance)
  }
})

it('a breaker around three attempts sees the cube of their error rate', () => {
  for (const errorRate of retries.ERROR_RATES) {
    const { seen } = retries.simulate(errorRate, true)
    // As few calls as let in before a trip are seen; the share is within a few standard deviations of any number above 300.
    expect(Math.abs(seen - errorRate ** retries.REQUESTS.attempts)).toBeLessThan(0.05)
  }
})
