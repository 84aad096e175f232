import { settled } from '../../../core/case-tally.ts'
import type { Verdict } from '../../../core/verdict.ts'
import type { ConflictSeverity } from '../contract.ts'
import { componentMetrics, suiteRate, sum, triggerShare, typeMetrics } from './component-metrics.ts'
import type {
  ArmMetrics,
  ConfusionRow,
  RepetitionStats,
  SemanticStats,
  TypeMetrics,
} from './evaluation-summary.ts'
import { joined, meanOf, noComponent, type ScenarioTally } from './scenario-tally.ts'

/** Counts of an arm besides its scenarios. */
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

/** Pass scenarios in a fixed order. */
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

const examples = 5

/** Which component fired where which was expected. Scenarios that expect a component to stay quiet expect `none`. */
function confusion(tallies: readonly ScenarioTally[]): readonly ConfusionRow[] {
  const rows = Map.groupBy(
    tallies.filter(({ component }) => component !== null),
    ({ component, expected_trigger }) => (expected_trigger ? (component ?? noComponent) : noComponent),
  )
  return [...rows]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([expected, of]) => ({ expected, fired: cells(of) }))
}

function cells(tallies: readonly ScenarioTally[]): ConfusionRow['fired'] {
  const found = new Map<string, { count: number; readonly scenarios: string[] }>()
  for (const { fired, scenario_id } of tallies)
    for (const [component, times] of fired) {
      const cell = found.get(component) ?? { count: 0, scenarios: [] }
      cell.count += times
      if (cell.scenarios.length < examples) cell.scenarios.push(scenario_id)
      found.set(component, cell)
    }
  return [...found]
    .map(([component, cell]) => ({ component, ...cell }))
    .toSorted((a, b) => b.count - a.count || (a.component < b.component ? -1 : 1))
}

/** Of scenarios of type semantic; null when there are none. */
function semanticStats(tallies: readonly ScenarioTally[]): SemanticStats | null {
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

/** How far repeating a scenario gives the same verdict; null when nothing was repeated. */
function repetitionStats(tallies: readonly ScenarioTally[]): RepetitionStats | null {
  const repeated = tallies.filter(({ asked }) => asked > 1)
  if (repeated.length === 0) return null
  const flaky = repeated.filter(({ passed, asked }) => passed > 0 && passed < asked)
  return {
    reps_per_scenario: repeated.reduce((most, { asked }) => Math.max(most, asked), 1),
    consistency_rate: 1 - flaky.length / repeated.length,
    flaky_scenarios: flaky.map(({ scenario_id, passed, asked }) => ({ scenario_id, passed, trials: asked })),
  }
}
