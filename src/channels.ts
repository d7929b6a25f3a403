// The diagnostics channels: how a guard tells what happens to anybody in the process who does not hold it, a tracing agent above all.
import { channel } from 'node:diagnostics_channel'
import type { ChannelMessages, EventChannel } from './types.js'

const of = <N extends keyof ChannelMessages>(name: string) => channel(name) as EventChannel<ChannelMessages[N]>

/**
 * One channel of `node:diagnostics_channel` for each kind of event, shared by all guards of the process. A message is a
 * {@link ChannelMessages}: what a listener of `guard.on` hears, and the name of the guard.
 *
 * Subscribers run synchronously, after the listeners of the same event, once the operation behind it is complete; those of `fault` at once. What one throws
 * Node.js raises as an uncaught exception in a later tick, out of the reach of the call. A channel without subscribers costs nothing.
 */
export const channels = Object.freeze({
  /** A breaker changed its state. */
  state: of<'state'>('leapguard:breaker:state'),
  /** A call was refused. */
  blocked: of<'blocked'>('leapguard:call:blocked'),
  /** Rules were loaded. */
  reload: of<'reload'>('leapguard:rules:reload'),
  /** A fault was kept away from a call, as `onInternalError` is told, once per cause. */
  fault: of<'fault'>('leapguard:guard:fault'),
})
