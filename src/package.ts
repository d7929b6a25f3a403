// What the build bundles: every entry of the package, once, so that all of them share one copy of each class. No entry by itself.
export * as index from './index.js'
export * as testing from './testing.js'
