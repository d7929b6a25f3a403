// What arithmetic says, for the simulations to be compared with.

/** Chance of at least `least` bad calls among `n`, each bad with chance `p`. */
export function atLeast(least: number, n: number, p: number): number {
  let sum = 0
  for (let bad = least; bad <= n; bad++) sum += binomial(bad, n, p)
  return sum
}

function binomial(bad: number, n: number, p: number): number {
  let logChoices = 0
  for (let i = 1; i <= bad; i++) logChoices += Math.log((n - bad + i) / i)
  return Math.exp(logChoices + bad * Math.log(p) + (n - bad) * Math.log1p(-p))
}

/**
 * What becomes of `n` calls that find a fresh window, where a ratio rule judges after each call from the `minimum`th on: the chance that it
 * opens, and how many of them are made on average.
 */
export function fromFresh(rule: { threshold: number; minimum: number }, n: number, p: number) {
  // chances[b]: still closed after j calls, b of them bad.
  let chances = [1]
  let opens = 0
  let calls = 0
  for (let j = 1; j <= n; j++) {
    calls += 1 - opens
    const next = Array<number>(j + 1).fill(0)
    chances.forEach((chance, bad) => {
      next[bad] = (next[bad] as number) + chance * (1 - p)
      next[bad + 1] = (next[bad + 1] as number) + chance * p
    })
    for (let bad = 0; bad <= j && j >= rule.minimum; bad++) {
      if (bad === 0 || bad / j < rule.threshold) continue
      opens += next[bad] as number
      next[bad] = 0
    }
    chances = next
  }
  return { opens, calls }
}
