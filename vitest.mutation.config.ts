// The tests that Stryker runs against each mutant of windows and rules: those that go there directly, and fast. The long properties
// and races are left out; a short soak with a fixed seed stands in for them.
import { defineConfig } from 'vitest/config'
import base from './vitest.config.js'

export default defineConfig({
  ...base,
  test: {
    setupFiles: ['test/mutation/setup.ts'],
    include: [
      'test/windows/**/*.test.ts',
      'test/rules/*.test.ts',
      'test/rules/degrade/**/*.test.ts',
      'test/src/custom-rules.test.ts',
      'test/cases/{accounting,concurrent-probes,consecutive-count,late-completions,minimum-volume,slow-calls}.test.ts',
    ],
  },
})
