import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const path = (p: string) => fileURLToPath(new URL(p, import.meta.url))

export default defineConfig({
  resolve: {
    alias: [
      { find: /^leapguard\/testing$/, replacement: path('./src/testing.ts') },
      { find: /^leapguard$/, replacement: path('./src/index.ts') },
    ],
  },
  test: {
    include: ['test/**/*.test.ts'],
    coverage: {
      provider: 'v8',
      include: ['src/**', 'windows/**', 'rules/**'],
      reporter: ['text-summary', 'text'],
      // Share of branches, percent, over each folder.
      thresholds: { 'windows/**': { branches: 95 }, 'rules/**': { branches: 95 } },
    },
  },
})
