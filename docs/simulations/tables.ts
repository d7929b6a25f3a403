// All tables of docs/anti-patterns.md, in the order of the page.
import { coldStart } from './cold-start.js'
import { cooldown, jitter } from './cooldown.js'
import { growingTraffic } from './growing-traffic.js'
import { halfDead } from './half-dead.js'
import { hosts } from './hosts.js'
import { minimumVolume } from './minimum-volume.js'
import { names } from './names.js'
import { normalErrors } from './normal-errors.js'
import { retries } from './retries.js'
import { slowLimit } from './slow-limit.js'
import type { Table } from './table.js'
import { windowLength } from './window-length.js'

export const TABLES: readonly (() => Table)[] = [
  minimumVolume,
  normalErrors,
  slowLimit,
  growingTraffic,
  windowLength,
  hosts,
  names,
  cooldown,
  halfDead,
  coldStart,
  jitter,
  retries,
]
