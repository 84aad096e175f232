import { join } from 'node:path'
import { GantryError } from '../core/error.ts'
import type { Store, TrialRow } from './contract.ts'
import type { TrialFilter } from './index-database.ts'
import { runIds } from './run-id.ts'
import { readTrialRows } from './run-row.ts'

/**
 * Earlier trials of a case or an agent over all stored runs, newest first. Correct even with a damaged or missing index. Creates nothing.
 */
export async function trialHistory(store: Store, filter: TrialFilter): Promise<TrialRow[]> {
  if (runIds(store).length === 0) return []
  const { withIndexDatabase } = await import('./index-database.ts')
  const { refreshIndex } = await import('./refresh-index.ts')
  try {
    return withIndexDatabase(store, (index) => {
      refreshIndex(store, index)
      return index.history(filter)
    })
  } catch (error) {
    // The store is read-only, the disk is full, or another process locks the index. Read the files instead.
    if (error instanceof GantryError) return historyFromFiles(store, filter)
    throw error
  }
}

function historyFromFiles(store: Store, { case: name, agent, model, limit = 100 }: TrialFilter): TrialRow[] {
  return runIds(store)
    .flatMap(({ id }) => [...readTrialRows(id, join(store.runsDir, id))])
    .filter(
      (row) =>
        (name ?? row.case) === row.case &&
        (agent ?? row.agent) === row.agent &&
        (model ?? row.model) === row.model,
    )
    .sort(newestFirst)
    .slice(0, limit)
}

function newestFirst(a: TrialRow, b: TrialRow): number {
  if (a.started_at !== b.started_at) return a.started_at < b.started_at ? 1 : -1
  if (a.run_id !== b.run_id) return a.run_id < b.run_id ? 1 : -1
  return b.attempt - a.attempt
}
