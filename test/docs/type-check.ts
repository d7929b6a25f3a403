// Type-checks all examples at once, under the settings of the repository.
import { join } from 'node:path'
import ts from 'typescript'
import { type Block, ROOT } from './pages.js'

/** Complaints of the compiler, as `page:line: message`. */
export function typeCheck(blocks: readonly Block[]): string[] {
  const config = ts.readConfigFile(join(ROOT, 'tsconfig.json'), ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent({ ...config.config, include: [] }, ts.sys, ROOT)
  const sources = new Map(blocks.map((block) => [join(ROOT, `${block.page}.${block.line}.ts`), block]))

  const host = ts.createCompilerHost(options)
  const { readFile, fileExists } = host
  // Empty lines on top make the compiler's line numbers those of the page.
  host.readFile = (name) => {
    const block = sources.get(name)
    return block === undefined ? readFile(name) : '\n'.repeat(block.line - 1) + block.code
  }
  host.fileExists = (name) => sources.has(name) || fileExists(name)
  host.getSourceFile = (name, languageVersion) => {
    const text = host.readFile(name)
    return text === undefined ? undefined : ts.createSourceFile(name, text, languageVersion)
  }

  const program = ts.createProgram([...sources.keys()], options, host)
  return [...sources].flatMap(([name, { page }]) => {
    const file = program.getSourceFile(name)
    return [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)].map((diagnostic) => {
      const { line } = ts.getLineAndCharacterOfPosition(file as ts.SourceFile, diagnostic.start ?? 0)
      return `${page}:${line + 1}: ${ts.flattenDiagnosticMessageText(diagnostic.messageText, ' ')}`
    })
  })
}
