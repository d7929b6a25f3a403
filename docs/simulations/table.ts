// A table of a page: what a simulation returns, and its text in Markdown.

export interface Table {
  /** Name by which the page marks the place of the table. */
  readonly name: string
  readonly columns: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

export function toMarkdown({ columns, rows }: Table): string {
  const widths = columns.map((name, i) => Math.max(name.length, ...rows.map((row) => row[i]?.length ?? 0)))
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, i) => cell.padEnd(widths[i] as number)).join(' | ')} |`
  return [line(columns), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n')
}

/** `12,345`; below 100 as many digits as it takes to see something. */
export function number(x: number): string {
  if (Number.isInteger(x) || x >= 100) return Math.round(x).toLocaleString('en-US')
  return x >= 1e-3 ? String(Number(x.toPrecision(2))) : x.toExponential(0)
}

/** A share of 1 as percent. */
export function percent(share: number): string {
  return `${number(share * 100)} %`
}

/** `800 ms`, `4 s`, `5 min`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${number(ms)} ms`
  return ms < 120_000 ? `${number(ms / 1000)} s` : `${number(ms / 60_000)} min`
}

/** The text of a page with its tables put in, each after its marker `<!-- table: NAME -->`, in place of the table that stands there. */
export function fillIn(page: string, tables: readonly Table[]): string {
  let filled = page
  for (const table of tables) {
    const marker = `<!-- table: ${table.name} -->\n\n`
    const at = filled.indexOf(marker) + marker.length
    if (at < marker.length) throw new Error(`the page has no place for the table '${table.name}'`)
    const after = filled.indexOf('\n\n', at)
    filled = filled.slice(0, at) + toMarkdown(table) + filled.slice(after)
  }
  return filled
}
