import { join } from 'node:path'
import type { Store, TrialRow } from './contract.ts'
import { withIndexDatabase } from './index-database.ts'
import { runStamp, toIndexed } from './indexed-run.ts'
import { readManifestState } from './manifest.ts'
import { type RunSums, readTrialRows, rowOf } from './run-row.ts'

export interface LiveIndexing {
  readonly store: Store
  readonly runId: string
  sums(): RunSums
  /** Trials new since the last call, if none was discarded since. */
  readonly added: readonly TrialRow[]
  /** What the last call returned. */
  readonly lastStamp: string | null
}

/**
 * Writes a live run of this process into the index. Writes only new trials, unless the index was changed or deleted since: then it reads
 * all of them. Returns the stamp of the row.
 */
export function indexLiveRun({ store, runId, sums, added, lastStamp }: LiveIndexing): string | null {
  const dir = join(store.runsDir, runId)
  const state = readManifestState(dir)
  if (state.kind !== 'whole') return null
  const stamp = runStamp(dir)
  const row = rowOf(store, dir, state.manifest, sums)
  withIndexDatabase(store, (index) => {
    const untouched = lastStamp !== null && index.stamps(runId).get(runId)?.stamp === lastStamp
    index.put(toIndexed(row, stamp), untouched ? added : readTrialRows(runId, dir), untouched)
  })
  return stamp
}
