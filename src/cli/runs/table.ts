import { displayWidth, padLeft, padRight, shortenEnd } from '../../report/text-width.ts'

export interface Column<Row> {
  readonly title: string
  readonly align?: 'left' | 'right'
  text(row: Row): string
  /** Colour is put on after the width is settled. */
  paint?(text: string, row: Row): string
  /** The one column that is shortened when space is short. */
  readonly flexible?: boolean
  /** When space is short columns with the highest number go first; without one a column always stays. */
  readonly dropAt?: number
}

const gap = '  '
const leastFlexible = 12

/** Lines of a table that is no wider than `width`, as far as columns can be shortened or left out; no limit with Infinity. */
export function table<Row>(columns: readonly Column<Row>[], rows: readonly Row[], width: number): string[] {
  const shown = fitting(columns, rows, width)
  const heading = shown.map(({ column, width }) => aligned(column, column.title, width)).join(gap)
  const body = rows.map((row) =>
    shown
      .map(({ column, width }) => {
        const text = aligned(column, shortenEnd(column.text(row), width), width)
        return column.paint === undefined ? text : column.paint(text, row)
      })
      .join(gap)
      .trimEnd(),
  )
  return [heading.trimEnd(), ...body]
}

interface Sized<Row> {
  readonly column: Column<Row>
  readonly width: number
}

function fitting<Row>(columns: readonly Column<Row>[], rows: readonly Row[], width: number): Sized<Row>[] {
  let sized = columns.map((column) => ({ column, width: naturalWidth(column, rows) }))
  for (;;) {
    const excess = sized.reduce((sum, { width }) => sum + width, gap.length * (sized.length - 1)) - width
    const flexible = sized.find(({ column }) => column.flexible === true)
    if (excess <= 0) return sized
    if (flexible !== undefined && flexible.width - excess >= Math.min(leastFlexible, flexible.width)) {
      return sized.map((entry) => (entry === flexible ? { ...entry, width: entry.width - excess } : entry))
    }
    const first = sized.reduce<Sized<Row> | null>(earlierToGo, null)
    if (first === null) return sized
    sized = sized.filter((entry) => entry !== first)
  }
}

function earlierToGo<Row>(best: Sized<Row> | null, entry: Sized<Row>): Sized<Row> | null {
  if (entry.column.dropAt === undefined) return best
  return best === null || entry.column.dropAt > (best.column.dropAt ?? 0) ? entry : best
}

function naturalWidth<Row>(column: Column<Row>, rows: readonly Row[]): number {
  return rows.reduce(
    (most, row) => Math.max(most, displayWidth(column.text(row))),
    displayWidth(column.title),
  )
}

function aligned<Row>(column: Column<Row>, text: string, width: number): string {
  return column.align === 'right' ? padLeft(text, width) : padRight(text, width)
}
