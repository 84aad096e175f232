import { seededRandom } from '../random.ts'
import { type BootstrapOptions, quantile, resampledMeans } from './case-mean-rate.ts'
import type { Pair } from './sign-test.ts'
import { wilsonRate, z95 } from './wilson.ts'

/** The mean of after minus before, with its 95% interval. */
export interface Difference {
  /** null without pairs. */
  readonly value: number | null
  readonly low: number
  readonly high: number
  readonly n: number
  /** Standard deviation of the differences. */
  readonly standardDeviation: number
}

export interface DifferenceOptions extends BootstrapOptions {
  /** The largest difference there can be, such as 1 for shares. */
  readonly scale: number
}

/**
 * The effect of a change on the same cases, with a percentile interval from resampling whole pairs. The same pairs in the same order
 * give the same interval.
 *
 * When all differences are equal, resampling would claim certainty. Then the width is the Wilson bound for 0 of n pairs that differ,
 * times the largest possible difference.
 */
export function pairedDifference(pairs: readonly Pair[], options: DifferenceOptions): Difference {
  const { scale, seed = 1, resamples = 2_000 } = options
  const differences = Float64Array.from(pairs, ({ before, after }) => after - before)
  const [first] = differences
  if (first === undefined) return { value: null, low: -scale, high: scale, n: 0, standardDeviation: 0 }
  const n = differences.length
  if (differences.every((difference) => difference === first)) {
    const unseen = scale * wilsonRate(0, n).high
    const [low, high] = [Math.max(-scale, first - unseen), Math.min(scale, first + unseen)]
    return { value: first, low, high, n, standardDeviation: 0 }
  }
  const value = differences.reduce((sum, difference) => sum + difference, 0) / n
  const squares = differences.reduce((sum, difference) => sum + (difference - value) ** 2, 0)
  const means = resampledMeans(differences, resamples, seededRandom(seed))
  return {
    value,
    low: quantile(means, 0.025),
    high: quantile(means, 0.975),
    n,
    standardDeviation: Math.sqrt(squares / (n - 1)),
  }
}

/** The number of pairs needed, at the observed spread, for an interval of at most `margin` to each side. */
export function pairsNeeded(
  { standardDeviation }: Pick<Difference, 'standardDeviation'>,
  margin: number,
  scale: number,
): number {
  if (margin <= 0 || scale <= margin) return 1
  if (standardDeviation > 0) return Math.ceil(((z95 * standardDeviation) / margin) ** 2)
  // None of n differs: the Wilson bound z² / (n + z²) must fall to the margin's share of the scale.
  return Math.ceil(z95 ** 2 * (scale / margin - 1))
}
