import type { SemanticStats } from './evaluation-summary.ts'
import type { ScenarioTally } from './scenario-tally.ts'
import { suiteRate } from './suite-rate.ts'
import { sum, triggerShare } from './type-metrics.ts'

/** Of scenarios of type semantic; null when there are none. */
export function semanticStats(tallies: readonly ScenarioTally[]): SemanticStats | null {
  const semantic = tallies.filter(
    ({ scenario_type, triggerTrials }) => scenario_type === 'semantic' && triggerTrials > 0,
  )
  if (semantic.length === 0) return null
  const byVariation = Map.groupBy(
    semantic,
    ({ semantic_variation_type }) => semantic_variation_type ?? 'unnamed',
  )
  return {
    total: sum(semantic, ({ triggerTrials }) => triggerTrials),
    trigger_rate: suiteRate(semantic.map(triggerShare)),
    by_variation: Object.fromEntries(
      [...byVariation]
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .map(([variation, of]) => [
          variation,
          {
            count: sum(of, ({ triggerTrials }) => triggerTrials),
            trigger_rate: suiteRate(of.map(triggerShare)),
          },
        ]),
    ),
  }
}
