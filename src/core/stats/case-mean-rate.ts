import { seededRandom } from '../random.ts'
import type { Rate } from '../summary.ts'
import { quantile, resampledMeans } from './resampled-means.ts'
import { wilsonRate } from './wilson.ts'

/** What a suite's rate is made of: the share of passes in one case, and from how many trials it comes. */
export interface CaseMean {
  readonly mean: number
  readonly n: number
}

export interface BootstrapOptions {
  readonly seed?: number
  readonly resamples?: number
}

/**
 * Mean of case means with a 95 % percentile interval from resampling whole cases: trials of one case resemble each
 * other, so pooling them would pretend to know more. The same cases in the same order give the same interval.
 *
 * Resampling sees no spread where there is none to see, and would then claim certainty. So a single case has the
 * Wilson interval of its trials, and several cases with one and the same mean have the Wilson interval of as
 * many trials as there are cases.
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
