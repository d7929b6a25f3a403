// Faults that must not reach a call: our own, and those of callbacks, listeners, custom rules and clocks. Each cause is reported once.
import { isThenable, show, swallow } from '../rules/index.js'
import { channels } from './channels.js'
import { CODES, type Code } from './errors.js'
import type { ChannelMessages, InternalErrorInfo } from './types.js'

/** Causes remembered; past this many, one last report says so and the rest is silent. */
const MAX_CAUSES = 1000

export class Faults {
  readonly #listener: ((error: unknown, where: InternalErrorInfo) => void) | undefined
  readonly #guard: string
  readonly #seen = new Set<string>()

  /** @param guard its name, for the diagnostics channel. */
  constructor(listener: ((error: unknown, where: InternalErrorInfo) => void) | undefined, guard: string) {
    this.#listener = listener
    this.#guard = guard
  }

  /** @param detail tells causes of the same kind apart, e.g. the id of a custom rule. */
  report(code: Code, where: string, resource: string | undefined, error: unknown, detail = ''): void {
    if (this.#seen.size > MAX_CAUSES) return
    const cause = JSON.stringify([code, where, resource, detail])
    if (this.#seen.has(cause)) return
    this.#seen.add(cause)
    this.#tell(error, { where, resource, code }, detail)
    if (this.#seen.size > MAX_CAUSES) {
      this.#tell(new Error(`more than ${MAX_CAUSES} different faults: further ones are not reported`), {
        where: 'faults',
        resource: undefined,
        code: 'LEAPGUARD_INTERNAL',
      })
    }
  }

  #tell(error: unknown, info: InternalErrorInfo, detail = ''): void {
    this.#inform(error, info, detail)
    if (!channels.fault.hasSubscribers) return
    channels.fault.publish({ type: 'fault', ...info, error, guard: this.#guard } satisfies ChannelMessages['fault'])
  }

  #inform(error: unknown, info: InternalErrorInfo, detail: string): void {
    if (this.#listener !== undefined) {
      try {
        const answer: unknown = this.#listener(error, info)
        if (isThenable(answer)) swallow(answer)
        return
      } catch {
        // the one who should be told cannot listen: fall back to the warning
      }
    }
    process.emitWarning(describe(error, info, detail), { type: 'LeapguardWarning', code: info.code })
  }
}

function describe(error: unknown, { where, resource, code }: InternalErrorInfo, detail: string): string {
  const place = `${where}${detail === '' ? '' : ` of ${show(detail)}`}${resource === undefined ? '' : ` on resource ${show(resource)}`}`
  return `${CODES[code as Code]} (${place}: ${text(error)})`
}

function text(error: unknown): string {
  try {
    return error instanceof Error ? error.message : show(error)
  } catch {
    return 'an error that cannot be read'
  }
}
