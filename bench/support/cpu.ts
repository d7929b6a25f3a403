// How much processor time has this process used? Other processes on the machine do not add to it, waiting for them does not either.

export function cpuNanos(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) * 1e3
}
