// Widths and line breaks.

/** Nothing that is printed is wider, however wide the terminal. */
export const MAX_WIDTH = 120

/** Whether there is room for full column heads and reasons. */
export function isWide(width: number): boolean {
  return width >= MAX_WIDTH
}

/** Breaks prose at spaces; the first line keeps its own spaces, later ones are indented by `indent`. */
export function wrap(text: string, width: number, indent = 0): string[] {
  const limit = Math.min(width, MAX_WIDTH)
  if (text.length <= limit) return [text]
  const wordStart = text.search(/[^ ]/)
  const fits = text.lastIndexOf(' ', limit)
  const end = fits > wordStart ? fits : text.indexOf(' ', limit)
  if (end === -1) return [text]
  return [text.slice(0, end).trimEnd(), ...wrap(' '.repeat(indent) + text.slice(end).trimStart(), width, indent)]
}
