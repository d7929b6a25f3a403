// leapguard/testing: what tests need.
export { type Clock, ManualClock } from '../windows/index.js'
