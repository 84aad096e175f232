import type { ReportSection } from '../../../report/contract.ts'
import { formatRate } from '../../../report/quantity.ts'
import type { EvaluationSummary } from '../../evaluate/metrics/evaluation-summary.ts'

/** How often each component fired when it should, missed, and fired when it should not. Quality is shown where a judge gave it. */
export function componentSection(summary: EvaluationSummary): ReportSection | null {
  const { by_component, accuracy, trigger_rate, conflicts, judge } = summary
  if (Object.keys(by_component).length === 0) return null
  const { high, medium, low } = conflicts.by_severity
  const quarrels =
    conflicts.count === 0 ? 'no conflicts' : `conflicts: ${high} high, ${medium} medium, ${low} low`
  const isJudged = judge.judged > 0
  return {
    title: 'Components',
    lead: `Right in ${formatRate(accuracy)} of trials, fired in ${formatRate(trigger_rate)}, ${quarrels}.`,
    columns: [
      { title: 'component' },
      { title: 'recall', align: 'right' },
      { title: 'precision', align: 'right' },
      { title: 'missed', align: 'right' },
      { title: 'wrongly', align: 'right' },
      ...(isJudged ? [{ title: 'quality', align: 'right' as const }] : []),
    ],
    rows: Object.entries(by_component).map(([id, metrics]) => [
      id,
      formatRate(metrics.recall),
      formatRate(metrics.precision),
      `${metrics.false_negatives} of ${metrics.false_negatives + metrics.true_positives}`,
      String(metrics.false_positives + metrics.fired_instead),
      ...(isJudged ? [metrics.avg_quality === null ? '-' : metrics.avg_quality.toFixed(1)] : []),
    ]),
  }
}
