import { formatDuration } from '../../core/duration.ts'
import type { CaseSummary } from '../../core/summary.ts'
import { plainLine } from '../plain-text.ts'
import { formatCost, formatInterval, formatPercent, formatScore } from '../quantity.ts'
import type { Column } from '../text-table.ts'
import { agentName } from '../trial-words.ts'
import type { Palette } from './palette.ts'

export type CaseColumn = Column<CaseSummary>

/** The word itself stands in the rows. */
export const flakyTitle = ''

/** Case and agent. The agent goes first when there is no room: it can stand above its cases instead. */
export const nameColumns: readonly CaseColumn[] = [
  { title: 'case', shorten: 'middle', text: (row) => plainLine(row.case) },
  { title: 'agent', shorten: 'middle', maxWidth: 24, dropAt: 9, text: agentName },
]

/** The figures of cases; columns in which no row has anything to say are left out. */
export function caseColumns(rows: readonly CaseSummary[], k: number, { warn }: Palette): CaseColumn[] {
  const column = (
    title: string,
    dropAt: number | null,
    cellOf: (row: CaseSummary) => string | null,
  ): CaseColumn[] => {
    const cell = (row: CaseSummary): string | null => (row.passRate.n === 0 ? null : cellOf(row))
    if (rows.every((row) => cell(row) === null)) return []
    return [{ title, align: 'right', ...(dropAt !== null && { dropAt }), text: (row) => cell(row) ?? '-' }]
  }
  return [
    ...nameColumns,
    ...column('pass', null, ({ counts, passRate }) => `${counts.pass}/${passRate.n}`),
    ...column('rate', null, ({ passRate }) => formatPercent(passRate.value ?? 0)),
    ...column('interval', 1, ({ passRate }) => formatInterval(passRate)),
    ...(k > 1 ? column(`pass@${k}`, 7, ({ passAtK }) => percentAt(passAtK, k)) : []),
    ...(k > 1 ? column(`pass^${k}`, 6, ({ passHatK }) => percentAt(passHatK, k)) : []),
    ...column('score', 4, ({ meanScore }) => (meanScore === null ? null : formatScore(meanScore))),
    ...column('cost', 3, ({ meanCostUsd }) => (meanCostUsd === null ? null : formatCost(meanCostUsd))),
    ...column('time', 5, ({ meanDurationMs }) => formatDuration(meanDurationMs)),
    ...(rows.some((row) => row.flaky)
      ? [
          {
            title: flakyTitle,
            dropAt: 2,
            text: (row: CaseSummary) => (row.flaky ? 'flaky' : ''),
            paint: warn,
          },
        ]
      : []),
  ]
}

function percentAt(values: readonly number[], k: number): string | null {
  const value = values[k - 1]
  return value === undefined ? null : formatPercent(value)
}
