// Writes the entry files of dist. The bundle, core.cjs, holds one namespace per entry; each entry is a list of names out of it. The ESM
// entry takes them from the CommonJS one, so that a process has one copy of every class and of all state whichever way it loads us.
// The schema of rule files is put beside them.
import { copyFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

const DIST = fileURLToPath(new URL('../dist/', import.meta.url))
const core = createRequire(import.meta.url)(`${DIST}core.cjs`) as Record<string, object>

for (const [entry, namespace] of Object.entries(core)) {
  const names = Object.keys(namespace).sort()
  writeFileSync(`${DIST}${entry}.cjs`, commonJs(entry, names))
  writeFileSync(`${DIST}${entry}.js`, esModule(entry, names))
  writeFileSync(`${DIST}${entry}.d.ts`, `export * from './${entry}.cjs'\n`)
}

copyFileSync(fileURLToPath(new URL('../rules/schema.json', import.meta.url)), `${DIST}schema.json`)

/** Plain assignments: Node and bundlers find the named exports of CommonJS by reading for these, and a property is read faster than a getter. */
function commonJs(entry: string, names: readonly string[]): string {
  return [
    `'use strict'`,
    `Object.defineProperty(exports, '__esModule', { value: true })`,
    `const { ${entry} } = require('./core.cjs')`,
    ...names.map((name) => `exports.${name} = ${entry}.${name}`),
    '',
  ].join('\n')
}

function esModule(entry: string, names: readonly string[]): string {
  return ['export {', ...names.map((name) => `  ${name},`), `} from './${entry}.cjs'`, ''].join('\n')
}
