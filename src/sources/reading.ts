// What a text says and where it says it: what a reader of a format gives, and the judgement of it as rules.
import { type Fault, show } from '../../rules/index.js'
import { RuleError } from '../errors.js'
import { checkRuleSet } from '../rule-set.js'
import type { RuleSet } from '../types.js'

/** A fault, and the offset in the text of what it is about. */
export interface Complaint {
  readonly fault: Fault
  readonly at: number
}

/** What a reader made of a text. */
export interface Reading {
  /** Plain JSON values; `undefined` stands where something could not be read, which is among the complaints. */
  readonly value: unknown
  readonly complaints: readonly Complaint[]
  readonly places: Places
}

/** Offsets of the members of one object (of their keys) or array (of the items, by index). */
export type Members = Map<string, number>

/** Where each member of each object and array stands in the text. */
export class Places {
  private readonly members = new Map<unknown, Members>()

  note(container: object, members: Members): void {
    this.members.set(container, members)
  }

  of(container: unknown): Members | undefined {
    return this.members.get(container)
  }

  /**
   * Offset of what a path like `degrade[0].threshold` names within `root`; of the nearest thing around it if it is absent.
   * A key may hold any character, so the longest name that is there is taken.
   */
  find(root: unknown, rootAt: number, path: string): number {
    let value = root
    let at = rootAt
    let rest = path
    while (rest !== '') {
      const members = this.members.get(value)
      const name = members === undefined ? undefined : firstName(members, rest, value === root, Array.isArray(value))
      if (members === undefined || name === undefined) return at
      at = members.get(name.key) as number
      value = (value as Record<string, unknown>)[name.key]
      rest = name.rest
    }
    return at
  }
}

function firstName(members: Members, path: string, atRoot: boolean, isArray: boolean) {
  if (isArray) {
    const [head, index] = /^\[(\d+)\]/.exec(path) ?? []
    return index === undefined || !members.has(index) ? undefined : { key: index, rest: path.slice(head?.length) }
  }
  const from = atRoot ? 0 : 1 // the dot
  for (let end = path.length; end >= from; end = lastBoundary(path, end)) {
    const key = path.slice(from, end)
    if (members.has(key)) return { key, rest: path.slice(end) }
  }
  return undefined
}

function lastBoundary(path: string, before: number): number {
  return before === 0 ? -1 : Math.max(path.lastIndexOf('.', before - 1), path.lastIndexOf('[', before - 1))
}

export function memberPath(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`
}

export function itemPath(path: string, index: number): string {
  return `${path}[${index}]`
}

/** Sets a member as JSON.parse does: `__proto__` is a name like any other. */
export function setMember(object: object, key: string, value: unknown): void {
  if (key === '__proto__') {
    Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true })
  } else {
    ;(object as Record<string, unknown>)[key] = value
  }
}

/** Something that could not be read, so that its value is not known. */
export function unreadable(path: string, at: number, bound: string, found: string): Complaint {
  const message = `${path === '' ? 'the rules' : `${path}:`} must be ${bound}, got ${found}`
  return { fault: { path, value: undefined, bound, message }, at }
}

/** A text that its format does not know: nothing of it can be read. */
export function malformed(format: string, at: number, bound: string, message: string): Complaint {
  return { fault: { path: '', value: undefined, bound, message: `not ${format}: ${message}` }, at }
}

/** A key that stands a second time in its object. */
export function repeated(path: string, at: number, value: unknown): Complaint {
  const bound = 'given once: this key stands above already'
  return { fault: { path, value, bound, message: `${path}: must be ${bound}, got ${show(value)}` }, at }
}

/**
 * The rules that a text holds.
 *
 * @throws RuleError with the faults of the text and of the rules, in the order of the text.
 */
export function judge(text: string, { value, complaints, places }: Reading, file: string | undefined): RuleSet {
  const faults: Fault[] = []
  checkRuleSet(value, undefined, faults)
  // What could not be read is missing, but that is not what is wrong with it.
  const unread = new Set(complaints.flatMap(({ fault }) => (fault.value === undefined ? [fault.path] : [])))
  const start = text.search(/\S/)
  const all = [
    ...complaints,
    ...faults
      .filter((fault) => fault.value !== undefined || !unread.has(fault.path))
      .map((fault) => ({ fault, at: places.find(value, Math.max(start, 0), fault.path) })),
  ]
  if (all.length > 0) throw new RuleError(locate(text, all), file)
  return value as RuleSet
}

/** Faults with line and column, from 1, in the order of the text. A column counts UTF-16 units, as editors do. */
function locate(text: string, complaints: readonly Complaint[]): Fault[] {
  let line = 1
  let lineStart = 0
  return complaints
    .toSorted((a, b) => a.at - b.at)
    .map(({ fault, at }) => {
      for (let end = text.indexOf('\n', lineStart); end >= 0 && end < at; end = text.indexOf('\n', lineStart)) {
        line++
        lineStart = end + 1
      }
      return { ...fault, line, column: at - lineStart + 1 }
    })
}
