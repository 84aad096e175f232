/** One case, before and after. */
export interface Pair {
  readonly before: number
  readonly after: number
}

export type SignTest = ReturnType<typeof signTest>

/**
 * The exact sign test over pairs. For outcomes of 0 and 1 it is the exact McNemar test. Ties are left out, so five cases must change in
 * the same direction for a one-sided p below .05.
 */
export function signTest(pairs: readonly Pair[]) {
  const better = pairs.filter(({ before, after }) => after > before).length
  const worse = pairs.filter(({ before, after }) => after < before).length
  const pWorse = atLeastHeads(worse, better + worse)
  const pBetter = atLeastHeads(better, better + worse)
  return {
    better,
    worse,
    tied: pairs.length - better - worse,
    /** Chance of a split at least this uneven, in either direction, if nothing had changed. */
    pTwoSided: Math.min(1, 2 * Math.min(pWorse, pBetter)),
    /** Chance of so many worse cases if nothing had changed. */
    pWorse,
    pBetter,
  }
}

/** Chance of `heads` or more in `tosses` of a fair coin. Uses logarithms, because 2^-tosses underflows. */
function atLeastHeads(heads: number, tosses: number): number {
  let logChance = -tosses * Math.LN2
  let sum = 0
  for (let tails = 0; tails <= tosses - heads; tails += 1) {
    sum += Math.exp(logChance)
    logChance += Math.log((tosses - tails) / (tails + 1))
  }
  return Math.min(1, sum)
}
