// On what machine, engine and versions were these numbers taken?
import { readFileSync } from 'node:fs'
import { cpus } from 'node:os'

export interface Machine {
  readonly node: string
  readonly v8: string
  readonly cpu: string
  readonly cores: number
  readonly date: string
  readonly packages: Record<string, string>
}

export function machine(): Machine {
  return {
    node: process.version,
    v8: process.versions.v8,
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    date: new Date().toISOString(),
    packages: { leapguard: versionOf('../../'), benchmark: versionOf('../../node_modules/benchmark/') },
  }
}

export function describe(m: Machine): string {
  return `Node ${m.node}, V8 ${m.v8}, ${m.cores} x ${m.cpu}, ${m.date.slice(0, 10)}`
}

function versionOf(folder: string): string {
  const file = new URL(`${folder}package.json`, import.meta.url)
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
}
