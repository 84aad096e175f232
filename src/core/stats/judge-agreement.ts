import { seededRandom } from '../random.ts'
import type { Rate } from '../summary.ts'
import { exactRate } from './exact-rate.ts'

/** A trial that a person labelled and the judge scored. */
export interface LabelledScore {
  readonly isGood: boolean
  readonly passed: boolean
  readonly score: number
}

export interface JudgeAgreement {
  readonly labels: number
  readonly confusion: Confusion
  readonly agreement: Rate
  /** Cohen's kappa with its 95% interval; null when all labels, or all answers of the judge, are the same. */
  readonly kappa: { readonly value: number; readonly low: number; readonly high: number } | null
  /** Share of the good trials that the judge passes, and of the bad ones that it fails. */
  readonly sensitivity: Rate
  readonly specificity: Rate
  /** The threshold that would agree with most labels; the lowest of equals. */
  readonly best_threshold: { readonly threshold: number; readonly agreement: number } | null
}

interface Confusion {
  readonly good_passed: number
  readonly good_failed: number
  readonly bad_passed: number
  readonly bad_failed: number
}

/** With fewer labels a judge counts as not calibrated. */
export const enoughLabels = 30
/** Below it, a judge agrees with people hardly more than by chance. */
export const poorKappa = 0.6

const draws = 4_000

export function judgeAgreement(trials: readonly LabelledScore[], seed = 1): JudgeAgreement {
  const count = (isGood: boolean, passed: boolean): number =>
    trials.filter((trial) => trial.isGood === isGood && trial.passed === passed).length
  const confusion: Confusion = {
    good_passed: count(true, true),
    good_failed: count(true, false),
    bad_passed: count(false, true),
    bad_failed: count(false, false),
  }
  const { good_passed, good_failed, bad_passed, bad_failed } = confusion
  return {
    labels: trials.length,
    confusion,
    agreement: exactRate(good_passed + bad_failed, trials.length),
    kappa: kappaOf(confusion, seed),
    sensitivity: exactRate(good_passed, good_passed + good_failed),
    specificity: exactRate(bad_failed, bad_passed + bad_failed),
    best_threshold: bestThreshold(trials),
  }
}

/**
 * The share of good trials behind a share that the judge passed (Rogan and Gladen, 1978). The interval allows for chance in the trials and in
 * the labels. null when the judge is hardly better than a coin.
 */
export function correctedRate(
  passes: number,
  n: number,
  { good_passed, good_failed, bad_passed, bad_failed }: Confusion,
  seed = 1,
): { readonly value: number; readonly low: number; readonly high: number } | null {
  const [good, bad] = [good_passed + good_failed, bad_passed + bad_failed]
  if (n === 0 || good === 0 || bad === 0) return null
  const corrected = (rate: number, sensitivity: number, specificity: number): number =>
    Math.min(1, Math.max(0, (rate + specificity - 1) / (sensitivity + specificity - 1)))
  const [sensitivity, specificity] = [good_passed / good, bad_failed / bad]
  if (sensitivity + specificity < 1.1) return null
  const draw = betaDraws(seed)
  const values = Array.from({ length: draws }, () => {
    const [sens, spec] = [draw(good_passed, good_failed), draw(bad_failed, bad_passed)]
    return corrected(draw(passes, n - passes), sens, Math.max(spec, 1.02 - sens))
  })
  return middleAround(corrected(passes / n, sensitivity, specificity), values)
}

function kappaOf({ good_passed, good_failed, bad_passed, bad_failed }: Confusion, seed: number) {
  const kappa = (a: number, b: number, c: number, d: number): number => {
    const n = a + b + c + d
    const chance = ((a + b) * (a + c) + (c + d) * (b + d)) / n ** 2
    return ((a + d) / n - chance) / (1 - chance)
  }
  const sums = [
    good_passed + good_failed,
    bad_passed + bad_failed,
    good_passed + bad_passed,
    good_failed + bad_failed,
  ]
  if (sums.includes(0)) return null
  const random = seededRandom(seed)
  const cells = [good_passed, good_failed, bad_passed, bad_failed].map((cell) => cell + 0.5)
  const values = Array.from({ length: draws }, () => {
    const [a = 0, b = 0, c = 0, d = 0] = cells.map((cell) => gammaDraw(cell, random))
    return kappa(a, b, c, d)
  })
  return middleAround(kappa(good_passed, good_failed, bad_passed, bad_failed), values)
}

function bestThreshold(trials: readonly LabelledScore[]): JudgeAgreement['best_threshold'] {
  const scores = trials.map(({ score }) => score)
  const thresholds = [...new Set(scores.length === 0 ? [] : [...scores, 1])].sort((a, b) => a - b)
  let best: JudgeAgreement['best_threshold'] = null
  for (const threshold of thresholds) {
    const agreement =
      trials.filter(({ score, isGood }) => score >= threshold === isGood).length / trials.length
    if (best === null || agreement > best.agreement) best = { threshold, agreement }
  }
  return best
}

/** A value with the middle 95% of the draws, which contains it. */
function middleAround(value: number, values: readonly number[]) {
  const sorted = values.toSorted((a, b) => a - b)
  const [low, high] = [sorted[Math.floor(0.025 * draws)] ?? 0, sorted[Math.ceil(0.975 * draws) - 1] ?? 1]
  return { value, low: Math.min(low, value), high: Math.max(high, value) }
}

/** Shares that are plausible after so many hits and misses (Jeffreys). */
function betaDraws(seed: number): (hits: number, misses: number) => number {
  const random = seededRandom(seed)
  return (hits, misses) => {
    const [a, b] = [gammaDraw(hits + 0.5, random), gammaDraw(misses + 0.5, random)]
    return a / (a + b)
  }
}

/** Marsaglia and Tsang, "A simple method for generating gamma variables", 2000. */
function gammaDraw(shape: number, random: () => number): number {
  if (shape < 1) return gammaDraw(shape + 1, random) * random() ** (1 / shape)
  const d = shape - 1 / 3
  const c = 1 / Math.sqrt(9 * d)
  for (;;) {
    const x = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
    const v = (1 + c * x) ** 3
    if (v > 0 && Math.log(1 - random()) < x ** 2 / 2 + d - d * v + d * Math.log(v)) return d * v
  }
}
