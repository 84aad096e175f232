import { settled } from '../../../core/case-tally.ts'
import type { Verdict } from '../../../core/verdict.ts'
import type { ConflictSeverity } from '../contract.ts'
import { componentMetrics } from './component-metrics.ts'
import { confusion } from './confusion.ts'
import type { ArmMetrics, TypeMetrics } from './evaluation-summary.ts'
import { joined, meanOf } from './mean-tally.ts'
import { repetitionStats } from './repetition-stats.ts'
import type { ScenarioTally } from './scenario-tally.ts'
import { semanticStats } from './semantic-stats.ts'
import { suiteRate } from './suite-rate.ts'
import { sum, typeMetrics } from './type-metrics.ts'

/** What is counted of an arm beside its scenarios. */
export interface ArmTally {
  readonly verdicts: Record<Verdict, number>
  readonly conflicts: Record<Exclude<ConflictSeverity, 'none'>, number>
  costUsd: number
}

export function createArmTally(): ArmTally {
  return {
    verdicts: { pass: 0, fail: 0, infra: 0, invalid: 0 },
    conflicts: { low: 0, medium: 0, high: 0 },
    costUsd: 0,
  }
}

/** Give scenarios in a fixed order. */
export function armMetrics(
  { verdicts, conflicts, costUsd }: ArmTally,
  tallies: readonly ScenarioTally[],
): ArmMetrics {
  const { trials_count, trigger_rate, accuracy } = typeMetrics(tallies)
  const asking = tallies.filter(({ asked }) => asked > 0)
  return {
    total_scenarios: tallies.length,
    total_trials: verdicts.pass + verdicts.fail + verdicts.infra + verdicts.invalid,
    verdicts: { ...verdicts },
    cost_usd: settled(costUsd),
    pass_rate: suiteRate(asking.map(({ passed, asked }) => ({ mean: passed / asked, n: asked }))),
    trigger_trials: trials_count,
    triggered_count: sum(tallies, ({ triggered }) => triggered),
    trigger_rate,
    accuracy,
    avg_quality: meanOf(joined(tallies.map(({ quality }) => quality))),
    avg_grader_score: meanOf(joined(tallies.map(({ graderScore }) => graderScore))),
    by_component: componentMetrics(tallies),
    by_scenario_type: byKind(tallies, ({ scenario_type }) => scenario_type),
    by_component_type: byKind(tallies, ({ component_type }) => component_type),
    confusion: confusion(tallies),
    conflicts: {
      count: conflicts.low + conflicts.medium + conflicts.high,
      by_severity: { ...conflicts },
    },
    semantic_stats: semanticStats(tallies),
    repetition_stats: repetitionStats(tallies),
  }
}

function byKind(
  tallies: readonly ScenarioTally[],
  kindOf: (tally: ScenarioTally) => string,
): Readonly<Record<string, TypeMetrics>> {
  const asking = tallies.filter(({ triggerTrials }) => triggerTrials > 0)
  return Object.fromEntries(
    [...Map.groupBy(asking, kindOf)]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([kind, of]) => [kind, typeMetrics(of)]),
  )
}
