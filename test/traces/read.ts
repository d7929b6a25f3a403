// From paths to traces. Anything unreadable stops the whole replay: a recording that silently did not count would look like success.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import type { Trace } from './types.js'

/** A path or line that cannot be used; the message says which and why. */
export class TraceInputError extends Error {
  override readonly name = 'TraceInputError'
}

/**
 * Reads the given files, and every `*.ndjson` at any depth under the given folders. A file reached twice is read once.
 * @throws TraceInputError on a bad path, a malformed line, or a file or folder without traces.
 */
export function readTraces(paths: readonly string[]): Trace[] {
  const files = new Set(paths.flatMap(filesOf))
  return [...files].flatMap(readFile)
}

function filesOf(path: string): string[] {
  const full = resolve(path)
  if (!attempt(path, () => statSync(full)).isDirectory()) return [full]
  const names = attempt(path, () => readdirSync(full, { recursive: true, encoding: 'utf8' }))
  const files = names.filter((name) => name.endsWith('.ndjson')).sort()
  if (files.length === 0) throw new TraceInputError(`${path}: no *.ndjson file in this folder`)
  return files.map((name) => join(full, name))
}

function readFile(file: string): Trace[] {
  const near = relative('.', file)
  const shown = near.startsWith('..') ? file : near
  const traces: Trace[] = []
  for (const [index, line] of attempt(shown, () => readFileSync(file, 'utf8'))
    .split('\n')
    .entries()) {
    if (line.trim() !== '') traces.push(parseTrace(line, `${shown}:${index + 1}`))
  }
  if (traces.length === 0) throw new TraceInputError(`${shown}: no traces in this file`)
  return traces
}

function parseTrace(line: string, place: string): Trace {
  const value = attempt(`${place}: not JSON`, () => JSON.parse(line) as unknown)
  if (!isRecord(value)) throw new TraceInputError(`${place}: a trace must be a JSON object`)
  const { source, kind, name, config, steps } = value
  return {
    source: text(source, 'source', place),
    kind: text(kind, 'kind', place),
    name: text(name, 'name', place),
    config: isRecord(config) ? config : wrong('config', 'an object', place),
    steps: isListOfLists(steps) ? steps : wrong('steps', 'an array of arrays', place),
    place,
  }
}

function attempt<T>(place: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw new TraceInputError(`${place}: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
  }
}

function text(value: unknown, field: string, place: string): string {
  return typeof value === 'string' && value !== '' ? value : wrong(field, 'a non-empty string', place)
}

function wrong(field: string, expected: string, place: string): never {
  throw new TraceInputError(`${place}: ${field} must be ${expected}`)
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isListOfLists(value: unknown): value is unknown[][] {
  return Array.isArray(value) && value.every((item) => Array.isArray(item))
}
