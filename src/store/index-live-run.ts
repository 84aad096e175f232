import { join } from 'node:path'
import type { Store, TrialRow } from './contract.ts'
import { withIndex } from './index-database.ts'
import { runStamp, toIndexed } from './index-rows.ts'
import { readManifestState } from './manifest.ts'
import { rowOf } from './run-row.ts'

export interface LiveIndexing {
  readonly store: Store
  readonly runId: string
  /** Every finished trial of the run. */
  readonly rows: ReadonlyMap<string, TrialRow>
  /** Those that the last call did not see, when nothing was taken back since. */
  readonly added: readonly TrialRow[]
  /** What the last call returned. */
  readonly lastStamp: string | null
}

/**
 * Puts a run this process works on into the index, from memory. Only new trials are written, unless somebody changed or threw
 * away the index since. Returns the stamp of the row.
 */
export function indexLiveRun({ store, runId, rows, added, lastStamp }: LiveIndexing): string | null {
  const dir = join(store.runsDir, runId)
  const state = readManifestState(dir)
  if (state.kind !== 'whole') return null
  const stamp = runStamp(dir)
  const row = rowOf(store, dir, state.manifest, () => rows.values())
  withIndex(store, (index) => {
    const untouched = lastStamp !== null && index.stamps().get(runId) === lastStamp
    index.put(toIndexed(row, stamp), untouched ? added : rows.values(), untouched)
  })
  return stamp
}
