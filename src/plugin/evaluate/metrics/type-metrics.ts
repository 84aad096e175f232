import type { CaseMean } from '../../../core/stats/case-mean-rate.ts'
import type { TypeMetrics } from './evaluation-summary.ts'
import { joined, meanOf } from './mean-tally.ts'
import type { ScenarioTally } from './scenario-tally.ts'
import { suiteRate } from './suite-rate.ts'

/** Numbers over some of the scenarios of an arm: all that ask for a component. */
export function typeMetrics(tallies: readonly ScenarioTally[]): TypeMetrics {
  const asking = tallies.filter(({ triggerTrials }) => triggerTrials > 0)
  return {
    scenarios_count: asking.length,
    trials_count: sum(asking, ({ triggerTrials }) => triggerTrials),
    trigger_rate: suiteRate(asking.map(triggerShare)),
    accuracy: suiteRate(asking.map(accuracyShare)),
    avg_quality: meanOf(joined(asking.map(({ quality }) => quality))),
    false_positives: sum(asking, (tally) => (tally.expected_trigger ? 0 : tally.triggered)),
    false_negatives: sum(asking, (tally) =>
      tally.expected_trigger ? tally.triggerTrials - tally.triggered : 0,
    ),
  }
}

export function triggerShare({ triggered, triggerTrials }: ScenarioTally): CaseMean {
  return { mean: triggered / triggerTrials, n: triggerTrials }
}

export function accuracyShare(tally: ScenarioTally): CaseMean {
  const { mean, n } = triggerShare(tally)
  return { mean: tally.expected_trigger ? mean : 1 - mean, n }
}

export function sum(tallies: readonly ScenarioTally[], of: (tally: ScenarioTally) => number): number {
  return tallies.reduce((total, tally) => total + of(tally), 0)
}
