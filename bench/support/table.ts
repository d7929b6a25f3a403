// How does a table look on a terminal?

/** Columns are as wide as their widest cell; the first is flush left, numbers are flush right. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, c) => Math.max(title.length, ...rows.map((row) => (row[c] ?? '').length)))
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, c) => (isText(head[c]) ? cell.padEnd(widths[c] ?? 0) : cell.padStart(widths[c] ?? 0)))
      .join('  ')
      .trimEnd()
  return [line(head), widths.map((w) => '-'.repeat(w)).join('  '), ...rows.map(line)].join('\n')
}

const TEXT = new Set(['case', 'against', 'verdict', 'goal'])
function isText(title: string | undefined): boolean {
  return title !== undefined && TEXT.has(title)
}

/** 0.834 -> '0.83', 12.34 -> '12.3', 1234.5 -> '1,235'. */
export function number(value: number | undefined): string {
  if (value === undefined) return ''
  const size = Math.abs(value)
  if (size >= 100) return Math.round(value).toLocaleString('en-US')
  return value.toFixed(size >= 10 ? 1 : 2)
}

/** Bytes: whole numbers, and a zero that is one. */
export function bytes(value: number | undefined): string {
  if (value === undefined) return ''
  const rounded = Math.round(value)
  return (rounded === 0 ? 0 : rounded).toLocaleString('en-US')
}
