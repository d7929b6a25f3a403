// Colours, or none.
import type { StateName } from 'leapguard'
import type { Health } from './phases.js'

const CODES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, magenta: 35, cyan: 36 } as const
export type Colour = keyof typeof CODES
export type Paint = (colour: Colour, text: string) => string

export function painter(colour: boolean): Paint {
  return colour ? (name, text) => `\u001b[${CODES[name]}m${text}\u001b[0m` : (_, text) => text
}

export const HEALTH_COLOURS: Readonly<Record<Health, Colour>> = {
  healthy: 'green',
  failing: 'red',
  slow: 'yellow',
  hung: 'magenta',
}

export const STATE_COLOURS: Readonly<Record<StateName, Colour>> = {
  closed: 'green',
  'half-open': 'yellow',
  open: 'red',
}
