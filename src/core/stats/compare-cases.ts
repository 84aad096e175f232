import { seededRandom } from '../random.ts'
import { sum } from '../sum.ts'
import { betaCdf, bisect } from './beta-cdf.ts'
import { type CaseCount, type CasePair, effectiveTrials, rateOnTheseCases } from './exact-rate.ts'
import { boundsOf, type Melded, meldedDifference, meldedProduct } from './melded-difference.ts'
import { type SignFlips, signFlips } from './sign-flips.ts'
import { trialSwaps } from './trial-swaps.ts'

/** B against A. */
export type ComparisonVerdict = 'better' | 'worse' | 'same' | 'inconclusive'

export interface CaseDifference {
  /** null without pairs. */
  readonly value: number | null
  readonly low: number
  readonly high: number
  readonly p: number
  /** `trials`: about these cases only, because there are too few to say anything about others, or too few to say that they are the same. */
  readonly unit: 'cases' | 'trials'
}

/** With fewer cases no permutation of them can reach a p of .05. */
export const fewestCases = 6

/** The two-sided 95% quantile of the normal distribution. */
const z95 = 1.959963984540054

/** That of 99%. */
const z99 = 2.5758293035489004

/** The quantile of 80%. */
const z80 = 0.8416212335729143

/** The quantile of 90%: for `same` both bounds must hold, each in 90%. */
const z90 = 1.2815515655446004

/**
 * The difference of the pass rates, after minus before. Every case has the same weight. An answer about other cases is preferred; if it is
 * open, and these cases are the same within the margin, that is the answer.
 */
export function compareCases(pairs: readonly CasePair[], seed = 1, margin = 0): CaseDifference {
  if (pairs.length === 0) return { value: null, low: -1, high: 1, p: 1, unit: 'cases' }
  if (pairs.length < fewestCases) return compareTheseCases(pairs)
  const differences = pairs.map(differenceOf)
  const ofCases = { ...compareMeans(differences, seed, chancesOfTrials(pairs, seed)), unit: 'cases' } as const
  if (margin === 0 || verdictOf(ofCases, margin) !== 'inconclusive') return ofCases
  const { value, low, high } = compareTheseCases(pairs)
  // A second look at the same data would miss the truth more often, so its interval is one of 99%.
  const wide = (bound: number): number => (value ?? 0) + ((bound - (value ?? 0)) * z99) / z95
  const these = { low: Math.min(0, wide(low)), high: Math.max(0, wide(high)) }
  return verdictOf(these, margin) === 'same' ? { ...ofCases, ...these, unit: 'trials' } : ofCases
}

/** Only where the sides have different numbers of trials: otherwise a difference is as likely in both directions, if nothing changed. */
function chancesOfTrials(pairs: readonly CasePair[], seed: number): SignFlips {
  if (pairs.every(({ before, after }) => before.n === after.n)) return none
  if (sum(pairs.map(differenceOf)) >= 0) return trialSwaps(pairs, seed)
  return mirrored(
    trialSwaps(
      pairs.map(({ before, after }) => ({ before: after, after: before })),
      seed,
    ),
  )
}

const none: SignFlips = { asLarge: 0, asSmall: 0 }

function mirrored({ asLarge, asSmall }: SignFlips): SignFlips {
  return { asLarge: asSmall, asSmall: asLarge }
}

function compareTheseCases(pairs: readonly CasePair[]): CaseDifference {
  const [before, after] = [sideOf(pairs, 'before'), sideOf(pairs, 'after')]
  const value = after.rate - before.rate
  const melded =
    value < 0
      ? swapped(meldedDifference(after.bounds, before.bounds))
      : meldedDifference(before.bounds, after.bounds)
  return { value, ...around(value, melded), unit: 'trials' }
}

function sideOf(pairs: readonly CasePair[], side: keyof CasePair) {
  const cases = pairs.map((pair) => pair[side])
  const [rate, trials] = [rateOnTheseCases(cases).value ?? 0, effectiveTrials(cases)]
  return { rate, bounds: boundsOf(rate * trials, trials) }
}

/** A against B from B against A. Both are calculated in one order, so that rounding and draws cannot make them contradict. */
function swapped({ low, high, p }: Melded): Melded {
  return { low: -high, high: -low, p }
}

/**
 * The mean of differences between -1 and 1, one per case, by the permutation test and an interval that never contradicts it. `least`: chances
 * by another test; the larger ones count.
 */
export function compareMeans(
  differences: readonly number[],
  seed = 1,
  least: SignFlips = none,
): Melded & { readonly value: number } {
  const n = differences.length
  const total = sum(differences)
  const size = sum(differences.map(Math.abs))
  if (size === 0) {
    // Even if none of n differs, so large a share may differ.
    const unseen = 1 - 0.025 ** (1 / n)
    return { value: 0, low: -unseen, high: unseen, p: 1 }
  }
  if (total < 0) {
    const turned = differences.map((difference) => -difference)
    return { value: total / n, ...swapped(compareMeans(turned, seed, mirrored(least))) }
  }
  const flips = signFlips(differences, seed)
  const asLarge = Math.max(flips.asLarge, least.asLarge)
  const asSmall = Math.max(flips.asSmall, least.asSmall)
  const p = Math.min(1, 2 * Math.min(asLarge, asSmall))
  const up = (total / size + 1) / 2
  // The direction is known as well as by the number of coins that would give this p.
  const matching = bisect((m) => betaCdf(0.5, up * m, m - up * m + 1) > asLarge, 0, 4 * n)
  // Close to 0 any number of coins would do. There are no more than the differences that weigh.
  const coins =
    p < 0.05 ? matching : Math.min(matching, size ** 2 / sum(differences.map((each) => each ** 2)))
  const { low, high } = meldedProduct(boundsOf(size, n), boundsOf(up * coins, coins))
  return { value: total / n, ...around(total / n, { low, high, p }) }
}

/** An interval always contains its value. */
function around(value: number, { low, high, p }: Melded): Melded {
  return { low: Math.min(low, value), high: Math.max(high, value), p }
}

export function verdictOf(
  { low, high }: Pick<CaseDifference, 'low' | 'high'>,
  margin: number,
): ComparisonVerdict {
  if (low >= -margin && high <= margin) return 'same'
  if (low > 0) return 'better'
  return high < 0 ? 'worse' : 'inconclusive'
}

/**
 * How many more trials of every case would probably decide, if both rates stay as they are: that there is a difference, or that these cases
 * are the same. null when no number of trials would, because the cases differ too much or too few do: then more cases are needed.
 */
export function neededTrials(pairs: readonly CasePair[], margin: number): number | null {
  if (pairs.length === 0) return null
  const cases = pairs.length
  const mean = sum(pairs.map(differenceOf)) / cases
  const value = Math.abs(mean)
  const sides = [pairs.map(({ before }) => before), pairs.map(({ after }) => after)]
  const now = Math.min(...sides.map(effectiveTrials)) / cases
  // One pass and one failure more, so that a case which always passed is not taken as certain.
  const noise = sum(sides.flatMap((side) => side.map(variance))) / cases
  const spread = sum(pairs.map((pair) => (differenceOf(pair) - mean) ** 2)) / Math.max(1, cases - 1)
  const ofCases = cases < fewestCases ? 0 : Math.max(0, spread - noise / now)
  const certain = cases < fewestCases ? z95 : z99
  const isOpen = (trials: number): boolean => {
    const n = cases * trials
    const ofSides = sides.map((side) => variance({ passes: (n * sum(side.map(shareOf))) / cases, n }))
    return (
      foundFrom(cases, trials, ofCases + noise / trials) > value &&
      (certain + z90) * Math.sqrt(sum(ofSides) / n) > margin - value
    )
  }
  return isOpen(mostTrials) ? null : Math.max(1, Math.ceil(bisect(isOpen, now, mostTrials) - now))
}

const mostTrials = 1e6

/** The smallest true difference that is found in 80 of 100 comparisons. `varianceAt`: variance of a case's difference, if it is so large. */
export function detectableDifference(
  cases: number,
  trials: number,
  varianceAt: (difference: number) => number,
): number {
  return bisect((difference) => difference < foundFrom(cases, trials, varianceAt(difference)), 0, 1)
}

/**
 * A permutation also weighs the size of the differences, so its standard error is that of four cases fewer. Sums of passes are whole numbers:
 * the test rounds in favour of no difference. Checked by `npm run simulate`.
 */
function foundFrom(cases: number, trials: number, variance: number): number {
  // All of the fewest cases have to agree.
  if (Math.floor(cases) === fewestCases) return 1.7923 * Math.sqrt(variance) + 0.5 / trials
  const weighing = cases < fewestCases ? cases : cases - 4
  return z95 * Math.sqrt(variance / weighing) + z80 * Math.sqrt(variance / cases) + 1.5 / (cases * trials)
}

/** How many more pairs with differences like these (between -1 and 1) would probably decide. null when no number would. */
export function neededPairs(differences: readonly number[], margin: number): number | null {
  const n = differences.length
  const value = sum(differences) / n
  const spread = sum(differences.map((difference) => (difference - value) ** 2)) / Math.max(1, n - 1)
  const goal = Math.max(Math.abs(value), margin - Math.abs(value))
  const trials = differences.every(Number.isInteger) ? 1 : Number.POSITIVE_INFINITY
  const isOpen = (pairs: number): boolean => foundFrom(pairs, trials, spread) > goal
  // If none of n differs, a share of up to 1 - .025^(1/n) may differ all the same.
  const needed =
    value === 0 && spread === 0
      ? Math.log(0.025) / Math.log1p(-Math.min(margin, 0.999))
      : isOpen(mostTrials)
        ? Number.POSITIVE_INFINITY
        : bisect(isOpen, fewestCases, mostTrials) - 1e-3
  return Number.isFinite(needed) ? Math.max(1, Math.max(fewestCases, Math.ceil(needed)) - n) : null
}

/** The ratio of two amounts, after to before, with its 95% interval. */
export interface Ratio {
  readonly ratio: number
  /** null with too few pairs. */
  readonly low: number | null
  readonly high: number | null
}

const subsets = 2_000

/**
 * Of totals over the pairs. The interval is that of random subsets of the pairs (Hartigan, "Using subsample values as typical values",
 * JASA 1969); it assumes that the pairs vary evenly to both sides. A bound is null where too few pairs have an amount, or none.
 */
export function ratioOf(
  pairs: readonly { readonly before: number; readonly after: number }[],
  seed = 1,
): Ratio | null {
  const [before, after] = [sum(pairs.map((pair) => pair.before)), sum(pairs.map((pair) => pair.after))]
  if (before <= 0) return null
  const ratio = after / before
  const least = Math.min(count(pairs, 'before'), count(pairs, 'after'))
  if (least < fewestCases) return { ratio, low: null, high: null }
  const random = seededRandom(seed)
  const ratios = Float64Array.from({ length: subsets }, () => {
    let [was, is, bits] = [0, 0, 0]
    for (const [index, pair] of pairs.entries()) {
      if (index % 32 === 0) bits = random() * 2 ** 32
      if (((bits >>> (index % 32)) & 1) === 0) continue
      was += pair.before
      is += pair.after
    }
    return was > 0 ? is / was : is > 0 ? Number.POSITIVE_INFINITY : ratio
  }).sort()
  const low = ratios[Math.floor(0.025 * subsets)] ?? ratio
  const high = ratios[Math.ceil(0.975 * subsets) - 1] ?? ratio
  return { ratio, low: Math.min(ratio, low), high: Number.isFinite(high) ? Math.max(ratio, high) : null }
}

function count(
  pairs: readonly { readonly before: number; readonly after: number }[],
  side: 'before' | 'after',
): number {
  return pairs.filter((pair) => pair[side] > 0).length
}

/** Holm's adjustment of p for several claims, in the order given. */
export function holm(ps: readonly number[]): readonly number[] {
  const order = ps.map((_, index) => index).sort((a, b) => (ps[a] ?? 1) - (ps[b] ?? 1))
  const adjusted: number[] = Array(ps.length).fill(1)
  let largest = 0
  for (const [rank, index] of order.entries()) {
    largest = Math.min(1, Math.max(largest, (ps[index] ?? 1) * (ps.length - rank)))
    adjusted[index] = largest
  }
  return adjusted
}

/** One of several claims: its interval contains 0 when the adjusted p is above .05. */
export function withAdjustedP<Difference extends Melded>(difference: Difference, p: number): Difference {
  if (p <= 0.05) return { ...difference, p }
  return { ...difference, p, low: Math.min(difference.low, 0), high: Math.max(difference.high, 0) }
}

function differenceOf({ before, after }: CasePair): number {
  return shareOf(after) - shareOf(before)
}

function shareOf({ passes, n }: CaseCount): number {
  return passes / n
}

function variance({ passes, n }: CaseCount): number {
  const share = (passes + 1) / (n + 2)
  return share * (1 - share)
}
