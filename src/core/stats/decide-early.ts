import { bisect } from './beta-cdf.ts'
import { type ComparisonVerdict, verdictOf } from './compare-cases.ts'

/** Pairs of trials of the same case: only the second passed, only the first, or both gave the same answer. */
export interface PairCounts {
  readonly wins: number
  readonly losses: number
  readonly ties: number
}

/** Shares of the wealth that are bet. Small ones find small differences late, large ones find large differences soon. */
const bets = [0.02, 0.04, 0.07, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.65, 0.8, 0.95]

/**
 * Evidence against "the mean difference is at most `bound`", which may be looked at after every round: the mean wealth of gamblers who
 * bet a fixed share on a larger one. If the claim is true, the chance that it ever reaches 1/p is at most p (Ville), whatever the moment of
 * looking (Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting", JRSS B 2024). The claim is about the mean
 * over all cases; single cases may differ, so it must be looked at only after whole rounds of one pair per case.
 */
export function wealthAgainstAtMost(bound: number, { wins, losses, ties }: PairCounts): number {
  // Of a claim below -1 or above 1 nothing can be lost or won.
  const most = 1 / (1 + bound)
  const logs = bets.map((bet) => {
    const share = bet * most
    return (
      wins * Math.log1p(share * (1 - bound)) +
      losses * Math.log1p(share * (-1 - bound)) +
      ties * Math.log1p(-share * bound)
    )
  })
  const largest = Math.max(...logs)
  return Math.exp(
    Math.min(
      700,
      largest + Math.log(logs.reduce((sum, log) => sum + Math.exp(log - largest), 0) / bets.length),
    ),
  )
}

export function wealthAgainstAtLeast(bound: number, { wins, losses, ties }: PairCounts): number {
  return wealthAgainstAtMost(-bound, { wins: losses, losses: wins, ties })
}

export interface EarlyDecision {
  readonly verdict: ComparisonVerdict
  /** Contains the true difference at every look with a chance of 1 - level. */
  readonly low: number
  readonly high: number
  /** Of "there is no difference"; may be looked at after every round, too. */
  readonly p: number
}

const mostRounds = 1_000

/** How many more rounds like these would decide; null when even a thousand would not. */
export function neededRounds(
  { counts, rounds, level }: { readonly counts: PairCounts; readonly rounds: number; readonly level: number },
  margin: number,
): number | null {
  const isOpen = (more: number): boolean => {
    const times = (rounds + more) / rounds
    const { wins, losses, ties } = counts
    const after = { wins: wins * times, losses: losses * times, ties: ties * times }
    return decideEarly(after, margin, level).verdict === 'inconclusive'
  }
  return rounds === 0 || isOpen(mostRounds) ? null : Math.ceil(bisect(isOpen, 0, mostRounds) - 1e-6)
}

export function decideEarly(counts: PairCounts, margin: number, level = 0.05): EarlyDecision {
  const isOut = (wealth: number): boolean => wealth >= 2 / level
  const low = isOut(wealthAgainstAtMost(-0.999, counts))
    ? bisect((x) => isOut(wealthAgainstAtMost(x, counts)), -0.999, 1)
    : -1
  const high = isOut(wealthAgainstAtLeast(0.999, counts))
    ? bisect((x) => !isOut(wealthAgainstAtLeast(x, counts)), -1, 0.999)
    : 1
  const wealth = Math.max(wealthAgainstAtMost(0, counts), wealthAgainstAtLeast(0, counts))
  return { verdict: verdictOf({ low, high }, margin), low, high, p: Math.min(1, 2 / wealth) }
}
