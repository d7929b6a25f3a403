// Reads JSON and notes where everything stands. Takes exactly what JSON.parse takes and makes the same of it, however deep.
// Beyond JSON.parse it complains of keys that stand twice (the last one holds) and tells where the text stops being JSON.
import {
  type Complaint,
  itemPath,
  type Members,
  malformed,
  memberPath,
  Places,
  type Reading,
  repeated,
  setMember,
} from './reading.js'

/** An object or array that is not closed yet. */
interface Open {
  readonly container: object
  readonly members: Members
  /** Name or index of the member that is being read, and where it stands. */
  key: string
  keyAt: number
}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const WORDS = [
  ['true', true],
  ['false', false],
  ['null', null],
] as const

export function readJson(text: string): Reading {
  return new JsonReader(text).read()
}

class SyntaxFault extends Error {
  constructor(
    readonly at: number,
    readonly bound: string,
  ) {
    super(bound)
  }
}

class JsonReader {
  private readonly places = new Places()
  private readonly complaints: Complaint[] = []
  /** What is open, outermost first: a list of our own instead of recursion, so that no depth is too deep. */
  private readonly open: Open[] = []
  private at = 0

  constructor(private readonly text: string) {}

  read(): Reading {
    const { places, complaints } = this
    try {
      return { value: this.document(), complaints, places }
    } catch (error) {
      if (!(error instanceof SyntaxFault)) throw error
      const { at, bound } = error
      return {
        value: undefined,
        complaints: [malformed('JSON', at, bound, `expected ${bound}, got ${this.found(at)}`)],
        places,
      }
    }
  }

  private document(): unknown {
    for (;;) {
      this.skipSpace()
      let value = this.isAhead('{') ? this.begin({}) : this.isAhead('[') ? this.begin([]) : this.scalar()
      if (value === undefined) continue // it has members, which come first
      for (;;) {
        this.skipSpace()
        const around = this.open.at(-1)
        if (around === undefined) {
          if (this.at < this.text.length) throw new SyntaxFault(this.at, 'the end of the text')
          return value
        }
        this.put(around, value)
        const closer = Array.isArray(around.container) ? ']' : '}'
        if (this.take(',')) {
          this.skipSpace()
          this.next(around)
          break
        }
        if (!this.take(closer)) throw new SyntaxFault(this.at, `',' or '${closer}'`)
        value = this.close()
      }
    }
  }

  /** Opens an object or array. Gives it back if it is empty, else reads up to its first value. */
  private begin(container: object): object | undefined {
    this.at++
    this.open.push({ container, members: new Map(), key: '-1', keyAt: this.at })
    this.skipSpace()
    if (this.take(Array.isArray(container) ? ']' : '}')) return this.close()
    this.next(this.open.at(-1) as Open)
    return undefined
  }

  private close(): object {
    const { container, members } = this.open.pop() as Open
    this.places.note(container, members)
    return container
  }

  /** The next value of the innermost container is about to be read: its name, if it has one. */
  private next(around: Open): void {
    around.keyAt = this.at
    if (Array.isArray(around.container)) {
      around.key = String(Number(around.key) + 1)
      return
    }
    if (!this.isAhead('"')) throw new SyntaxFault(this.at, 'a key in double quotes')
    around.key = this.string()
    this.skipSpace()
    if (!this.take(':')) throw new SyntaxFault(this.at, "':'")
  }

  private put({ container, members, key, keyAt }: Open, value: unknown): void {
    if (members.has(key)) this.complaints.push(repeated(this.path(), keyAt, value))
    members.set(key, keyAt)
    setMember(container, key, value)
  }

  private path(): string {
    return this.open.reduce(
      (path, { container, key }) => (Array.isArray(container) ? itemPath(path, Number(key)) : memberPath(path, key)),
      '',
    )
  }

  private scalar(): string | number | boolean | null {
    if (this.isAhead('"')) return this.string()
    for (const [word, value] of WORDS) if (this.take(word)) return value
    NUMBER.lastIndex = this.at
    const [number] = NUMBER.exec(this.text) ?? []
    if (number === undefined) throw new SyntaxFault(this.at, 'a value')
    this.at += number.length
    return Number(number)
  }

  private string(): string {
    const start = this.at++
    for (;;) {
      const code = this.text.charCodeAt(this.at)
      if (code === 0x22) break
      if (Number.isNaN(code)) throw new SyntaxFault(this.at, 'a closing double quote')
      if (code < 0x20) throw new SyntaxFault(this.at, 'no control character')
      this.at += code === 0x5c ? this.escapeLength() : 1
    }
    // What is well-formed is decoded by the engine.
    return JSON.parse(this.text.slice(start, ++this.at)) as string
  }

  private escapeLength(): number {
    const [found] = /^\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/.exec(this.text.slice(this.at, this.at + 6)) ?? []
    if (found === undefined) throw new SyntaxFault(this.at, 'an escape that JSON knows')
    return found.length
  }

  private skipSpace(): void {
    for (;;) {
      const code = this.text.charCodeAt(this.at)
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return
      this.at++
    }
  }

  private isAhead(what: string): boolean {
    return this.text.startsWith(what, this.at)
  }

  private take(what: string): boolean {
    const ahead = this.isAhead(what)
    if (ahead) this.at += what.length
    return ahead
  }

  private found(at: number): string {
    const point = this.text.codePointAt(at)
    return point === undefined ? 'the end of the text' : JSON.stringify(String.fromCodePoint(point))
  }
}
