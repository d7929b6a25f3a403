// Two copies of the package in one process, as package managers leave them behind.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, inject, it } from 'vitest'
import { nest, runConsumer } from './support.js'

const project = inject('project')
const { version } = JSON.parse(readFileSync(join(project, 'node_modules/leapguard/package.json'), 'utf8'))

/** Another version is the same code that says so. */
function nestVersion(dependent: string, other: string): void {
  const core = join(nest(project, dependent), 'dist/core.cjs')
  const text = readFileSync(core, 'utf8')
  const line = `= "${version}"`
  expect(text.split(line)).toHaveLength(2)
  writeFileSync(core, text.replace(line, `= "${other}"`))
}

const recognised = {
  sameClass: false,
  isBlocked: true,
  blockedError: true,
  ruleError: true,
  countedAs: expect.objectContaining({ passed: 1, ignored: 1, failed: 0 }),
}

it('F73: two copies of one version know each other by brand and share the default guard', () => {
  nest(project, 'same-version')
  expect(runConsumer(project, 'two-copies.cjs', 'same-version')).toEqual({
    ...recognised,
    oneDefaultGuard: true,
    rulesOfDefault: 1,
    sharedState: 'open',
    warnings: [],
  })
})

it('F73: so do copies of one minor version', () => {
  const [major, minor] = version.split('.')
  nestVersion('patched', `${major}.${minor}.99`)
  expect(runConsumer(project, 'two-copies.cjs', 'patched')).toMatchObject({ oneDefaultGuard: true, warnings: [] })
})

it('F73: copies of different minor versions know each other by brand and have a default guard each, with one warning', () => {
  nestVersion('newer', '9.9.0')
  expect(runConsumer(project, 'two-copies.cjs', 'newer')).toEqual({
    ...recognised,
    oneDefaultGuard: false,
    rulesOfDefault: 0,
    warnings: ['LEAPGUARD_TWO_VERSIONS'],
  })
})
