import type { CaseSummary } from '../../core/summary.ts'
import { wrapText } from '../text-width.ts'
import { casesWithUse, useFigures, useLegend } from '../tool-use.ts'
import { type CaseColumn, nameColumns } from './case-columns.ts'
import { caseLines } from './case-lines.ts'
import { shownRows } from './case-table.ts'
import type { Palette } from './palette.ts'

/** How the tool was used, case by agent by model, so that two wordings of guidance can be compared at a glance. */
export function useTable(cases: readonly CaseSummary[], columns: number, palette: Palette): string[] {
  const rows = casesWithUse(shownRows(cases))
  if (rows.length === 0) return []
  const { lines, titles, left } = caseLines(rows, [...nameColumns, ...figureColumns], { columns, palette })
  const legend = [
    useLegend((title) => titles.includes(title)),
    ...(left.length > 0 ? [`no room for: ${left.join(', ')}`] : []),
  ]
  return [
    '',
    palette.bold('Use of the tool'),
    '',
    ...lines,
    ...legend.flatMap((sentence) => wrapText(sentence, columns - 3)).map((line) => palette.dim(`  ${line}`)),
  ]
}

const dropOrder = ['commands', 'errors', 'help', 'first try']

const figureColumns = useFigures.map(
  ({ title, text }): CaseColumn => ({
    title,
    align: 'right',
    ...(title !== 'commands' && { dropAt: dropOrder.indexOf(title) }),
    text: (row) => text(row) ?? '-',
  }),
)
