// From a pattern to a small program, and running it over a name: every instruction is looked at no more than once per character, so
// the work is bounded by size times length whatever the pattern says. (Thompson's simulation; nothing is ever tried twice.)
import { Assertion, holds, type Node, PatternFault, type Ranges } from './ast.js'

/** Instructions a pattern may come to; a counted repetition is written out. */
export const MAX_PROGRAM = 2000
/** Longer names match no pattern. */
export const MAX_NAME = 2048

const SET = 0
const FORK = 1
const JUMP = 2
const ASSERT = 3
const MATCH = 4

export class Program {
  /** Instructions looked at by the last `test`. */
  steps = 0
  private readonly ops: number[] = []
  /** SET: index into `sets`. FORK, JUMP: a target. ASSERT: which. */
  private readonly args: number[] = []
  /** FORK: the other target. */
  private readonly others: number[] = []
  private readonly sets: Ranges[] = []
  // Working space of `test`: instructions of this character and of the next, and the character at which each was last put on a list.
  private here = new Int32Array(0)
  private next = new Int32Array(0)
  private readonly listedAt: Int32Array

  /** @throws PatternFault if it would be larger than {@link MAX_PROGRAM}. */
  constructor(node: Node) {
    this.write(node)
    this.emit(MATCH, 0)
    this.here = new Int32Array(this.ops.length)
    this.next = new Int32Array(this.ops.length)
    this.listedAt = new Int32Array(this.ops.length)
  }

  get size(): number {
    return this.ops.length
  }

  /** Is the pattern found anywhere in the name? */
  test(name: string): boolean {
    this.steps = 0
    if (name.length > MAX_NAME) return false
    this.listedAt.fill(-1)
    let count = 0
    let previous = -1
    for (let at = 0; ; ) {
      const character = at < name.length ? (name.codePointAt(at) as number) : -1
      count = this.follow(0, this.here, count, at, previous, character)
      if (count < 0) return true
      if (character < 0) return false
      const after = at + (character > 0xffff ? 2 : 1)
      const following = after < name.length ? (name.codePointAt(after) as number) : -1
      let nextCount = 0
      for (let i = 0; i < count; i++) {
        const pc = this.here[i] as number
        if (!holds(this.sets[this.args[pc] as number] as Ranges, character)) continue
        nextCount = this.follow(pc + 1, this.next, nextCount, after, character, following)
        if (nextCount < 0) return true
      }
      const spare = this.here
      this.here = this.next
      this.next = spare
      count = nextCount
      previous = character
      at = after
    }
  }

  /** Puts every SET that can be reached from `start` without reading a character on the list; -1 if the end can be reached. */
  private follow(start: number, list: Int32Array, listed: number, at: number, before: number, after: number): number {
    let pc = start
    let count = listed
    for (;;) {
      if (this.listedAt[pc] === at) return count
      this.listedAt[pc] = at
      this.steps++
      switch (this.ops[pc]) {
        case MATCH:
          return -1
        case JUMP:
          pc = this.args[pc] as number
          continue
        case FORK:
          count = this.follow(this.args[pc] as number, list, count, at, before, after)
          if (count < 0) return count
          pc = this.others[pc] as number
          continue
        case ASSERT:
          if (!isTrue(this.args[pc] as Assertion, before, after)) return count
          pc++
          continue
        default:
          list[count] = pc
          return count + 1
      }
    }
  }

  private write(node: Node): void {
    switch (node.kind) {
      case 'set':
        this.emit(SET, this.sets.push(node.ranges) - 1)
        return
      case 'assert':
        this.emit(ASSERT, node.assertion)
        return
      case 'all':
        for (const part of node.of) this.write(part)
        return
      case 'any':
        this.writeChoice(node.of)
        return
      case 'repeat':
        this.writeRepeat(node.of, node.min, node.max)
    }
  }

  private writeChoice(choices: readonly Node[]): void {
    const ends: number[] = []
    choices.forEach((choice, i) => {
      if (i === choices.length - 1) {
        this.write(choice)
        return
      }
      const fork = this.emit(FORK, this.ops.length + 1)
      this.write(choice)
      ends.push(this.emit(JUMP, 0))
      this.others[fork] = this.ops.length
    })
    for (const end of ends) this.args[end] = this.ops.length
  }

  private writeRepeat(of: Node, min: number, max: number): void {
    for (let n = 0; n < min; n++) {
      const before = this.ops.length
      this.write(of)
      if (this.ops.length === before) return // nothing, however often
    }
    if (max === Number.POSITIVE_INFINITY) {
      const fork = this.emit(FORK, this.ops.length + 1)
      this.write(of)
      this.emit(JUMP, fork)
      this.others[fork] = this.ops.length
      return
    }
    const forks: number[] = []
    for (let n = min; n < max; n++) {
      forks.push(this.emit(FORK, this.ops.length + 1))
      this.write(of)
    }
    for (const fork of forks) this.others[fork] = this.ops.length
  }

  private emit(op: number, arg: number): number {
    if (this.ops.length === MAX_PROGRAM) {
      throw new PatternFault(
        0,
        `the pattern is too large: written out it comes to more than ${MAX_PROGRAM} instructions`,
      )
    }
    this.args.push(arg)
    this.others.push(0)
    return this.ops.push(op) - 1
  }
}

/** `before` and `after` are the characters around the place, -1 at either end of the name. */
function isTrue(assertion: Assertion, before: number, after: number): boolean {
  switch (assertion) {
    case Assertion.START:
      return before < 0
    case Assertion.END:
      return after < 0
    default:
      return (isWord(before) !== isWord(after)) === (assertion === Assertion.WORD_EDGE)
  }
}

/** The characters of `\w`: letters of ASCII, digits, underscore. */
function isWord(c: number): boolean {
  return (c >= 97 && c <= 122) || (c >= 65 && c <= 90) || (c >= 48 && c <= 57) || c === 95
}
