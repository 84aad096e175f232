import { counted } from '../../core/counted.ts'
import { sum } from '../../core/sum.ts'
import type { ReportSection } from '../contract.ts'
import { displayWidth, padLeft, padRight, wrapText } from '../display-width.ts'
import { plainLine } from '../plain-text.ts'
import type { Palette } from './palette.ts'

const maxRows = 60

/** A table of one face. Nothing is cut: long texts are wrapped, and when the table does not fit, each row is shown as a block. */
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
    palette.bold(plainLine(title)),
    '',
    ...(lead === undefined ? [] : wrapText(plainLine(lead), width - 3).map((line) => `  ${line}`)),
    ...(lead === undefined || rows.length === 0 ? [] : ['']),
    ...body.map((line) => `  ${line}`),
    ...(hidden > 0 ? [palette.dim(`  and ${counted(hidden, 'more row')}`)] : []),
  ]
}

/** For a terminal too narrow for a table: the name of each row, with its figures below. Empty cells are omitted. */
function stackedRows(
  columns: ReportSection['columns'],
  rows: readonly (readonly string[])[],
  width: number,
  paintLabel: (text: string) => string,
): string[] {
  return rows.flatMap(([name = '', ...cells]) => [
    ...wrapText(name, Math.max(10, width)),
    ...cells.flatMap((text, at) => {
      if (text === '') return []
      const label = `${columns[at + 1]?.title ?? ''}:`
      const [first = '', ...rest] = wrapText(`${label} ${text}`, Math.max(10, width - 4))
      const painted = first.startsWith(label) ? paintLabel(label) + first.slice(label.length) : first
      return [`  ${painted}`, ...rest.map((line) => `    ${line}`)]
    }),
  ])
}

type Columns = ReportSection['columns']
type Row = readonly string[]

const gap = '  '

/** Rows with long texts wrapped between words. null when the columns cannot fit. */
function wrappedTable(
  columns: Columns,
  rows: readonly Row[],
  width: number,
  paintHeading: (text: string) => string,
): string[] | null {
  const widths = fittingWidths(columns, rows, width)
  if (widths === null) return null
  const line = (cells: Row): string =>
    cells
      .map((text, at) =>
        columns[at]?.align === 'right' ? padLeft(text, widths[at] ?? 0) : padRight(text, widths[at] ?? 0),
      )
      .join(gap)
      .trimEnd()
  const body = rows.flatMap((row) => {
    const cells = columns.map((_, at) => wrapText(row[at] ?? '', widths[at] ?? 0))
    const height = Math.max(...cells.map((lines) => lines.length))
    return Array.from({ length: height }, (_, index) => line(cells.map((lines) => lines[index] ?? '')))
  })
  return [paintHeading(line(columns.map(({ title }) => title))), ...body]
}

/** Right-aligned columns contain figures and keep their width. Of the others, the widest shrinks first. */
function fittingWidths(columns: Columns, rows: readonly Row[], width: number): readonly number[] | null {
  const texts = columns.map(({ title }, at) => [title, ...rows.map((row) => row[at] ?? '')])
  const widths = texts.map((cells) => Math.max(...cells.map(displayWidth)))
  const least = texts.map((cells, at) =>
    columns[at]?.align === 'right'
      ? (widths[at] ?? 0)
      : Math.max(...cells.flatMap((text) => text.split(' ')).map(displayWidth)),
  )
  const room = width - gap.length * (columns.length - 1)
  for (let excess = sum(widths) - room; excess > 0; excess -= 1) {
    const at = widths.reduce((best, now, index) => {
      const gives = now > Math.max(least[index] ?? 0, minWidth)
      return gives && now > (widths[best] ?? 0) ? index : best
    }, -1)
    if (at === -1) return null
    widths[at] = (widths[at] ?? 0) - 1
  }
  return widths
}

/** Narrower columns are hard to read. */
const minWidth = 20
