// The public surface as text: every export of every entry, as the built declarations have it, and what those mention.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const ROOT = fileURLToPath(new URL('../', import.meta.url))
const HEAD = `What the package offers, as its built declarations have it. npm run check:api compares, npm run check:api -- --update writes it anew.
Private members and comments are left out. "Not exported" are the types that exported ones mention.`

interface Manifest {
  readonly name: string
  readonly exports: Record<string, string | { readonly require: { readonly types: string } }>
}

/** Needs a fresh build. */
export function describePackage(): string {
  const { name, exports } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8')) as Manifest
  const entries = Object.entries(exports).map(([path, target]) => ({
    entry: name + path.slice(1),
    types: typeof target === 'string' ? undefined : ROOT + target.require.types,
  }))
  const files = entries.flatMap(({ types }) => types ?? [])
  const program = ts.createProgram(files, { module: ts.ModuleKind.Node16, strict: true })
  const surface = new Surface(program.getTypeChecker())
  const parts = entries.map(({ entry, types }) => {
    const source = types === undefined ? undefined : program.getSourceFile(types)
    return `== ${entry} ==\n\n${source === undefined ? 'A file.' : surface.ofEntry(entry, source)}`
  })
  return `${[HEAD, ...parts, `== Not exported ==\n\n${surface.ofOthers()}`].join('\n\n')}\n`
}

/** Collects the declarations of exports, and of what they mention. */
class Surface {
  private readonly printer = ts.createPrinter({ removeComments: true })
  /** Where each symbol is exported first. */
  private readonly homes = new Map<ts.Symbol, string>()
  private readonly mentioned = new Set<ts.Symbol>()

  constructor(private readonly checker: ts.TypeChecker) {}

  ofEntry(entry: string, source: ts.SourceFile): string {
    const module = this.checker.getSymbolAtLocation(source)
    if (module === undefined) throw new Error(`${source.fileName} exports nothing`)
    const named = this.checker.getExportsOfModule(module).map((symbol) => [symbol.name, this.origin(symbol)] as const)
    const texts = named.map(([name, symbol]) => {
      const home = this.homes.get(symbol)
      if (home === undefined) this.homes.set(symbol, entry)
      return [name, home === undefined ? this.declare(symbol, name) : `${name}: as in ${home}`] as const
    })
    return inOrder(texts)
  }

  ofOthers(): string {
    // Those that are mentioned by the mentioned ones join the set while it is walked.
    const texts: [string, string][] = []
    for (const symbol of this.mentioned) {
      if (!this.homes.has(symbol)) texts.push([symbol.name, this.declare(symbol, symbol.name)])
    }
    return inOrder(texts)
  }

  private origin(symbol: ts.Symbol): ts.Symbol {
    return symbol.flags & ts.SymbolFlags.Alias ? this.checker.getAliasedSymbol(symbol) : symbol
  }

  private declare(symbol: ts.Symbol, name: string): string {
    const texts = (symbol.declarations ?? []).map((declaration) => {
      this.note(declaration)
      const statement = ts.isVariableDeclaration(declaration) ? declaration.parent.parent : declaration
      const text = this.printer.printNode(ts.EmitHint.Unspecified, statement, declaration.getSourceFile())
      return text
        .replace(/^declare /, '')
        .replace(/^ +(private |#private).*\n/gm, '')
        .replace(new RegExp(`^((?:abstract )?\\w+ )${symbol.name.replaceAll('$', '\\$')}(?![\\w$])`), `$1${name}`)
    })
    return texts.join('\n')
  }

  /** Notes what a declaration mentions of ours. */
  private note(node: ts.Node): void {
    if (ts.isIdentifier(node)) {
      const symbol = this.checker.getSymbolAtLocation(node)
      const origin = symbol && this.origin(symbol)
      if (origin?.declarations?.some(isTopLevelOfOurs)) this.mentioned.add(origin)
    }
    ts.forEachChild(node, (child) => this.note(child))
  }
}

function isTopLevelOfOurs(declaration: ts.Declaration): boolean {
  const statement = ts.isVariableDeclaration(declaration) ? declaration.parent.parent : declaration
  return ts.isSourceFile(statement.parent) && statement.parent.fileName.startsWith(`${ROOT}dist/`)
}

function inOrder(texts: (readonly [string, string])[]): string {
  return texts
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, text]) => text)
    .join('\n\n')
}
