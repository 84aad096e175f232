import { counted } from '../../core/counted.ts'
import type { ReportSection } from '../contract.ts'
import { plainLine } from '../plain-text.ts'
import { wrapText } from '../text-width.ts'
import type { Palette } from './palette.ts'
import { stackedRows } from './stacked-rows.ts'
import { wrappedTable } from './wrapped-table.ts'

const maxRows = 60

/** A face's own table. Nothing in it is cut: long texts are wrapped, and where that is no help each row stands below the one before. */
export function sectionLines(section: ReportSection, width: number, palette: Palette): string[] {
  const { title, lead, rows } = section
  const columns = section.columns.map((column) => ({ ...column, title: plainLine(column.title) }))
  const shown = rows.slice(0, maxRows).map((row) => row.map(plainLine))
  const body =
    shown.length === 0
      ? []
      : (wrappedTable(columns, shown, width - 3, palette.dim) ??
        stackedRows(columns, shown, width - 3, palette.dim))
  const hidden = rows.length - shown.length
  return [
    '',
    palette.bold(title),
    '',
    ...(lead === undefined ? [] : wrapText(plainLine(lead), width - 3).map((line) => `  ${line}`)),
    ...(lead === undefined || rows.length === 0 ? [] : ['']),
    ...body.map((line) => `  ${line}`),
    ...(hidden > 0 ? [palette.dim(`  and ${counted(hidden, 'more row')}`)] : []),
  ]
}
