// Reads YAML through the optional peer `yaml`, and notes where everything stands. Takes what JSON can say, written in YAML 1.2: its core
// schema, string keys, one document. Aliases and merge keys (`<<`) are copied out; how much and how deep is bounded.
import type { CST, Document, Scalar, YAMLMap, YAMLSeq } from 'yaml'
import { show } from '../../rules/index.js'
import type { Yaml } from './peer.js'
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
  unreadable,
} from './reading.js'

/** Rules nest four deep. The peer recurses, and far enough down that ends the process. */
const MAX_DEPTH = 100
/** Values that all aliases together may add to a document. */
const MAX_COPIES = 100_000

/** The key that merges maps into its own. */
const MERGE = '<<'

const OPTIONS = {
  version: '1.2',
  schema: 'core',
  merge: false,
  resolveKnownTags: false,
  uniqueKeys: false, // takes square time there, and is told better here
  prettyErrors: false,
} as const

const TEXT_TAG = 'tag:yaml.org,2002:str'
/** What each tag of the core schema makes of a node; one that cannot is left undone by the peer. */
const TAGS: Readonly<Record<string, string>> = {
  'tag:yaml.org,2002:map': 'object',
  'tag:yaml.org,2002:seq': 'array',
  [TEXT_TAG]: 'string',
  'tag:yaml.org,2002:int': 'number',
  'tag:yaml.org,2002:float': 'number',
  'tag:yaml.org,2002:bool': 'boolean',
  'tag:yaml.org,2002:null': 'null',
  '!': 'string',
}

export function readYaml(text: string, yaml: Yaml): Reading {
  return new YamlReader(text, yaml).read()
}

/** Where in the document the reader is. */
interface Spot {
  readonly path: string
  readonly depth: number
}

class YamlReader {
  private readonly places = new Places()
  private readonly complaints: Complaint[] = []
  /** What stands under each anchor so far. An anchor whose value is still being read is not among them. */
  private readonly anchors = new Map<string, unknown>()
  private copies = 0

  constructor(
    private readonly text: string,
    private readonly yaml: Yaml,
  ) {}

  read(): Reading {
    const value = this.document()
    return { value, complaints: this.complaints, places: this.places }
  }

  private document(): unknown {
    const [document, second] = this.compose()
    if (document === undefined) return undefined
    const [error] = document.errors
    if (error !== undefined) return this.malformed(error.pos[0], error.message)
    if (second !== undefined) return this.refuse('', second.range[0], 'one YAML document', 'a second one')
    if (document.directives?.yaml.version !== '1.2') {
      return this.refuse('', 0, 'YAML 1.2', 'a directive for another version')
    }
    return this.value(document.contents, { path: '', depth: 0 }, 0)
  }

  /** All documents of the text, at least one; none after a complaint. */
  private compose(): Document.Parsed[] {
    try {
      const tokens = [...new this.yaml.Parser().parse(this.text)]
      const deep = firstTooDeep(tokens)
      if (deep === undefined) return [...new this.yaml.Composer(OPTIONS).compose(tokens, true, this.text.length)]
      this.tooDeep('', deep)
    } catch (error) {
      // The peer throws at some texts, old versions at more of them.
      this.malformed(0, error instanceof Error ? error.message : String(error))
    }
    return []
  }

  private malformed(at: number, message: string): undefined {
    this.complaints.push(malformed('YAML', at, 'YAML', message))
  }

  private refuse(path: string, at: number, bound: string, found: string): undefined {
    this.complaints.push(unreadable(path, at, bound, found))
  }

  private tooDeep(path: string, at: number): undefined {
    return this.refuse(path, at, `nested at most ${MAX_DEPTH} deep`, 'something deeper')
  }

  /** @param around where the parent stands, for things without a place. */
  private value(node: unknown, spot: Spot, around: number): unknown {
    if (!this.yaml.isNode(node)) return null // a key without a value
    const at = placeOf(node, around)
    if (spot.depth > MAX_DEPTH) return this.tooDeep(spot.path, at)
    if (this.yaml.isAlias(node)) return this.alias(node.source, spot, at)
    const { anchor, tag } = node
    if (anchor !== undefined) this.anchors.delete(anchor)
    let value = this.yaml.isMap(node)
      ? this.map(node, spot, at)
      : this.yaml.isSeq(node)
        ? this.seq(node, spot, at)
        : (node as Scalar).value
    if (tag !== undefined && TAGS[tag] !== kindOf(value)) {
      value = this.refuse(spot.path, at, 'of the core schema of YAML', `the tag ${tag}`)
    }
    if (anchor !== undefined) this.anchors.set(anchor, value)
    return value
  }

  private seq({ items }: YAMLSeq, { path, depth }: Spot, at: number): unknown[] {
    const members: Members = new Map()
    const list = items.map((item, i) => {
      members.set(String(i), placeOf(item, at))
      return this.value(item, { path: itemPath(path, i), depth: depth + 1 }, at)
    })
    this.places.note(list, members)
    return list
  }

  private map({ items }: YAMLMap, { path, depth }: Spot, at: number): object {
    const object = {}
    const members: Members = new Map()
    const merges: unknown[] = []
    for (const { key, value: node } of items) {
      const keyAt = placeOf(key, at)
      const value = (name: string) => this.value(node, { path: memberPath(path, name), depth: depth + 1 }, keyAt)
      if (this.isMerge(key)) {
        merges.push(...this.mergeable(value(MERGE), memberPath(path, MERGE), keyAt))
        continue
      }
      const name = this.name(key, path, keyAt)
      if (name === undefined) continue
      const member = value(name)
      if (members.has(name)) this.complaints.push(repeated(memberPath(path, name), keyAt, member))
      members.set(name, keyAt)
      setMember(object, name, member)
    }
    // What stands in the map itself holds, then the earlier of those merged into it.
    for (const merge of merges) {
      for (const [name, from] of this.places.of(merge) ?? []) {
        if (members.has(name)) continue
        members.set(name, from)
        setMember(object, name, (merge as Record<string, unknown>)[name])
      }
    }
    this.places.note(object, members)
    return object
  }

  private name(key: unknown, path: string, at: number): string | undefined {
    const bound = 'a map with strings as keys'
    if (!this.yaml.isScalar(key)) return this.refuse(path, at, bound, 'another key')
    const { value, tag = TEXT_TAG, anchor } = key
    if (typeof value !== 'string' || TAGS[tag] !== 'string')
      return this.refuse(path, at, bound, `the key ${show(value)}`)
    if (anchor !== undefined) this.anchors.set(anchor, value)
    return value
  }

  private isMerge(key: unknown): boolean {
    return this.yaml.isScalar(key) && key.value === MERGE && key.type === 'PLAIN'
  }

  private mergeable(value: unknown, path: string, at: number): readonly unknown[] {
    const list = Array.isArray(value) ? value : [value]
    if (list.every((item) => kindOf(item) === 'object')) return list
    if (value !== undefined) this.refuse(path, at, 'a map or a list of maps', `${kindOf(value)}`)
    return []
  }

  private alias(name: string, { path, depth }: Spot, at: number): unknown {
    if (!this.anchors.has(name)) return this.refuse(path, at, 'an alias of a value that ends before it', `*${name}`)
    return this.copy(this.anchors.get(name), path, depth, at)
  }

  /** A copy of what an anchor names, so that no two places of the rules are one object. */
  private copy(value: unknown, path: string, depth: number, at: number): unknown {
    if (depth > MAX_DEPTH) return this.tooDeep(path, at)
    this.copies++
    if (this.copies > MAX_COPIES) {
      if (this.copies > MAX_COPIES + 1) return undefined // told already
      return this.refuse(path, at, `one of ${MAX_COPIES} values that aliases may add`, 'more')
    }
    if (typeof value !== 'object' || value === null) return value
    const copy: object = Array.isArray(value) ? [] : {}
    const members = this.places.of(value) ?? new Map()
    for (const name of members.keys()) {
      const isItem = Array.isArray(value)
      const inner = isItem ? itemPath(path, Number(name)) : memberPath(path, name)
      setMember(copy, name, this.copy((value as Record<string, unknown>)[name], inner, depth + 1, at))
    }
    this.places.note(copy, members)
    return copy
  }
}

/** `'null'`, `'array'`, or what typeof says. */
function kindOf(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value
}

function placeOf(node: unknown, around: number): number {
  return (node as { range?: readonly number[] | null } | null)?.range?.[0] ?? around
}

/** Offset of the first thing that is nested too deep. Walks without recursion: how deep it goes is the question. */
function firstTooDeep(tokens: readonly CST.Token[]): number | undefined {
  const waiting = tokens.map((token) => ({ token, depth: 0 })).reverse()
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { token, depth } = next
    if (depth > MAX_DEPTH) return token.offset
    const inside =
      token.type === 'document'
        ? [token.value]
        : 'items' in token
          ? token.items.flatMap((item: CST.CollectionItem) => [item.key, item.value])
          : []
    for (const inner of inside.reverse()) if (inner != null) waiting.push({ token: inner, depth: depth + 1 })
  }
  return undefined
}
