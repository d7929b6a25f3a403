// Runs one example in this process as a reader would run it in a file of his own, and tells where on the page it failed.
import { createRequire, SourceMap } from 'node:module'
import { runInThisContext } from 'node:vm'
import ts from 'typescript'
import { vi } from 'vitest'
import type { Block } from './pages.js'

const nodeRequire = createRequire(import.meta.url)
const DEFAULT_GUARD = Symbol.for('leapguard.default-guards')

type Example = (require: (name: string) => unknown, exports: object) => Promise<void>

/** Each example gets a package of its own, default guard included: it stands for a process. */
export async function runBlock(block: Block): Promise<void> {
  Reflect.deleteProperty(globalThis, DEFAULT_GUARD)
  vi.resetModules()
  const packages: Record<string, unknown> = {
    leapguard: await import('leapguard'),
    'leapguard/testing': await import('leapguard/testing'),
  }
  const { outputText, sourceMapText } = ts.transpileModule(block.code, {
    compilerOptions: {
      module: ts.ModuleKind.CommonJS,
      target: ts.ScriptTarget.ES2022,
      esModuleInterop: true,
      sourceMap: true,
    },
  })
  const filename = `example of ${block.page}`
  const example: Example = runInThisContext(`(async (require, exports) => {${outputText}\n})`, { filename })
  try {
    await example((name) => packages[name] ?? nodeRequire(name), {})
  } catch (error) {
    const line = block.line + lineOf(error, filename, sourceMapText as string)
    throw new Error(`${block.page}:${line}: ${error instanceof Error ? error.message : error}`, { cause: error })
  }
}

/** Line within the block, from 0; that of the innermost frame that lies in it. */
function lineOf(error: unknown, filename: string, sourceMap: string): number {
  const stack = error instanceof Error ? (error.stack ?? '') : ''
  const at = stack.indexOf(`${filename}:`)
  if (at < 0) return 0
  const [line = 1, column = 1] = stack
    .slice(at + filename.length + 1)
    .split(/[:)\n]/)
    .map(Number)
  const entry = new SourceMap(JSON.parse(sourceMap)).findEntry(line - 1, column - 1)
  return 'originalLine' in entry ? entry.originalLine : 0
}
