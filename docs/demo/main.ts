// `npm run demo`: ties the demo to this process. It ends by itself; the exit status is set, never forced.
import { demo } from './demo.js'

const stop = new AbortController()
const stoppedBy = (status: number) => () => {
  process.exitCode = status
  stop.abort()
}
// Once: a second Ctrl-C ends the process the hard way.
process.once('SIGINT', stoppedBy(130))
process.once('SIGTERM', stoppedBy(143))
// The reader is gone (`npm run demo | head`): nobody is left to show anything to.
process.stdout.on('error', stoppedBy(141))

const { argv, env, stdout, stderr } = process
const status = await demo({ argv: argv.slice(2), env, cwd: process.cwd(), stdout, stderr, stop: stop.signal })
process.exitCode ||= status
