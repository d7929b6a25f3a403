// The test files that docs/testing.md shows are run by the runners they are written for. The vitest ones run here, by being imported.
import '../../docs/testing/fake-timers.test.js'
import '../../docs/testing/vitest.test.js'
import { spawnSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { ROOT } from './pages.js'

// Real time: another process, which compiles what it runs.
it('the file for node:test passes under node --test', { timeout: 60_000 }, () => {
  const args = ['--import', 'tsx', '--test', '--test-reporter=tap', 'docs/testing/node.test.ts']
  // Without NODE_TEST_CONTEXT and the like, which would make the child report to a parent that is not there.
  const env = { PATH: process.env.PATH }
  const { status, stdout } = spawnSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8', env })
  expect(stdout).toMatch(/^# pass 1$/m)
  expect(status).toBe(0)
})
