// Patterns of resource names.
import { PatternFault } from './ast.js'
import { parseGlob } from './glob.js'
import { Program } from './program.js'
import { parseRegex } from './regex.js'

export { MAX_NAME, MAX_PROGRAM, type Program } from './program.js'

/** Length of a pattern, in UTF-16 code units. */
export const MAX_PATTERN = 1000

/** The pattern ready to be matched, or what is wrong with it, e.g. `a group is not closed (at character 3)`. */
export function compilePattern(kind: 'glob' | 'regex', text: string): Program | string {
  if (text.length > MAX_PATTERN) return `it is longer than ${MAX_PATTERN} characters`
  try {
    return new Program(kind === 'glob' ? parseGlob(text) : parseRegex(text))
  } catch (fault) {
    if (fault instanceof PatternFault) return `${fault.message} (at character ${fault.at + 1})`
    throw fault
  }
}
