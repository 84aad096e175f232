import type { ReportSection } from '../../../report/contract.ts'
import { formatPercent } from '../../../report/quantity.ts'
import type { EvaluationSummary } from '../../evaluate/metrics/evaluation-summary.ts'

/** Repeated scenarios that ended now this way, now that. */
export function flakySection({ repetition_stats }: EvaluationSummary): ReportSection | null {
  if (repetition_stats === null || repetition_stats.flaky_scenarios.length === 0) return null
  return {
    title: 'Flaky scenarios',
    lead: `${formatPercent(repetition_stats.consistency_rate)} of the repeated scenarios always ended the same way.`,
    columns: [{ title: 'scenario' }, { title: 'passed', align: 'right' }, { title: 'of', align: 'right' }],
    rows: repetition_stats.flaky_scenarios.map(({ scenario_id, passed, trials }) => [
      scenario_id,
      String(passed),
      String(trials),
    ]),
  }
}
