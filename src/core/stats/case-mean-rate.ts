import { seededRandom } from '../random.ts'
import type { Rate } from '../summary.ts'
import { wilsonRate } from './wilson.ts'

/** The share of passes in one case, and its number of trials. */
export interface CaseMean {
  readonly mean: number
  readonly n: number
}

export interface BootstrapOptions {
  readonly seed?: number
  readonly resamples?: number
}

/**
 * Mean of case means with a 95% percentile interval from resampling whole cases: trials of one case resemble each
 * other, so pooling them would pretend to know more. The same cases in the same order give the same interval.
 *
 * Without spread, resampling would claim certainty. So a single case has the Wilson interval of its trials, and several cases with the
 * same mean have the Wilson interval of as many trials as there are cases.
 */
export function caseMeanRate(cases: readonly CaseMean[], options: BootstrapOptions = {}): Rate {
  const [first] = cases
  if (first === undefined) return wilsonRate(0, 0)
  const trials = cases.reduce((sum, { n }) => sum + n, 0)
  if (cases.length === 1) return wilsonRate(first.mean * first.n, first.n)
  if (cases.every(({ mean }) => mean === first.mean))
    return { ...wilsonRate(first.mean * cases.length, cases.length), value: first.mean, n: trials }
  const means = Float64Array.from(cases, ({ mean }) => mean)
  const resampled = resampledMeans(means, options.resamples ?? 2_000, seededRandom(options.seed ?? 1))
  return {
    value: means.reduce((sum, mean) => sum + mean, 0) / means.length,
    low: quantile(resampled, 0.025),
    high: quantile(resampled, 0.975),
    n: trials,
  }
}

/** Sorted means of samples drawn with replacement, each as large as the original. */
export function resampledMeans(values: Float64Array, resamples: number, random: () => number): Float64Array {
  const result = new Float64Array(resamples)
  for (let sample = 0; sample < resamples; sample += 1) {
    let sum = 0
    for (let draw = 0; draw < values.length; draw += 1)
      sum += values[Math.floor(random() * values.length)] ?? 0
    result[sample] = sum / values.length
  }
  return result.sort()
}

/** Interpolates linearly between neighbours. */
export function quantile(sorted: Float64Array, share: number): number {
  const place = (sorted.length - 1) * share
  const below = sorted[Math.floor(place)] ?? 0
  const above = sorted[Math.ceil(place)] ?? below
  return below + (above - below) * (place - Math.floor(place))
}
