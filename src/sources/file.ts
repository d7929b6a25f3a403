// Rules from a file or a text, judged as loaded rules are, with the line and column of every fault.
import { isUtf8 } from 'node:buffer'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { show } from '../../rules/index.js'
import { invalidArgument, RuleError } from '../errors.js'
import type { RuleSet } from '../types.js'
import { readJson } from './json.js'
import { loadYaml } from './peer.js'
import { judge } from './reading.js'
import { readYaml } from './yaml.js'

export type RuleFormat = 'json' | 'yaml'

export interface ParseRulesOptions {
  format: RuleFormat
  /** Name of the file, for messages. */
  file?: string | undefined
}

const FORMATS: Readonly<Record<string, RuleFormat>> = { json: 'json', yaml: 'yaml', yml: 'yaml' }

/**
 * Reads a file of rules: UTF-8, JSON (`.json`) or YAML (`.yaml`, `.yml`). Loads nothing: hand the result to `loadRules`.
 *
 * Rejects with the error of the file system, untouched, if the file cannot be read; with a RuleError whose faults have `line` and `column`
 * if it is no file of rules; with TypeError `ERR_INVALID_ARGUMENT` if its name tells no format; with `ERR_PEER_MISSING` if it is YAML
 * and the package `yaml` is not installed.
 */
export async function readRules(path: string | URL): Promise<RuleSet> {
  if (typeof path !== 'string' && !(path instanceof URL)) {
    throw invalidArgument(`readRules takes the path or URL of a file, got ${show(path)}`)
  }
  const file = typeof path === 'string' ? path : fileURLToPath(path)
  const format = FORMATS[/\.(\w+)$/.exec(file)?.[1]?.toLowerCase() ?? '']
  if (format === undefined) {
    const hint = 'the name must end in .json, .yaml or .yml, else use parseRules, which is told the format'
    throw invalidArgument(`${show(file)} may be in any format: ${hint}`)
  }
  return parseRules(decode(await readFile(file), file), { format, file })
}

/**
 * Reads rules from a text. Rejects as {@link readRules} does. A byte order mark at the start is passed over.
 */
export async function parseRules(text: string, options: ParseRulesOptions): Promise<RuleSet> {
  if (typeof text !== 'string') throw invalidArgument(`parseRules takes a text, got ${show(text)}`)
  const { format, file } = options ?? {}
  if (format !== 'json' && format !== 'yaml') {
    throw invalidArgument(`parseRules needs { format: 'json' } or { format: 'yaml' }, got ${show(format)}`)
  }
  const body = text.startsWith('\ufeff') ? text.slice(1) : text
  return judge(body, format === 'json' ? readJson(body) : readYaml(body, await loadYaml()), file)
}

function decode(bytes: Uint8Array, file: string): string {
  const decoder = new TextDecoder()
  if (isUtf8(bytes)) return decoder.decode(bytes)
  let line = 1
  let start = 0
  for (; ; line++) {
    const end = bytes.indexOf(0x0a, start)
    const part = bytes.subarray(start, end < 0 ? undefined : end)
    if (!isUtf8(part)) {
      const bound = 'text in UTF-8'
      const message = `the file must be ${bound}, got other bytes`
      const column = decoder.decode(part).indexOf('\ufffd') + 1
      throw new RuleError([{ path: '', value: undefined, bound, message, line, column }], file)
    }
    start = end + 1
  }
}
