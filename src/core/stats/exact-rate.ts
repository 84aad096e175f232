import type { Rate } from '../summary.ts'
import { betaQuantile } from './beta-cdf.ts'

/** The counted trials of one case. `passes` may be a fraction, such as a mean score times the trials. */
export interface CaseCount {
  readonly passes: number
  readonly n: number
}

export interface CasePair {
  readonly before: CaseCount
  readonly after: CaseCount
}

/** From so many cases on they say something about cases that were not tried. */
export const casesToGeneralize = 10

const tail = 0.025

/** Thousands of cases have the same few counts. */
const known = new Map<string, Rate>()

/**
 * A share with its exact 95% interval (Clopper and Pearson, 1934): it never claims more than the trials show, and one more pass never
 * lowers a bound. Without trials nothing is known.
 */
export function exactRate(passes: number, n: number): Rate {
  if (n <= 0) return { value: null, low: 0, high: 1, n: 0 }
  const key = `${passes} of ${n}`
  const rate = known.get(key) ?? {
    value: passes / n,
    low: betaQuantile(tail, passes, n - passes + 1),
    high: betaQuantile(1 - tail, passes + 1, n - passes),
    n,
  }
  if (known.size < 10_000) known.set(key, rate)
  return rate
}

/**
 * The mean of the case means, and how far chance in the trials of these cases may have moved it. Every case has the same weight, so the
 * interval is that of cases which all have as few trials as the one with the fewest.
 */
export function rateOnTheseCases(cases: readonly CaseCount[]): Rate {
  const tried = cases.filter(({ n }) => n > 0)
  if (tried.length === 0) return exactRate(0, 0)
  const trials = tried.reduce((sum, { n }) => sum + n, 0)
  const effective = effectiveTrials(tried)
  return { ...exactRate(meanOf(tried) * effective, effective), n: trials }
}

/** The rate to expect for cases like these: every case counts as one trial, whatever its repetitions. null with too few cases. */
export function rateForCasesLikeThese(cases: readonly CaseCount[]): Rate | null {
  const tried = cases.filter(({ n }) => n > 0)
  return tried.length < casesToGeneralize ? null : exactRate(meanOf(tried) * tried.length, tried.length)
}

/** Cases with more trials than others make a mean no safer, because any case may be the uncertain one. */
export function effectiveTrials(cases: readonly CaseCount[]): number {
  return cases.length * cases.reduce((least, { n }) => Math.min(least, n), Number.POSITIVE_INFINITY)
}

function meanOf(cases: readonly CaseCount[]): number {
  return cases.reduce((sum, { passes, n }) => sum + passes / n, 0) / cases.length
}
