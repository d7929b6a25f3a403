// Who may import whom: windows imports nothing of ours, rules only windows, src both; nothing imports tests or benches.
const PACKAGES = ['npm', 'npm-dev', 'npm-peer', 'npm-optional', 'npm-no-pkg', 'npm-unknown']

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: 'no-circular',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'windows-imports-nothing-of-ours',
      severity: 'error',
      from: { path: '^windows/' },
      to: { path: '^(src|rules|test|bench|docs)/' },
    },
    {
      name: 'rules-imports-only-windows',
      severity: 'error',
      from: { path: '^rules/' },
      to: { path: '^(src|test|bench|docs)/' },
    },
    {
      name: 'sources-do-not-import-tests',
      severity: 'error',
      from: { path: '^(src|rules|windows)/' },
      to: { path: '^(test|bench|docs)/' },
    },
    {
      name: 'no-runtime-dependencies',
      severity: 'error',
      from: { path: '^(src|rules|windows)/', pathNot: '^src/sources/[^/]+\\.ts$' },
      to: { dependencyTypes: PACKAGES },
    },
    {
      name: 'sources-import-only-the-optional-peer',
      severity: 'error',
      from: { path: '^src/sources/' },
      to: { dependencyTypes: PACKAGES, pathNot: '(^|/)node_modules/yaml/' },
    },
    {
      name: 'windows-and-rules-do-no-io',
      severity: 'error',
      from: { path: '^(rules|windows)/', pathNot: '^windows/clock\\.ts$' },
      to: { dependencyTypes: ['core'] },
    },
    { name: 'resolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      extensions: ['.ts', '.js'],
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default'],
    },
  },
}
