// Checks plain data and collects every fault: where it is, what stood there, what may stand there.

/** Longest span of time a rule may name: 2^30 ms, about 12 days. */
export const MAX_MS = 2 ** 30

/** One thing wrong with a rule list. */
export interface Fault {
  /** Where, e.g. `degrade[0].threshold`. */
  readonly path: string
  /** What stood there. */
  readonly value: unknown
  /** What may stand there, e.g. `number > 0 and <= 1`. */
  readonly bound: string
  /** The whole sentence, with the resource if it is known. */
  readonly message: string
  /** Where in the text that the rules were read from, from 1; a column counts UTF-16 units. Absent if they were not read from a text. */
  readonly line?: number
  readonly column?: number
}

export interface Range {
  min: number
  max?: number
  /** `min` itself is not allowed. */
  exclusive?: boolean
  integer?: boolean
}

/** Reads the fields of one object. A field that is missing or wrong yields its fallback, and the fault is kept. */
export class Checker {
  readonly #object: Record<string, unknown>
  readonly #path: string
  readonly #faults: Fault[]
  readonly #about: string
  readonly #faulty = new Set<string>()

  /** @param about named in messages, e.g. `resource "user-service"`. */
  constructor(object: Record<string, unknown>, path: string, faults: Fault[], about: string) {
    this.#object = object
    this.#path = path
    this.#faults = faults
    this.#about = about
  }

  /** Was this field found wrong? Then what depends on it is not judged by it. */
  isFaulty(field: string): boolean {
    return this.#faulty.has(field)
  }

  fault(field: string, bound: string): void {
    this.#faulty.add(field)
    const value = this.#object[field]
    const path = `${this.#path}.${field}`
    const about = this.#about === '' ? '' : ` (${this.#about})`
    this.#faults.push({ path, value, bound, message: `${path}${about}: must be ${bound}, got ${show(value)}` })
  }

  /** Is the field given? `undefined` counts as absent, as it does in JSON. */
  has(field: string): boolean {
    return Object.hasOwn(this.#object, field) && this.#object[field] !== undefined
  }

  isNull(field: string): boolean {
    return this.has(field) && this.#object[field] === null
  }

  number(field: string, range: Range, fallback: number | undefined): number {
    if (!this.has(field)) {
      if (fallback !== undefined) return fallback
      this.fault(field, `${describe(range)} (required)`)
      return Number.NaN
    }
    const value = this.#object[field]
    if (isWithin(value, range)) return value
    this.fault(field, describe(range))
    return fallback ?? Number.NaN
  }

  oneOf<T extends string>(field: string, values: readonly T[], fallback: T | undefined): T | undefined {
    if (!this.has(field) && fallback !== undefined) return fallback
    const value = this.#object[field]
    if (values.includes(value as T)) return value as T
    this.fault(field, `one of ${values.map((v) => `'${v}'`).join(', ')}${fallback === undefined ? ' (required)' : ''}`)
    return fallback
  }

  boolean(field: string, fallback: boolean): boolean {
    if (!this.has(field)) return fallback
    const value = this.#object[field]
    if (typeof value === 'boolean') return value
    this.fault(field, 'true or false')
    return fallback
  }

  name(field: string, required: boolean): string | undefined {
    if (!this.has(field) && !required) return undefined
    const value = this.#object[field]
    if (typeof value === 'string' && value !== '') return value
    this.fault(field, `a non-empty string${required ? ' (required)' : ''}`)
    return undefined
  }

  forbidden(field: string, why: string): void {
    if (this.has(field)) this.fault(field, `absent: ${why}`)
  }

  /** Every field must be one of these. */
  knownFields(fields: ReadonlySet<string>): void {
    for (const key of Object.keys(this.#object)) {
      if (!fields.has(key)) this.fault(key, `absent: unknown field${suggestion(key, fields)}`)
    }
  }
}

function isWithin(value: unknown, range: Range): value is number {
  if (typeof value !== 'number' || !Number.isFinite(value)) return false
  if (range.integer === true && !Number.isInteger(value)) return false
  if (range.exclusive === true ? value <= range.min : value < range.min) return false
  return range.max === undefined || value <= range.max
}

function describe({ min, max, exclusive, integer }: Range): string {
  const kind = integer === true ? 'an integer' : 'a finite number'
  return `${kind} ${exclusive === true ? '>' : '>='} ${min}${max === undefined ? '' : ` and <= ${max}`}`
}

/** A value as a message shows it: short, and never throwing. */
export function show(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(shorten(value))
  if (typeof value === 'function') return 'a function'
  if (typeof value === 'object' && value !== null) return isArray(value) ? 'an array' : 'an object'
  return shorten(typeof value === 'bigint' ? `${value}n` : String(value))
}

function shorten(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}...` : text
}

/** Array.isArray, which throws for a revoked proxy. */
function isArray(value: object): boolean {
  try {
    return Array.isArray(value)
  } catch {
    return false
  }
}

export function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !isArray(value)
}

function suggestion(key: string, fields: ReadonlySet<string>): string {
  let best = ''
  let bestDistance = 4
  for (const field of fields) {
    const distance = likeness(key.toLowerCase(), field.toLowerCase())
    if (distance < bestDistance) {
      best = field
      bestDistance = distance
    }
  }
  return best === '' ? '' : ` (did you mean '${best}'?)`
}

/** Edit distance to the name, or one more than that to its beginning: people shorten names. */
function likeness(key: string, field: string): number {
  return Math.min(editDistance(key, field), 1 + editDistance(key, field.slice(0, key.length)))
}

/** Levenshtein distance; long keys are not worth the work. */
function editDistance(a: string, b: string): number {
  if (a.length > 40 || Math.abs(a.length - b.length) > 3) return Number.POSITIVE_INFINITY
  let row = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const change = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(change, (row[j] as number) + 1, (next[j - 1] as number) + 1))
    }
    row = next
  }
  return row[b.length] as number
}
