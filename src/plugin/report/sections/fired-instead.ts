import type { ReportSection } from '../../../report/contract.ts'
import type { EvaluationSummary } from '../../evaluate/metrics/evaluation-summary.ts'

/** Off the diagonal of the confusion matrix. */
export function firedInsteadSection({ confusion }: EvaluationSummary): ReportSection | null {
  const rows = confusion.flatMap(({ expected, fired }) =>
    fired
      .filter(({ component }) => component !== expected)
      .map(({ component, count, scenarios }) => [
        spoken(expected),
        String(count),
        `${spoken(component)} in ${scenarios.join(', ')}`,
      ]),
  )
  if (rows.length === 0) return null
  return {
    title: 'Who fired instead',
    columns: [{ title: 'expected' }, { title: 'trials', align: 'right' }, { title: 'fired, and where' }],
    rows,
  }
}

function spoken(component: string): string {
  return component === 'none' ? 'nothing' : component
}
