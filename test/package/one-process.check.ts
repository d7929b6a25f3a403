// Import and require in one process: one copy of everything.
import { expect, inject, it } from 'vitest'
import { node, runConsumer } from './support.js'

const project = inject('project')

it.each(['import', 'require'])('F73: one copy of state and of every class, when %s comes first', (first) => {
  expect(runConsumer(project, 'one-process.mjs', first)).toEqual({
    exports: expect.toSatisfy((count: number) => count > 30),
    unlike: [],
    unlikeTesting: [],
    testing: expect.arrayContaining(['ManualClock']),
    unlikeSeen: [],
    hasDefault: false,
    sameEarly: true,
    oneDefaultGuard: true,
    madeByEither: [true, true],
    refusal: ['ERR_BLOCKED_DEGRADE', true, true],
    ruleError: ['ERR_RULE_INVALID', true],
    rules: 1,
  })
})

it('stack traces lead to the sources by the source map', () => {
  const code = `try { require('leapguard').loadRules({ degrade: 1 }) } catch (error) { console.log(error.stack) }`
  const stack = node(project, '--enable-source-maps', '--eval', code)
  expect(stack).toMatch(/RuleError.*\n(.*\n)*.*leapguard\/src\/\w[\w-]*\.ts:\d+:\d+/)
})

it('loading it starts nothing that keeps the process alive, and warns of nothing', () => {
  const code = `process.on('warning', (warning) => console.log(warning.message)); require('leapguard'); import('leapguard/testing')`
  expect(node(project, '--eval', code)).toBe('')
})
