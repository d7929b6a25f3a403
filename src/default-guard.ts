// The one default guard of the process, whichever format or copy of the package asks first.
import { Faults } from './faults.js'
import { createGuard, type Guard } from './guard.js'
import { VERSION } from './version.js'

/** Copies of one series have the same methods and options. A guard of another series may lack some or take them otherwise. */
const SERIES = VERSION.split('.', 2).join('.')

const holder = globalThis as { [key: symbol]: Record<string, Guard> | undefined }
const KEY = Symbol.for('leapguard.default-guards')
holder[KEY] ??= {}

/** The guard behind the functions of the module. Shared by import and require, and by all copies of the package of the same minor version. */
export const defaultGuard: Guard = shared(holder[KEY])

function shared(guards: Record<string, Guard>): Guard {
  const others = Object.keys(guards)
  if (guards[SERIES] === undefined && others.length > 0) {
    const text = `${SERIES}.x beside ${others.map((series) => `${series}.x`).join(' and ')}`
    new Faults(undefined, 'default').report('LEAPGUARD_TWO_VERSIONS', 'default guard', undefined, text)
  }
  guards[SERIES] ??= createGuard({ name: 'default' })
  return guards[SERIES]
}

export const entry: Guard['entry'] = (resource, fn, options) => defaultGuard.entry(resource, fn, options)
export const entrySync: Guard['entrySync'] = (resource, fn, options) => defaultGuard.entrySync(resource, fn, options)
export const enter: Guard['enter'] = (resource, options) => defaultGuard.enter(resource, options)
export const tryEnter: Guard['tryEnter'] = (resource, options) => defaultGuard.tryEnter(resource, options)
export const leave: Guard['leave'] = (permit, outcome) => defaultGuard.leave(permit, outcome)
export const wrap: Guard['wrap'] = (resource, fn, options) => defaultGuard.wrap(resource, fn, options)
export const loadRules: Guard['loadRules'] = (rules) => defaultGuard.loadRules(rules)
export const loadDegradeRules: Guard['loadDegradeRules'] = (rules) => defaultGuard.loadDegradeRules(rules)
export const setRulesFor: Guard['setRulesFor'] = (resource, rules) => defaultGuard.setRulesFor(resource, rules)
export const configure: Guard['configure'] = (resource, config) => defaultGuard.configure(resource, config)
export const rules: Guard['rules'] = () => defaultGuard.rules()
export const stats: Guard['stats'] = (resource) => defaultGuard.stats(resource)
export const snapshot: Guard['snapshot'] = () => defaultGuard.snapshot()
export const remove: Guard['remove'] = (resource) => defaultGuard.remove(resource)
export const resources: Guard['resources'] = () => defaultGuard.resources()
export const on: Guard['on'] = (event, listener) => defaultGuard.on(event, listener)
export const forceOpen: Guard['forceOpen'] = (resource) => defaultGuard.forceOpen(resource)
export const forceClosed: Guard['forceClosed'] = (resource) => defaultGuard.forceClosed(resource)
export const auto: Guard['auto'] = (resource) => defaultGuard.auto(resource)
export const reset: Guard['reset'] = (resource) => defaultGuard.reset(resource)
export const save: Guard['save'] = () => defaultGuard.save()
export const dispose: Guard['dispose'] = () => defaultGuard.dispose()
