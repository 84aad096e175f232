import { seededRandom } from '../random.ts'
import { betaCdf, bisect } from './beta-cdf.ts'
import { type CaseCount, effectiveTrials, rateOnTheseCases } from './exact-rate.ts'
import { boundsOf, type Melded, meldedDifference, meldedProduct } from './melded-difference.ts'
import { signFlips } from './sign-flips.ts'

/** B against A. */
export type ComparisonVerdict = 'better' | 'worse' | 'same' | 'inconclusive'

/** One case with both sides. */
export interface CasePair {
  readonly before: CaseCount
  readonly after: CaseCount
}

export interface CaseDifference {
  /** null without pairs. */
  readonly value: number | null
  readonly low: number
  readonly high: number
  readonly p: number
  /** `trials`: there are too few cases to say anything about others, so this is about these cases only. */
  readonly unit: 'cases' | 'trials'
}

/** With fewer cases no permutation of them can reach a p of .05. */
export const fewestCases = 6

/** The two-sided 95% quantile of the normal distribution. */
const z95 = 1.959963984540054

/** The quantile of 80%. */
const z80 = 0.8416212335729143

/** The difference of the pass rates, after minus before. Every case has the same weight. */
export function compareCases(pairs: readonly CasePair[], seed = 1): CaseDifference {
  if (pairs.length === 0) return { value: null, low: -1, high: 1, p: 1, unit: 'cases' }
  if (pairs.length >= fewestCases) return { ...compareMeans(pairs.map(differenceOf), seed), unit: 'cases' }
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

/** The mean of differences between -1 and 1, one per case, by the permutation test and an interval that never contradicts it. */
export function compareMeans(differences: readonly number[], seed = 1): Melded & { readonly value: number } {
  const n = differences.length
  const total = sum(differences)
  const size = sum(differences.map(Math.abs))
  if (size === 0) {
    // Even if none of n differs, so large a share may differ.
    const unseen = 1 - 0.025 ** (1 / n)
    return { value: 0, low: -unseen, high: unseen, p: 1 }
  }
  if (total < 0) {
    const mirrored = differences.map((difference) => -difference)
    return { value: total / n, ...swapped(compareMeans(mirrored, seed)) }
  }
  const { asLarge, asSmall } = signFlips(differences, seed)
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
 * How many more trials of every case would probably decide, if the difference stays as it is: until 0 or the margin is far enough
 * away. null when no number of trials would, because there are too few cases or they differ too much: then more cases are needed.
 */
export function neededTrials(pairs: readonly CasePair[], margin: number): number | null {
  if (pairs.length === 0) return null
  const value = sum(pairs.map(differenceOf)) / pairs.length
  const goal = Math.max(Math.abs(value), margin - Math.abs(value))
  const mayVary = 1 - 0.025 ** (1 / pairs.length)
  if (pairs.length >= fewestCases && goal > Math.abs(value) && mayVary > margin) return null
  const now =
    Math.min(
      effectiveTrials(pairs.map((pair) => pair.before)),
      effectiveTrials(pairs.map((pair) => pair.after)),
    ) / pairs.length
  // One pass and one failure more, so that a case which always passed is not taken as certain.
  const noise = sum(pairs.map(({ before, after }) => variance(before) + variance(after))) / pairs.length
  const spread = sum(pairs.map((pair) => (differenceOf(pair) - value) ** 2)) / Math.max(1, pairs.length - 1)
  const ofCases = pairs.length < fewestCases ? 0 : Math.max(0, spread - noise / now)
  const isOpen = (trials: number): boolean => foundFrom(pairs.length, trials, ofCases + noise / trials) > goal
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

/** Fisher's exact test of two shares, the smaller tail doubled. */
export function fisherTest({ before, after }: CasePair): number {
  const passes = before.passes + after.passes
  const chances: number[] = []
  const logs = logFactorials(before.n + after.n)
  const log = (n: number): number => logs[n] ?? 0
  const choose = (n: number, k: number): number => log(n) - log(k) - log(n - k)
  for (let here = Math.max(0, passes - before.n); here <= Math.min(after.n, passes); here += 1)
    chances[here] = Math.exp(
      choose(after.n, here) + choose(before.n, passes - here) - choose(before.n + after.n, passes),
    )
  const up = sum(chances.map((chance, here) => (here >= after.passes ? chance : 0)))
  const down = sum(chances.map((chance, here) => (here <= after.passes ? chance : 0)))
  return Math.min(1, 2 * Math.min(up, down))
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
  return after.passes / after.n - before.passes / before.n
}

function variance({ passes, n }: CaseCount): number {
  const share = (passes + 1) / (n + 2)
  return share * (1 - share)
}

function logFactorials(n: number): readonly number[] {
  const logs = [0]
  for (let k = 1; k <= n; k += 1) logs.push((logs.at(-1) ?? 0) + Math.log(k))
  return logs
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + (value ?? 0), 0)
}
