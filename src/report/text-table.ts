import { displayWidth, padLeft, padRight, shortenEnd, shortenMiddle } from './display-width.ts'

export interface Column<Row> {
  readonly title: string
  readonly align?: 'left' | 'right'
  text(row: Row): string
  /** Colour is added after the width is computed. */
  paint?(text: string, row: Row): string
  /** Where its text may be shortened: names in the middle, sentences at the end. */
  readonly shorten?: 'middle' | 'end'
  /** Never wider than this. */
  readonly maxWidth?: number
  /** It is shortened to this width before any column is dropped. */
  readonly minWidth?: number
  /** When space is short, columns with the highest number are dropped first. Without a number a column always stays. */
  readonly dropAt?: number
}

const gap = '  '

/** A table that fits `width`, as far as columns can be shortened or dropped; no limit with Infinity. Titles are never shortened. */
export function textTable<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  width: number,
  ellipsis?: string,
) {
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
    line: (row: Row): string =>
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

/** Shortens long texts first, then drops columns, then shortens the remaining texts further. */
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

/** Shrinks the widest column that may be shortened, as far as `leastOf` allows, until the table fits. */
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
