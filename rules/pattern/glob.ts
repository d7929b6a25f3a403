// Globs over whole names: `*` and `?` stop at a slash, `**` does not.
import { ANYTHING, Assertion, complement, type Node, one, PatternFault, type Ranges, tidy } from './ast.js'

const SLASH = 47
const NO_SLASH = complement([SLASH, SLASH])
const START: Node = { kind: 'assert', assertion: Assertion.START }
const END: Node = { kind: 'assert', assertion: Assertion.END }

/** @throws PatternFault where the text is no glob. */
export function parseGlob(text: string): Node {
  return { kind: 'all', of: [START, new Parser(text).parse(), END] }
}

class Parser {
  private at = 0
  private readonly text: string

  constructor(text: string) {
    this.text = text
  }

  parse(): Node {
    return this.sequence('')
  }

  /** Up to the end of the text, or one of `stops`. */
  private sequence(stops: string): Node {
    const parts: Node[] = []
    while (this.at < this.text.length && !stops.includes(this.text[this.at] as string)) parts.push(this.part())
    return { kind: 'all', of: parts }
  }

  private part(): Node {
    const from = this.at
    const c = this.text.codePointAt(from) as number
    this.at += c > 0xffff ? 2 : 1
    switch (this.text[from]) {
      case '*':
        if (this.text[this.at] !== '*') return anyNumberOf(NO_SLASH)
        this.at++
        return anyNumberOf(ANYTHING)
      case '?':
        return { kind: 'set', ranges: NO_SLASH }
      case '[':
        return this.characterClass(from)
      case '{':
        return this.choices(from)
      case '\\':
        return one(this.escaped(from))
      default:
        return one(c)
    }
  }

  private choices(from: number): Node {
    const of = [this.sequence(',}')]
    while (this.text[this.at] === ',') {
      this.at++
      of.push(this.sequence(',}'))
    }
    if (this.text[this.at] !== '}') throw new PatternFault(from, "a '{' is not closed")
    this.at++
    // Shells take `{id}` for itself, others for `id`; in names it is most likely the placeholder of a route.
    if (of.length === 1)
      throw new PatternFault(from, "alternatives need a comma between them; a '{' itself is written \\{")
    return { kind: 'any', of }
  }

  /** `[a-c]`, `[!a-c]`, `[^a-c]`. A negated one does not match a slash. */
  private characterClass(from: number): Node {
    const negated = this.text[this.at] === '!' || this.text[this.at] === '^'
    if (negated) this.at++
    const ranges: number[] = []
    do {
      const first = this.classCharacter(from)
      let last = first
      if (this.text[this.at] === '-' && this.text[this.at + 1] !== ']') {
        const dash = this.at++
        last = this.classCharacter(from)
        if (first > last) throw new PatternFault(dash, 'a range of characters is out of order')
      }
      ranges.push(first, last)
    } while (this.text[this.at] !== ']')
    this.at++
    return { kind: 'set', ranges: negated ? complement(tidy([...ranges, SLASH, SLASH])) : tidy(ranges) }
  }

  private classCharacter(from: number): number {
    const at = this.at
    const c = this.text.codePointAt(at)
    if (c === undefined) throw new PatternFault(from, "a '[' is not closed")
    this.at += c > 0xffff ? 2 : 1
    return this.text[at] === '\\' ? this.escaped(at) : c
  }

  /** The character after a backslash stands for itself. */
  private escaped(from: number): number {
    const c = this.text.codePointAt(this.at)
    if (c === undefined) throw new PatternFault(from, 'a backslash with nothing after it')
    this.at += c > 0xffff ? 2 : 1
    return c
  }
}

function anyNumberOf(ranges: Ranges): Node {
  return { kind: 'repeat', of: { kind: 'set', ranges }, min: 0, max: Number.POSITIVE_INFINITY }
}
