import { counted } from '../../../core/counted.ts'
import type { ReportSection } from '../../../report/contract.ts'
import { formatRate } from '../../../report/quantity.ts'
import type { EvaluationSummary } from '../../evaluate/metrics/evaluation-summary.ts'

/** How the kinds of scenarios came out, when there are several. */
export function scenarioKindSection({ by_scenario_type }: EvaluationSummary): ReportSection | null {
  const rows = Object.entries(by_scenario_type).map(([type, metrics]) => [
    type,
    formatRate(metrics.accuracy),
    formatRate(metrics.trigger_rate),
    String(metrics.scenarios_count),
  ])
  if (rows.length < 2) return null
  return {
    title: 'Kinds of scenarios',
    columns: [
      { title: 'kind' },
      { title: 'right', align: 'right' },
      { title: 'fired', align: 'right' },
      { title: 'scenarios', align: 'right' },
    ],
    rows,
  }
}

/** Scenarios that say the same in other words, by how they differ. */
export function semanticSection({ semantic_stats }: EvaluationSummary): ReportSection | null {
  if (semantic_stats === null) return null
  return {
    title: 'The same in other words',
    lead: `Fired in ${formatRate(semantic_stats.trigger_rate)} of ${counted(semantic_stats.total, 'trial')} in other words.`,
    columns: [
      { title: 'variation' },
      { title: 'fired', align: 'right' },
      { title: 'trials', align: 'right' },
    ],
    rows: Object.entries(semantic_stats.by_variation).map(([name, { count, trigger_rate }]) => [
      name,
      formatRate(trigger_rate),
      String(count),
    ]),
  }
}
