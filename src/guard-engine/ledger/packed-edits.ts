import type { EditHistory } from '../contract.ts'

/** An edit history with every path once: every hook reads it, and long paths four times over are most of what there is to read. */
export interface PackedEdits extends Pick<EditHistory, 'byAgent' | 'task'> {
  readonly paths: readonly string[]
  /** By the place of the path; 0 where the record does not have it. */
  readonly counts: readonly number[]
  readonly sinceTask?: readonly number[]
  readonly sinceGreen?: readonly number[]
  /** By the place of the path; null where there are none. */
  readonly contents: readonly (readonly (string | null)[] | null)[]
}

export function packEdits({ counts, sinceTask, sinceGreen, contents, ...rest }: EditHistory): PackedEdits {
  const records = [counts, sinceTask ?? {}, sinceGreen ?? {}, contents]
  const paths = [...new Set(records.flatMap((record) => Object.keys(record)))]
  const numbers = (record: Readonly<Record<string, number>>): readonly number[] =>
    paths.map((path) => record[path] ?? 0)
  return {
    ...rest,
    paths,
    counts: numbers(counts),
    ...(sinceTask !== undefined && { sinceTask: numbers(sinceTask) }),
    ...(sinceGreen !== undefined && { sinceGreen: numbers(sinceGreen) }),
    contents: paths.map((path) => contents[path] ?? null),
  }
}

export function unpackEdits(packed: PackedEdits): EditHistory {
  const { paths, counts, sinceTask, sinceGreen, contents, ...rest } = packed
  const record = <Value>(values: readonly (Value | null)[]): Record<string, Value> => {
    // Without a prototype it is a table from the start, and filled in a fifth of the time.
    const found: Record<string, Value> = Object.create(null)
    paths.forEach((path, index) => {
      const value = values[index]
      if (value !== null && value !== undefined && value !== 0) found[path] = value
    })
    return found
  }
  return {
    ...rest,
    counts: record(counts),
    ...(sinceTask !== undefined && { sinceTask: record(sinceTask) }),
    ...(sinceGreen !== undefined && { sinceGreen: record(sinceGreen) }),
    contents: record(contents),
  }
}
