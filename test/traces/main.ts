// npm run traces -- [--strict] PATH...   Replays recordings of other systems on this library; see data/README.md.
import { command } from './command.js'

process.exitCode = command(process.argv.slice(2), console.log, console.error)
