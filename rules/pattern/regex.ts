// Regular expressions as `new RegExp(text, 'u')` reads them, but for what cannot be matched in linear time: lookaround and
// backreferences. Property escapes (\p{...}) are left out too.
import { Assertion, complement, LAST_CODE_POINT, type Node, one, PatternFault, type Ranges, tidy } from './ast.js'

const DIGITS: Ranges = [48, 57]
const WORD: Ranges = [48, 57, 65, 90, 95, 95, 97, 122]
const SPACE: Ranges = [
  9, 13, 32, 32, 0xa0, 0xa0, 0x1680, 0x1680, 0x2000, 0x200a, 0x2028, 0x2029, 0x202f, 0x202f, 0x205f, 0x205f, 0x3000,
  0x3000, 0xfeff, 0xfeff,
]
const NO_LINE_END = complement([10, 10, 13, 13, 0x2028, 0x2029])
const CLASS_ESCAPES: ReadonlyMap<string, Ranges> = new Map([
  ['d', DIGITS],
  ['D', complement(DIGITS)],
  ['w', WORD],
  ['W', complement(WORD)],
  ['s', SPACE],
  ['S', complement(SPACE)],
])
const CONTROLS: ReadonlyMap<string, number> = new Map([
  ['t', 9],
  ['n', 10],
  ['v', 11],
  ['f', 12],
  ['r', 13],
])
const SYNTAX = '^$\\.*+?()[]{}|/'
const INFINITY = Number.POSITIVE_INFINITY

/** @throws PatternFault where the text is no such expression. */
export function parseRegex(text: string): Node {
  return new Parser(text).parse()
}

class Parser {
  private at = 0
  private readonly names = new Set<string>()
  private readonly text: string

  constructor(text: string) {
    this.text = text
  }

  parse(): Node {
    const node = this.alternatives()
    if (this.at < this.text.length) this.fail(`unmatched '${this.peek()}'`)
    return node
  }

  private alternatives(): Node {
    const choices = [this.sequence()]
    while (this.accept('|')) choices.push(this.sequence())
    return choices.length === 1 ? (choices[0] as Node) : { kind: 'any', of: choices }
  }

  private sequence(): Node {
    const parts: Node[] = []
    while (this.at < this.text.length && !'|)'.includes(this.peek())) parts.push(this.term())
    return parts.length === 1 ? (parts[0] as Node) : { kind: 'all', of: parts }
  }

  private term(): Node {
    const from = this.at
    const node = this.atom()
    if (!this.isQuantifier()) return node
    if (node.kind === 'assert') this.fail('an assertion cannot be repeated')
    const [min, max] = this.quantifier()
    this.accept('?') // lazy or greedy, what is found is the same
    if (this.isQuantifier()) this.fail('nothing to repeat')
    if (min > max) this.fail('the numbers of a repetition are out of order', from)
    return { kind: 'repeat', of: node, min, max }
  }

  private atom(): Node {
    const c = this.peek()
    switch (c) {
      case '^':
        this.at++
        return { kind: 'assert', assertion: Assertion.START }
      case '$':
        this.at++
        return { kind: 'assert', assertion: Assertion.END }
      case '.':
        this.at++
        return { kind: 'set', ranges: NO_LINE_END }
      case '(':
        return this.group()
      case '[':
        return this.characterClass()
      case '\\':
        return this.escape()
      case '*':
      case '+':
      case '?':
        return this.fail('nothing to repeat')
      case '{':
      case '}':
      case ']':
        return this.fail(`a lone '${c}' must be escaped`)
      default:
        return one(this.take())
    }
  }

  private group(): Node {
    const from = this.at
    this.at++
    if (this.accept('?')) {
      if (this.startsWith('=') || this.startsWith('!') || this.startsWith('<=') || this.startsWith('<!')) {
        this.fail('lookahead and lookbehind are not supported', from)
      }
      if (this.accept('<')) this.groupName()
      else if (!this.accept(':')) this.fail("only '(?:' and '(?<name>' groups are supported", from)
    }
    const node = this.alternatives()
    if (!this.accept(')')) this.fail('a group is not closed', from)
    // A choice or sequence of its own, so that a quantifier takes all of it and an assertion in it may be repeated.
    return { kind: 'all', of: [node] }
  }

  private groupName(): void {
    const from = this.at
    const end = this.text.indexOf('>', from)
    const name = end < 0 ? '' : this.text.slice(from, end)
    if (!/^[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*$/u.test(name)) this.fail('a group has a bad name', from)
    if (this.names.has(name)) this.fail(`two groups are named '${name}'`, from)
    this.names.add(name)
    this.at = end + 1
  }

  private isQuantifier(): boolean {
    return '*+?{'.includes(this.peek() || ' ')
  }

  private quantifier(): [min: number, max: number] {
    if (this.accept('*')) return [0, INFINITY]
    if (this.accept('+')) return [1, INFINITY]
    if (this.accept('?')) return [0, 1]
    const found = /^\{(\d+)(,(\d*))?\}/.exec(this.text.slice(this.at))
    if (found === null) return this.fail('an incomplete repetition')
    this.at += found[0].length
    const min = Number(found[1])
    return [min, found[2] === undefined ? min : found[3] === '' ? INFINITY : Number(found[3])]
  }

  private characterClass(): Node {
    const from = this.at
    this.at++
    const negated = this.accept('^')
    const ranges: number[] = []
    while (!this.accept(']')) {
      if (this.at >= this.text.length) this.fail('a character class is not closed', from)
      const start = this.at
      const first = this.classAtom()
      if (!this.startsWith('-') || this.text[this.at + 1] === ']') {
        ranges.push(...first)
        continue
      }
      this.at++
      if (this.at >= this.text.length) this.fail('a character class is not closed', from)
      const last = this.classAtom()
      if (!isSingle(first) || !isSingle(last)) this.fail('a range between classes of characters', start)
      if ((first[0] as number) > (last[0] as number)) this.fail('a range of characters is out of order', start)
      ranges.push(first[0] as number, last[0] as number)
    }
    const tidied = tidy(ranges)
    return { kind: 'set', ranges: negated ? complement(tidied) : tidied }
  }

  private classAtom(): Ranges {
    if (!this.startsWith('\\')) {
      const c = this.take()
      return [c, c]
    }
    const escaped = this.text[this.at + 1] ?? ''
    if (escaped === 'b' || escaped === '-') {
      this.at += 2
      const c = escaped === 'b' ? 8 : 45
      return [c, c]
    }
    const node = this.escape()
    return node.kind === 'set' ? node.ranges : this.fail('this escape has no place in a character class', this.at - 2)
  }

  private escape(): Node {
    const from = this.at
    const c = this.text[from + 1] ?? ''
    const named = CLASS_ESCAPES.get(c)
    if (named !== undefined) {
      this.at += 2
      return { kind: 'set', ranges: named }
    }
    if (c === 'b' || c === 'B') {
      this.at += 2
      return { kind: 'assert', assertion: c === 'b' ? Assertion.WORD_EDGE : Assertion.NO_WORD_EDGE }
    }
    if (/^[1-9k]$/.test(c)) this.fail('backreferences are not supported')
    if (/^[pP]$/.test(c)) this.fail('property escapes are not supported')
    const control = CONTROLS.get(c)
    if (control !== undefined || (c !== '' && SYNTAX.includes(c))) {
      this.at += 2
      return one(control ?? c.charCodeAt(0))
    }
    return one(this.codeEscape())
  }

  /** `\0`, `\cX`, `\xHH`, `\uHHHH` (pairs of surrogates make one character) and `\u{...}`. */
  private codeEscape(): number {
    const rest = this.text.slice(this.at)
    const found =
      /^\\(?:0(?!\d)|c([A-Za-z])|x([\dA-Fa-f]{2})|u\{([\dA-Fa-f]+)\}|u([Dd][89ABab][\dA-Fa-f]{2})\\u([Dd][C-Fc-f][\dA-Fa-f]{2})|u([\dA-Fa-f]{4}))/.exec(
        rest,
      )
    if (found === null) return this.fail('a bad escape')
    const [whole, control, hex, braced, high, low, plain] = found
    let code = 0
    if (control !== undefined) code = control.charCodeAt(0) % 32
    else if (high !== undefined) {
      code = String.fromCharCode(Number.parseInt(high, 16), Number.parseInt(low as string, 16)).codePointAt(0) as number
    } else code = Number.parseInt(hex ?? braced ?? plain ?? '0', 16)
    if (code > LAST_CODE_POINT) this.fail('a character past the last one')
    this.at += whole.length
    return code
  }

  private peek(): string {
    return this.text[this.at] ?? ''
  }

  /** The character here, as a code point. */
  private take(): number {
    const c = this.text.codePointAt(this.at) as number
    this.at += c > 0xffff ? 2 : 1
    return c
  }

  private startsWith(what: string): boolean {
    return this.text.startsWith(what, this.at)
  }

  private accept(what: string): boolean {
    if (!this.startsWith(what)) return false
    this.at += what.length
    return true
  }

  private fail(reason: string, at = this.at): never {
    throw new PatternFault(at, reason)
  }
}

function isSingle(ranges: Ranges): boolean {
  return ranges.length === 2 && ranges[0] === ranges[1]
}
