// The one default guard of the process, whichever format of the package asks first.
import { createGuard, type Guard } from './guard.js'

const KEY = Symbol.for('leapguard.default-guard')
const holder = globalThis as unknown as Record<symbol, Guard | undefined>

holder[KEY] ??= createGuard()

/** The guard behind the functions of the module. Shared by import and require. */
export const defaultGuard: Guard = holder[KEY]

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
export const remove: Guard['remove'] = (resource) => defaultGuard.remove(resource)
export const resources: Guard['resources'] = () => defaultGuard.resources()
export const on: Guard['on'] = (event, listener) => defaultGuard.on(event, listener)
export const forceOpen: Guard['forceOpen'] = (resource) => defaultGuard.forceOpen(resource)
export const forceClosed: Guard['forceClosed'] = (resource) => defaultGuard.forceClosed(resource)
export const auto: Guard['auto'] = (resource) => defaultGuard.auto(resource)
export const reset: Guard['reset'] = (resource) => defaultGuard.reset(resource)
export const dispose: Guard['dispose'] = () => defaultGuard.dispose()
