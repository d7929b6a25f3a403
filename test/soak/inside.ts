// What no face of a guard shows and a soak must see: permits that were not given back, and the resource behind a name.
import type { Guard } from 'leapguard'
import type { Registry } from '../../src/registry.js'
import type { Resource } from '../../src/resource.js'
import type { Runtime } from '../../src/runtime.js'

interface Insides {
  readonly runtime: Runtime
  readonly registry: Registry
}

const inside = (guard: Guard): Insides => guard as unknown as Insides

/** Calls that hold a permit, and probe slots taken over all resources. */
export const heldIn = (guard: Guard): { readonly permits: number; readonly probes: number } => {
  const { runtime } = inside(guard)
  const { permits } = runtime.permits as unknown as { readonly permits: readonly ({ inUse: boolean } | null)[] }
  return { permits: permits.filter((permit) => permit?.inUse === true).length, probes: runtime.probesOut }
}

export const resourceOf = (guard: Guard, name: string): Resource | undefined => inside(guard).registry.find(name)

/** Every resource, also an overflow resource that a name of the user's own hides. */
export const resourcesOf = (guard: Guard): Resource[] => {
  const { registry } = inside(guard)
  return registry.overflow === undefined ? [...registry.each()] : [...registry.each(), registry.overflow]
}
