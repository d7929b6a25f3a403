// Tests of the packed package: they need a build and are run by `npm run test:package`, not by `npm test`.
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  test: {
    include: ['*.check.ts'],
    globalSetup: ['install.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // The compiler takes much memory, and each file has child processes of its own.
    fileParallelism: false,
  },
})
