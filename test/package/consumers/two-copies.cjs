// Two copies of the package on disk, the own one and that of a dependency (argument): what they recognise of each other.
const own = require('leapguard')
const other = require(process.argv[2])
const { ManualClock } = require('leapguard/testing')

const thrown = (act) => {
  try {
    act()
  } catch (error) {
    return error
  }
}
const warnings = []
process.on('warning', ({ code }) => warnings.push(code))

async function main() {
  const theirs = other.createGuard({ clock: new ManualClock() })
  theirs.forceOpen('theirs')
  const refusal = thrown(() => theirs.enter('theirs'))
  const fault = thrown(() => theirs.loadRules({ degrade: [{}] }))
  const ours = own.createGuard()
  ours.loadRules({ degrade: [{ resource: 'ours', strategy: 'error-count', threshold: 1 }] })
  await ours.entry('ours', () => theirs.entry('theirs', () => 1)).catch(() => undefined)

  other.loadRules({ degrade: [{ resource: 'shared', strategy: 'error-count', threshold: 1 }] })
  const handle = other.enter('shared')
  // A handle of the shared guard is good in either copy.
  if (own.defaultGuard === other.defaultGuard) own.enter('shared', { parent: handle }).exit()
  handle.exit({ error: 1 })
  await new Promise((resolve) => setImmediate(resolve)) // warnings are emitted on the next turn

  console.log(
    JSON.stringify({
      sameClass: own.Guard === other.Guard,
      isBlocked: own.isBlocked(refusal),
      blockedError: refusal instanceof own.BlockedError,
      ruleError: fault instanceof own.RuleError,
      countedAs: ours.stats('ours').totals,
      oneDefaultGuard: own.defaultGuard === other.defaultGuard,
      rulesOfDefault: own.rules().degrade.length,
      sharedState: own.stats('shared').rules[0]?.state,
      warnings,
    }),
  )
}

main()
