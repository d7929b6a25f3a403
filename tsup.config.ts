import { defineConfig } from 'tsup'

// One bundle; scripts/entries.ts makes the entry files around it.
export default defineConfig({
  entry: { core: 'src/package.ts' },
  format: 'cjs',
  target: 'node20',
  platform: 'node',
  dts: { entry: { index: 'src/index.ts', testing: 'src/testing.ts' } },
  // Splitting CommonJS would run it through a second compiler that turns ?. and ?? into calls of closures: 1.7 times dearer on the hot path.
  splitting: false,
  removeNodeProtocol: false,
  treeshake: false,
  sourcemap: true,
  clean: true,
  silent: true,
})
