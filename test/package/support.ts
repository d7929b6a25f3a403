// What the tests of the packed package share: where things are, and how a consumer is run.
import { execFileSync } from 'node:child_process'
import { copyFileSync, cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../../', import.meta.url))

export const consumer = (name: string): string => fileURLToPath(new URL(`consumers/${name}`, import.meta.url))

/** Copies a consumer beside the installed package, runs it by Node.js, and gives the JSON that it prints. */
export function runConsumer(project: string, name: string, ...args: string[]): unknown {
  copyFileSync(consumer(name), join(project, name))
  return runFile(join(project, name), ...args)
}

export function runFile(file: string, ...args: string[]): unknown {
  return JSON.parse(node(dirname(file), file, ...args))
}

/** Without what the test runner put into the environment. */
export function node(cwd: string, ...args: string[]): string {
  const env = { ...process.env }
  delete env.NODE_OPTIONS
  return execFileSync(process.execPath, args, { cwd, encoding: 'utf8', env, stdio: ['ignore', 'pipe', 'pipe'] })
}

/** Copies an installed package into a package that depends on it, as npm does for versions that cannot be shared. Gives the copy's folder. */
export function nest(project: string, dependent: string): string {
  const home = join(project, 'node_modules', dependent)
  const copy = join(home, 'node_modules', 'leapguard')
  mkdirSync(dirname(copy), { recursive: true })
  cpSync(join(project, 'node_modules', 'leapguard'), copy, { recursive: true })
  writeFileSync(
    join(home, 'package.json'),
    JSON.stringify({ name: basename(home), version: '1.0.0', main: 'index.cjs' }),
  )
  writeFileSync(
    join(home, 'index.cjs'),
    `module.exports = { ...require('leapguard'), ...require('leapguard/testing') }\n`,
  )
  return copy
}
