// docs/rule-files.md says what is so, and the example that follows a file does.
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createGuard, type RuleError } from 'leapguard'
import { afterEach, describe, expect, it } from 'vitest'
import { watchRules } from '../../docs/rule-files/watch-rules.js'
import { SCHEMA_LIMITS } from '../support/schema-limits.js'
import { codeSpans, readPage, tableUnder } from './pages.js'

it('the page lists what no schema can say', () => {
  const rows = tableUnder(readPage('docs/rule-files.md'), 'Help from your editor')
  expect(rows.map((row) => [codeSpans(row.field as string)[0], row['what no schema can say']])).toEqual(
    SCHEMA_LIMITS.map(({ field, says }) => [field, says]),
  )
})

// Real time in this group: the file system tells of changes when it likes. Each step waits for what it has caused, however long that takes.
describe('watchRules', { timeout: 30_000 }, () => {
  const folders: string[] = []
  const stops: (() => void)[] = []
  afterEach(() => {
    for (const stop of stops.splice(0)) stop()
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true })
  })

  const rules = (threshold: number) =>
    `degrade: [{ resource: a, strategy: error-count, threshold: ${threshold} }, { resource: b, strategy: error-count, threshold: 1 }]\n`

  async function following(text: string) {
    const folder = mkdtempSync(join(tmpdir(), 'leapguard-watch-'))
    folders.push(folder)
    const path = join(folder, 'rules.yaml')
    writeFileSync(path, text)
    const guard = createGuard()
    const faults: unknown[] = []
    let wake = () => {}
    guard.on('reload', () => wake())
    const onFault = (error: unknown) => {
      faults.push(error)
      wake()
    }
    stops.push(await watchRules(guard, path, onFault))
    const until = async (isSo: () => boolean) => {
      while (!isSo()) {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    }
    /** As the page advises: written beside it, then put in its place. */
    const replace = (next: string) => {
      writeFileSync(`${path}.new`, next)
      renameSync(`${path}.new`, path)
    }
    return { guard, faults, until, replace, threshold: () => guard.rules().degrade[0]?.threshold }
  }

  it('loads a changed file, keeps the last good rules on a bad one, and goes on when it is put right', async () => {
    const { guard, faults, until, replace, threshold } = await following(rules(3))
    guard.enter('b').exit({ error: new Error('down') })
    expect([threshold(), guard.stats('b').rules[0]?.state]).toEqual([3, 'open'])

    replace(rules(4))
    await until(() => threshold() === 4)
    expect(faults).toEqual([])

    replace(rules(0))
    await until(() => faults.length > 0)
    expect((faults[0] as RuleError).message).toMatch(/rules\.yaml:1:49: degrade\[0\]\.threshold/)
    expect(threshold()).toBe(4)

    replace(rules(5))
    await until(() => threshold() === 5)
    expect(guard.stats('b').rules[0]?.state).toBe('open') // the rule of b never changed
  })

  it('does not start with a bad file', async () => {
    await expect(following('degrade: 5')).rejects.toMatchObject({ code: 'ERR_RULE_INVALID' })
  })
})
