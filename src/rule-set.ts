// Is a value a set of rules? The one judgement of rules that are loaded and of rules that are read from a file.
import { type Fault, isPlainObject, type NormalizedRule, normalizeDegradeRules, show } from '../rules/index.js'

const FAMILIES = ['degrade'] as const

/**
 * Checks rules by family and fills in the defaults. All faults go to `faults`; what is returned is only meaningful if there were none.
 * A family that is absent stays `undefined`. `$schema` is for editors: a string that is not looked at.
 *
 * @param resource if given, rules may leave `resource` out and must not name another.
 */
export function checkRuleSet(
  set: unknown,
  resource: string | undefined,
  faults: Fault[],
): { degrade?: NormalizedRule[] } {
  const checked: { degrade?: NormalizedRule[] } = {}
  if (!isPlainObject(set)) {
    const bound = `an object of rule lists by family (${FAMILIES.join(', ')})`
    faults.push({ path: '', value: set, bound, message: `the rules must be ${bound}, got ${show(set)}` })
    return checked
  }
  for (const [key, value] of Object.entries(set)) {
    if (key === 'degrade') {
      if (value !== undefined) checked.degrade = normalizeDegradeRules(value, 'degrade', faults, resource)
    } else if (key !== '$schema') {
      const bound = `one of the families ${FAMILIES.join(', ')}`
      faults.push({ path: key, value, bound, message: `${key}: must be ${bound}` })
    } else if (value !== undefined && typeof value !== 'string') {
      const bound = 'a string'
      faults.push({ path: key, value, bound, message: `${key}: must be ${bound}, got ${show(value)}` })
    }
  }
  return checked
}
