import { displayWidth, padLeft, padRight, shortenEnd, shortenMiddle } from './text-width.ts'

export interface Column<Row> {
  readonly title: string
  readonly align?: 'left' | 'right'
  text(row: Row): string
  /** Colour is put on after the width is settled. */
  paint?(text: string, row: Row): string
  /** Its text may be shortened, and where: names differ at their ends, sentences at their beginnings. */
  readonly shorten?: 'middle' | 'end'
  /** Never wider than this. */
  readonly maxWidth?: number
  /** Down to this it is shortened before any column is left out. */
  readonly minWidth?: number
  /** When space is short columns with the highest number go first; without one a column always stays. */
  readonly dropAt?: number
}

export interface TextTable<Row> {
  /** What is left of the columns, by title. */
  readonly titles: readonly string[]
  readonly heading: string
  line(row: Row): string
}

const gap = '  '

/**
 * A table no wider than `width`, as far as columns can be shortened or left out; no limit with Infinity. A title is never
 * shortened: a column is at least as wide as it, or is not there.
 */
export function textTable<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  width: number,
  ellipsis?: string,
): TextTable<Row> {
  const shown = fitting(
    columns.map((column) => ({ column, width: naturalWidth(column, rows) })),
    width,
  )
  return {
    titles: shown.map(({ column }) => column.title),
    heading: shown
      .map(({ column, width: room }) => aligned(column, column.title, room))
      .join(gap)
      .trimEnd(),
    line: (row) =>
      shown
        .map(({ column, width: room }) => {
          const shorten = column.shorten === 'middle' ? shortenMiddle : shortenEnd
          const text = aligned(column, shorten(column.text(row), room, ellipsis), room)
          return column.paint === undefined || text.trim() === '' ? text : column.paint(text, row)
        })
        .join(gap)
        .trimEnd(),
  }
}

interface Sized<Row> {
  readonly column: Column<Row>
  readonly width: number
}

/** Long texts give way first, then whole columns, and at last what is left of the long texts. */
function fitting<Row>(sized: readonly Sized<Row>[], width: number): readonly Sized<Row>[] {
  const shortened = shrunk(sized, width, ({ minWidth = defaultMinWidth }) => minWidth)
  if (totalWidth(shortened) <= width) return shortened
  const first = sized.reduce<Sized<Row> | null>(earlierToGo, null)
  if (first === null) return shrunk(sized, width, () => 0)
  return fitting(
    sized.filter((entry) => entry !== first),
    width,
  )
}

const defaultMinWidth = 12

/** As narrow as need be and as `leastOf` allows: of the columns that may be shortened the widest always gives way. */
function shrunk<Row>(
  sized: readonly Sized<Row>[],
  width: number,
  leastOf: (column: Column<Row>) => number,
): readonly Sized<Row>[] {
  const narrowed = [...sized]
  for (let excess = totalWidth(sized) - width; excess > 0; excess -= 1) {
    const at = narrowed.reduce((widest, { column, width: now }, index) => {
      const least = Math.max(displayWidth(column.title), leastOf(column))
      const gives = column.shorten !== undefined && now > least
      return gives && now > (narrowed[widest]?.width ?? 0) ? index : widest
    }, -1)
    const entry = narrowed[at]
    if (entry === undefined) break
    narrowed[at] = { ...entry, width: entry.width - 1 }
  }
  return narrowed
}

function totalWidth<Row>(sized: readonly Sized<Row>[]): number {
  return sized.reduce((sum, { width }) => sum + width, gap.length * Math.max(0, sized.length - 1))
}

function earlierToGo<Row>(best: Sized<Row> | null, entry: Sized<Row>): Sized<Row> | null {
  if (entry.column.dropAt === undefined) return best
  return best === null || entry.column.dropAt > (best.column.dropAt ?? 0) ? entry : best
}

function naturalWidth<Row>(column: Column<Row>, rows: readonly Row[]): number {
  const widest = rows.reduce((most, row) => Math.max(most, displayWidth(column.text(row))), 0)
  return Math.max(displayWidth(column.title), Math.min(widest, column.maxWidth ?? Infinity))
}

function aligned<Row>(column: Column<Row>, text: string, width: number): string {
  return column.align === 'right' ? padLeft(text, width) : padRight(text, width)
}
