// What is in the tarball, and what is not.
import { readdirSync, readFileSync } from 'node:fs'
import { homedir, hostname, userInfo } from 'node:os'
import { join } from 'node:path'
import { expect, inject, it } from 'vitest'
import { ROOT } from './support.js'

const home = join(inject('project'), 'node_modules/leapguard')
const files = readdirSync(home, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name).slice(home.length + 1))
  .sort()

it('holds these files and no others', () => {
  // Declarations that entries share come in a file named after its content.
  expect(files.map((file) => file.replace(/-[\w-]{8}\.d\.cts$/, '-HASH.d.cts'))).toEqual([
    'LICENSE',
    'README.md',
    'dist/core.cjs',
    'dist/core.cjs.map',
    'dist/index.cjs',
    'dist/index.d.cts',
    'dist/index.d.ts',
    'dist/index.js',
    'dist/schema.json',
    'dist/testing-HASH.d.cts',
    'dist/testing.cjs',
    'dist/testing.d.cts',
    'dist/testing.d.ts',
    'dist/testing.js',
    'package.json',
  ])
})

it('tells nothing of the machine it was made on', () => {
  const folders = [ROOT.slice(0, -1), homedir(), hostname(), join('/home', userInfo().username)].filter(
    (name) => name.length > 5 && name !== 'localhost',
  )
  const private_ = /(?<![\w.])\/(?:home|Users|root|tmp|work|var)\/|file:\/\/\/|[A-Z]:\\\\?Users/
  for (const file of files) {
    const text = readFileSync(join(home, file), 'utf8')
    expect(text.match(private_)?.[0], file).toBeUndefined()
    for (const folder of folders) expect(text.includes(folder), `${folder} in ${file}`).toBe(false)
  }
})

it('has a source map with the text of every source, by relative paths', () => {
  const map = JSON.parse(readFileSync(join(home, 'dist/core.cjs.map'), 'utf8'))
  expect(map.sources.length).toBeGreaterThan(30)
  for (const source of map.sources) expect(source).toMatch(/^\.\.\/(src|rules|windows)\/[\w/-]+\.ts$/)
  expect(map.sourcesContent).toHaveLength(map.sources.length)
  for (const text of map.sourcesContent) expect(text).toMatch(/\S/)
})

it('needs nothing to be installed beside it', () => {
  const manifest = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'))
  expect(manifest.dependencies).toBeUndefined()
  expect(Object.keys(manifest.peerDependencies)).toEqual(Object.keys(manifest.peerDependenciesMeta))
  for (const { optional } of Object.values<{ optional: boolean }>(manifest.peerDependenciesMeta))
    expect(optional).toBe(true)
  expect(Object.keys(manifest.scripts)).not.toContain('postinstall')
})
