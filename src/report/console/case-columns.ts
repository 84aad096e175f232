import { formatDuration } from '../../core/duration.ts'
import type { CaseSummary } from '../../core/summary.ts'
import type { Verdict } from '../../core/verdict.ts'
import { formatCost, formatInterval, formatPercent, formatScore } from '../quantity.ts'
import { displayWidth } from '../text-width.ts'

interface CaseColumn {
  readonly title: string
  readonly cells: readonly string[]
  readonly width: number
}

/** The figures of cases, a column each; columns in which no row has anything to say are left out. */
export function caseColumns(rows: readonly CaseSummary[], k: number): CaseColumn[] {
  const column = (title: string, cellOf: (row: CaseSummary) => string | null): CaseColumn[] => {
    const cells = rows.map((row) => (row.passRate.n === 0 ? null : cellOf(row)))
    if (cells.every((cell) => cell === null)) return []
    const texts = cells.map((cell) => cell ?? '-')
    return [{ title, cells: texts, width: Math.max(displayWidth(title), ...texts.map(displayWidth)) }]
  }
  return [
    ...column('pass', ({ counts, passRate }) => `${counts.pass}/${passRate.n}`),
    ...column('rate', ({ passRate }) => formatPercent(passRate.value ?? 0)),
    ...column('interval', ({ passRate }) => formatInterval(passRate)),
    ...(k > 1 ? column(`pass@${k}`, ({ passAtK }) => percentAt(passAtK, k)) : []),
    ...(k > 1 ? column(`pass^${k}`, ({ passHatK }) => percentAt(passHatK, k)) : []),
    ...column('score', ({ meanScore }) => (meanScore === null ? null : formatScore(meanScore))),
    ...column('cost', ({ meanCostUsd }) => (meanCostUsd === null ? null : formatCost(meanCostUsd))),
    ...column('time', ({ meanDurationMs }) => formatDuration(meanDurationMs)),
  ]
}

/** How a case stands: its worst end that says something. */
export function caseVerdict({ counts }: CaseSummary): Verdict {
  if (counts.fail > 0) return 'fail'
  if (counts.invalid > 0) return 'invalid'
  return counts.infra > 0 || counts.pass === 0 ? 'infra' : 'pass'
}

export function percentAt(values: readonly number[], k: number): string | null {
  const value = values[k - 1]
  return value === undefined ? null : formatPercent(value)
}
