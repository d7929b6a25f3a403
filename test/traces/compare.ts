// Deep comparison of JSON values that says where they part.

/** The first difference, e.g. `[2].pass: recorded 5, replayed 4`, or `undefined` if there is none. Missing and `undefined` are equal. */
export function difference(recorded: unknown, replayed: unknown, path = ''): string | undefined {
  if (recorded === replayed) return undefined
  if (!isBranch(recorded) || !isBranch(replayed) || Array.isArray(recorded) !== Array.isArray(replayed)) {
    return `${path}: recorded ${show(recorded)}, replayed ${show(replayed)}`
  }
  for (const key of new Set([...Object.keys(recorded), ...Object.keys(replayed)])) {
    const place = Array.isArray(recorded) ? `${path}[${key}]` : `${path}.${key}`
    const found = difference(recorded[key], replayed[key], place)
    if (found !== undefined) return found
  }
  return undefined
}

function isBranch(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

function show(value: unknown): string {
  return JSON.stringify(value) ?? 'nothing'
}
