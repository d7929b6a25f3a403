// One bundle whose parts import and require: the bundler must find one copy.
import * as imported from 'leapguard'
import { required } from './bundled-part.cjs'

console.log(
  JSON.stringify({
    sameClass: imported.Guard === required.Guard && imported.BlockedError === required.BlockedError,
    sameGuard: imported.defaultGuard === required.defaultGuard,
  }),
)
