// Every adapter there is; the first that fits a trace plays it. A new source is a folder beside sentinel/ and a line here.
import type { Adapter } from '../types.js'
import { bucketLeapArray } from './sentinel/bucket-leap-array.js'
import { degrade, degradeMulti } from './sentinel/degrade.js'

export const ADAPTERS: readonly Adapter[] = [degrade, degradeMulti, bucketLeapArray]
