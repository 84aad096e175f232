import { type CaseMean, caseMeanRate } from '../../../core/stats/case-mean-rate.ts'
import { wilsonRate } from '../../../core/stats/wilson.ts'
import type { Rate } from '../../../core/summary.ts'

/**
 * A share over scenarios, each weighing the same. Where every scenario was tried once it is plain Wilson; with repetitions whole
 * scenarios are resampled, because trials of one scenario resemble each other. Give scenarios in a fixed order.
 */
export function suiteRate(scenarios: readonly CaseMean[]): Rate {
  const counted = scenarios.filter(({ n }) => n > 0)
  if (counted.some(({ n }) => n > 1)) return caseMeanRate(counted)
  return wilsonRate(
    counted.reduce((sum, { mean }) => sum + mean, 0),
    counted.length,
  )
}
