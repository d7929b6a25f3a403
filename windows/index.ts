export { type Clock, ManualClock, PreciseClock } from './clock.js'
export { CountWindow, type SavedRuns } from './count-window.js'
export { CountingWindow, type SavedBuckets } from './counting-window.js'
export { LatencyHistogram, RollingLatencyHistogram } from './latency-histogram.js'
export { LeapArray, type LeapArrayOptions } from './leap-array.js'
export {
  type MetricSnapshot,
  MetricWindow,
  type MetricWindowOptions,
  type ResponseTimes,
} from './metric-window.js'
export { StartRing, startBucketMs } from './start-ring.js'
