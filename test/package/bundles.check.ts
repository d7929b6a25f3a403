// The installed package in bundles: esbuild, and Vite's server build (Rolldown).
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { build as esbuild } from 'esbuild'
import { build as viteBuild } from 'vite'
import { describe, expect, inject, it } from 'vitest'
import { consumer, runFile } from './support.js'

const project = inject('project')
for (const part of ['import.mjs', 'require.cjs', 'both.mjs', 'part.cjs']) {
  copyFileSync(consumer(`bundled-${part}`), join(project, `bundled-${part}`))
}

const works = { refused: true, added: 0 }
const oneCopy = { sameClass: true, sameGuard: true }

describe.each(['esm', 'cjs'] as const)('esbuild, to %s', (format) => {
  it.each([
    ['bundled-import.mjs', works],
    ['bundled-require.cjs', works],
    ['bundled-both.mjs', oneCopy],
  ])('%s', async (name, expected) => {
    const outfile = join(project, 'esbuild', `${name}.${format === 'esm' ? 'mjs' : 'cjs'}`)
    // The way out that esbuild documents for CommonJS that requires built-in modules, in a bundle that is ESM.
    const banner = `import { createRequire } from 'node:module'; const require = createRequire(import.meta.url)`
    const { warnings } = await esbuild({
      absWorkingDir: project,
      entryPoints: [name],
      outfile,
      format,
      bundle: true,
      platform: 'node',
      banner: format === 'esm' ? { js: banner } : {},
      logLevel: 'silent',
    })
    expect(warnings).toEqual([])
    expect(runFile(outfile)).toEqual(expected)
  })
})

it.each([
  ['bundled-import.mjs', works],
  ['bundled-both.mjs', oneCopy],
])('Vite, for a server: %s', async (name, expected) => {
  await viteBuild({
    configFile: false,
    root: project,
    logLevel: 'silent',
    ssr: { noExternal: true },
    build: {
      ssr: name,
      outDir: 'vite',
      emptyOutDir: true,
      rollupOptions: { output: { entryFileNames: 'bundle.mjs' } },
    },
  })
  expect(runFile(join(project, 'vite/bundle.mjs'))).toEqual(expected)
})
