import type { ReportSection } from '../contract.ts'
import { displayWidth, padLeft, padRight, wrapText } from '../text-width.ts'

type Columns = ReportSection['columns']
type Row = readonly string[]

const gap = '  '

/** Rows whose long texts go on in the next line, never broken inside a word. null when the columns cannot be made to fit. */
export function wrappedTable(
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

/** What is aligned to the right is a figure and keeps its width; of the others the widest gives way first. */
function fittingWidths(columns: Columns, rows: readonly Row[], width: number): readonly number[] | null {
  const texts = columns.map(({ title }, at) => [title, ...rows.map((row) => row[at] ?? '')])
  const widths = texts.map((cells) => Math.max(...cells.map(displayWidth)))
  const least = texts.map((cells, at) =>
    columns[at]?.align === 'right'
      ? (widths[at] ?? 0)
      : Math.max(...cells.flatMap(wordsOf).map(displayWidth)),
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

/** Narrower, a sentence is a ladder. */
const minWidth = 20

function wordsOf(text: string): readonly string[] {
  return text.split(' ')
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
