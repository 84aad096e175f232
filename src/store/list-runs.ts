import { GantryError } from '../core/error.ts'
import type { RunKind, RunRow, Store } from './contract.ts'
import { fromIndexed } from './indexed-run.ts'
import { type ParsedRunId, parseRunId, runIds } from './run-id.ts'
import { readRunRow } from './run-row.ts'

export interface ListRunsOptions {
  readonly limit?: number
  readonly kind?: RunKind
  /** Only the run with this id, without looking at the others. */
  readonly only?: string
}

/** Runs, newest first, and their number without the limit. Correct even with a damaged or missing index. */
export async function listRuns(
  store: Store,
  { limit = Infinity, kind, only }: ListRunsOptions = {},
): Promise<{ readonly runs: RunRow[]; readonly total: number }> {
  const one = only === undefined ? null : parseRunId(only)
  if (one !== null) return { runs: [readRunRow(store, one)], total: 1 }
  const ids = runIds(store)
  if (ids.length === 0) return { runs: [], total: 0 }
  const rows = (await indexedRows(store, ids)) ?? ids.map((parsed) => readRunRow(store, parsed))
  const wanted = rows.filter((row) => kind === undefined || row.kind === kind).sort(newestFirst)
  return { runs: wanted.slice(0, limit), total: wanted.length }
}

/** null when the index cannot be used: the store is read-only, the disk is full, or another process locks it. */
async function indexedRows(store: Store, ids: ParsedRunId[]): Promise<RunRow[] | null> {
  const { withIndexDatabase } = await import('./index-database.ts')
  const { refreshIndex } = await import('./refresh-index.ts')
  try {
    return withIndexDatabase(store, (index) => {
      refreshIndex(store, index, ids)
      return index.runs().map((row) => fromIndexed(store, row))
    })
  } catch (error) {
    if (error instanceof GantryError) return null
    throw error
  }
}

function newestFirst(a: RunRow, b: RunRow): number {
  return b.startedAt.localeCompare(a.startedAt, 'en') || b.id.localeCompare(a.id, 'en')
}
