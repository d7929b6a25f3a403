import { defineConfig } from 'tsup'

export default defineConfig({
  entry: { index: 'src/index.ts', testing: 'src/testing.ts' },
  format: ['esm', 'cjs'],
  target: 'node20',
  platform: 'node',
  dts: true,
  splitting: true,
  treeshake: false,
  sourcemap: true,
  clean: true,
})
