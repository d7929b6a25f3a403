// Packs the package as it would be published and installs the tarball, offline and without scripts, into a project outside the repository.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { ROOT } from './support.js'

declare module 'vitest' {
  export interface ProvidedContext {
    /** A project that has the package installed, and nothing else. */
    project: string
  }
}

export default function install({ provide }: TestProject): () => void {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'leapguard-package-')))
  const project = join(home, 'project')
  mkdirSync(project)
  writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'consumer', version: '1.0.0', private: true }))
  const npm = (cwd: string, ...args: string[]) =>
    execFileSync('npm', [...args, '--cache', join(home, 'cache'), '--loglevel', 'error'], { cwd, encoding: 'utf8' })
  npm(ROOT, 'pack', '--ignore-scripts', '--pack-destination', home)
  const tarball = readdirSync(home).find((name) => name.endsWith('.tgz')) as string
  npm(project, 'install', '--offline', '--no-audit', '--no-fund', '--ignore-scripts', join(home, tarball))
  provide('project', project)
  return () => rmSync(home, { recursive: true, force: true })
}
