import { join } from 'node:path'
import type { Store, TrialRow } from './contract.ts'
import { withIndexDatabase } from './index-database.ts'
import { runStamp, toIndexed } from './indexed-run.ts'
import { readManifestState } from './manifest.ts'
import { rowOf } from './run-row.ts'

export interface LiveIndexing {
  readonly store: Store
  readonly runId: string
  /** Every finished trial of the run. */
  readonly rows: ReadonlyMap<string, TrialRow>
  /** Trials new since the last call, if none was discarded since. */
  readonly added: readonly TrialRow[]
  /** What the last call returned. */
  readonly lastStamp: string | null
}

/**
 * Writes a live run of this process into the index, from memory. Writes only new trials, unless the index was changed or deleted
 * since. Returns the stamp of the row.
 */
export function indexLiveRun({ store, runId, rows, added, lastStamp }: LiveIndexing): string | null {
  const dir = join(store.runsDir, runId)
  const state = readManifestState(dir)
  if (state.kind !== 'whole') return null
  const stamp = runStamp(dir)
  const row = rowOf(store, dir, state.manifest, () => rows.values())
  withIndexDatabase(store, (index) => {
    const untouched = lastStamp !== null && index.stamps(runId).get(runId)?.stamp === lastStamp
    index.put(toIndexed(row, stamp), untouched ? added : rows.values(), untouched)
  })
  return stamp
}
