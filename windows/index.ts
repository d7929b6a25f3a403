export { type Clock, ManualClock, PreciseClock } from './clock.js'
export { CountingWindow, type SavedBuckets } from './counting-window.js'
export { LeapArray, type LeapArrayOptions } from './leap-array.js'
export { StartRing, startBucketMs } from './start-ring.js'
