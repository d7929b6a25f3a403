// What is no longer used can be collected.
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it, vi } from 'vitest'

// The heap of a process of its own; a hundred thousand guards take a while on a slow machine.
vi.setConfig({ testTimeout: 240_000 })

const MB = 1e6
const root = fileURLToPath(new URL('../../', import.meta.url))

/** Bytes by which the heap grows over so many guards. */
function growth(guards: number, fate: 'keep' | 'drop'): number {
  const args = ['--expose-gc', '--import', 'tsx', 'test/support/drop-guards.ts', String(guards), fate]
  return Number(execFileSync(process.execPath, args, { cwd: root, encoding: 'utf8' }))
}

it('F32 the measure sees guards that are kept', () => {
  expect(growth(1000, 'keep')).toBeGreaterThan(4 * MB)
})

it('F32 the memory of 100,000 guards that were made, used and dropped comes back', () => {
  expect(growth(100_000, 'drop')).toBeLessThan(4 * MB)
})
