import { settled } from '../../../core/case-tally.ts'
import type { BootstrapOptions } from '../../../core/stats/case-mean-rate.ts'
import { type Difference, pairedDifference, pairsNeeded } from '../../../core/stats/paired-difference.ts'
import { type Pair, type SignTest, signTest } from '../../../core/stats/sign-test.ts'
import {
  type ArmMeasure,
  armMeasures,
  type DifferenceVerdict,
  type MeasureDifference,
  type ScenarioPair,
} from './arm-comparison.ts'

/** One measure in two arms, over the scenarios that both have measured. null when there is none. */
export function measureDifference(
  measure: ArmMeasure,
  scenarios: readonly ScenarioPair[],
  options: BootstrapOptions = {},
): MeasureDifference | null {
  const pairs = scenarios.flatMap(({ before, after }): Pair[] => {
    const [was, is] = [before[measure], after[measure]]
    return was === null || is === null ? [] : [{ before: was, after: is }]
  })
  if (pairs.length === 0) return null
  const { better, ...bounds } = armMeasures[measure]
  const before = mean(pairs.map((pair) => pair.before))
  const scale =
    bounds.scale ?? Math.max(...pairs.flatMap((pair) => [Math.abs(pair.before), Math.abs(pair.after)]))
  const margin = bounds.margin ?? Math.abs(before) * relativeMargin
  const found = pairedDifference(pairs, { ...options, scale })
  const signs = signTest(pairs)
  const verdict = verdictOf(found, signs, margin, better)
  const [improved, worsened] = better === 'higher' ? [signs.better, signs.worse] : [signs.worse, signs.better]
  return {
    measure,
    better,
    pairs: pairs.length,
    before: settled(before),
    after: settled(mean(pairs.map((pair) => pair.after))),
    difference: found.value === null ? null : settled(found.value),
    low: settled(found.low),
    high: settled(found.high),
    scenarios_better: improved,
    scenarios_worse: worsened,
    scenarios_tied: signs.tied,
    p: signs.pTwoSided,
    margin: settled(margin),
    verdict,
    further_scenarios: verdict === 'inconclusive' ? further(found, signs, margin, scale) : null,
  }
}

const relativeMargin = 0.1
const significant = 0.05

/** So many scenarios must change in the same direction before the sign test of both directions falls below .05. */
const fewestSigns = 6

/**
 * A difference counts when it is large enough to matter, its interval excludes zero, and the scenarios that changed did so in
 * one direction. There is no difference when the whole interval lies within the margin.
 */
function verdictOf(
  { value, low, high }: Difference,
  { pTwoSided }: SignTest,
  margin: number,
  better: 'higher' | 'lower',
): DifferenceVerdict {
  if (value === null) return 'inconclusive'
  if (low >= -margin && high <= margin) return 'no_difference'
  if (Math.abs(value) < margin || (low <= 0 && high >= 0) || pTwoSided > significant) return 'inconclusive'
  return value > 0 === (better === 'higher') ? 'better' : 'worse'
}

/** Where the direction seems clear, until the signs are enough; otherwise until the interval is narrow. */
function further(found: Difference, { better, worse }: SignTest, margin: number, scale: number): number {
  const changed = better + worse
  const seemsClear = found.low > 0 || found.high < 0
  const needed =
    seemsClear && changed > 0
      ? Math.ceil((fewestSigns / changed) * found.n)
      : pairsNeeded(found, margin, scale)
  return Math.max(1, needed - found.n)
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
