// Puts the tables into docs/anti-patterns.md: npx tsx docs/simulations/main.ts. Do so when a simulation, or what it shows, has changed.
import { readFileSync, writeFileSync } from 'node:fs'
import { fillIn } from './table.js'
import { TABLES } from './tables.js'

const page = new URL('../anti-patterns.md', import.meta.url)
writeFileSync(
  page,
  fillIn(
    readFileSync(page, 'utf8'),
    TABLES.map((make) => make()),
  ),
)
