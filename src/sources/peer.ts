// The optional peer package `yaml`: loaded when YAML is read, and missed with a clear word.
import { peerMissing } from '../errors.js'

export type Yaml = typeof import('yaml')

/** What Node.js says, whether it was asked by import or by require. */
const NOT_FOUND = /^(ERR_)?MODULE_NOT_FOUND$/

/** Rejects as Node.js does. A bundler lets a missing package be if it sees a catch beside the import; without one the bundle fails. */
const importYaml = (): Promise<Yaml> =>
  import('yaml').catch((error: unknown) => {
    throw error
  })

/** Rejects with `ERR_PEER_MISSING` if the package is not installed, or not in version 2; with its own error if it cannot be loaded. */
export async function loadYaml(load = importYaml): Promise<Yaml> {
  let yaml: Yaml
  try {
    yaml = await load()
  } catch (error) {
    const { code, message } = error as { code?: unknown; message?: unknown }
    if (!NOT_FOUND.test(String(code)) || !/'yaml'/.test(String(message))) throw error
    throw peerMissing(
      "rules in YAML need the package 'yaml' (version 2), which is not installed: npm install yaml",
      error,
    )
  }
  if (typeof yaml.Composer === 'function') return yaml
  throw peerMissing("rules in YAML need the package 'yaml' in version 2; another one is installed: npm install yaml@2")
}
