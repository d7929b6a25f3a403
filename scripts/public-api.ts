// Is docs/public-api.txt what the package offers? So every change of the public surface shows in review. `-- --update` writes it.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { lineDiff } from './line-diff.js'
import { describePackage } from './public-surface.js'

const FILE = new URL('../docs/public-api.txt', import.meta.url)

const now = describePackage()
const before = existsSync(FILE) ? readFileSync(FILE, 'utf8') : ''
if (process.argv.includes('--update')) {
  writeFileSync(FILE, now)
} else if (now !== before) {
  console.error(lineDiff(before.split('\n'), now.split('\n')).join('\n'))
  console.error(
    '\nThis is what the package offers and docs/public-api.txt does not say. If it is meant: npm run check:api -- --update',
  )
  process.exitCode = 1
}
