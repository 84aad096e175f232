import type { ReportSection } from '../contract.ts'
import { wrapText } from '../text-width.ts'

/** For a terminal too narrow for a table: every row is its name, with its figures below. Empty cells are left out. */
export function stackedRows(
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
