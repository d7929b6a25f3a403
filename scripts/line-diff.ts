// What changed between two texts, line by line, with a little around it.

/** Lines of `after` marked `+`, of `before` marked `-`, and up to `around` unchanged ones beside them. Nothing if they are equal. */
export function lineDiff(before: readonly string[], after: readonly string[], around = 3): string[] {
  // common[i][j]: the longest run of lines, in order, that before[i..] and after[j..] have in common.
  const common = Array.from({ length: before.length + 1 }, () => new Uint16Array(after.length + 1))
  const at = (i: number, j: number) => common[i]?.[j] ?? 0
  for (let i = before.length - 1; i >= 0; i--) {
    const row = common[i] as Uint16Array
    for (let j = after.length - 1; j >= 0; j--) {
      row[j] = before[i] === after[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
    }
  }
  const lines: string[] = []
  for (let i = 0, j = 0; i < before.length || j < after.length; ) {
    if (i < before.length && before[i] === after[j]) {
      lines.push(`  ${before[i++]}`)
      j++
    } else if (j >= after.length || (i < before.length && at(i + 1, j) >= at(i, j + 1))) {
      lines.push(`- ${before[i++]}`)
    } else {
      lines.push(`+ ${after[j++]}`)
    }
  }
  const changed = lines.map((line) => !line.startsWith(' '))
  const near = (i: number) => changed.slice(Math.max(0, i - around), i + around + 1).includes(true)
  return lines.flatMap((line, i) => (near(i) ? line : i > 0 && near(i - 1) ? '  ...' : []))
}
