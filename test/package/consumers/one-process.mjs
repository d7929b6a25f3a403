// Imports and requires the package in one process and prints what the two have in common. `require` as argument: in that order.
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

const require = createRequire(import.meta.url)
const early = process.argv[2] === 'require' ? require('leapguard') : undefined
const esm = await import('leapguard')
const esmTesting = await import('leapguard/testing')
const cjs = require('leapguard')
const cjsTesting = require('leapguard/testing')

const names = (namespace) =>
  Object.keys(namespace)
    .filter((name) => name !== '__esModule' && name !== 'module.exports')
    .sort()
const unlike = (a, b) => [...new Set([...names(a), ...names(b)])].filter((name) => a[name] !== b[name])
// What Node's reader of CommonJS sees, without our ESM entry.
const seen = await import(pathToFileURL(require.resolve('leapguard')).href)
const thrown = (act) => {
  try {
    act()
  } catch (error) {
    return error
  }
}

cjs.loadRules({ degrade: [{ resource: 'r', strategy: 'error-count', threshold: 1 }] })
cjs.enter('r').exit({ error: new Error('e') })
const byImport = thrown(() => esm.entrySync('r', () => 1))
const byRequire = thrown(() => cjs.createGuard().loadRules({ degrade: [{}] }))

console.log(
  JSON.stringify({
    exports: names(esm).length,
    unlike: unlike(esm, cjs),
    unlikeTesting: unlike(esmTesting, cjsTesting),
    testing: names(esmTesting),
    unlikeSeen: unlike(esm, seen).filter((name) => name !== 'default'),
    hasDefault: 'default' in esm,
    sameEarly: early === undefined || early === cjs,
    oneDefaultGuard: esm.defaultGuard === cjs.defaultGuard,
    madeByEither: [cjs.createGuard() instanceof esm.Guard, esm.createGuard() instanceof cjs.Guard],
    refusal: [byImport.code, byImport instanceof cjs.BlockedError, cjs.isBlocked(byImport)],
    ruleError: [byRequire.code, byRequire instanceof esm.RuleError],
    rules: esm.rules().degrade.length,
  }),
)
