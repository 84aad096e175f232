import { join } from 'node:path'
import type { Store, TrialRow } from './contract.ts'
import { readManifestState } from './manifest.ts'
import { appendResults, publishedResults, type RunLine, runLine } from './results-log.ts'
import { runIds } from './run-id.ts'
import { isLive } from './run-lock.ts'
import { readTrialRows } from './run-row.ts'

export interface ReindexOutcome {
  readonly runs: number
  readonly trials: number
  /** Lines that `results.jsonl` lacked, because their process was killed before it could publish them. */
  readonly recovered: number
}

/** Builds the index anew from the run directories, and completes `results.jsonl`, whose older lines stay as they are. */
export async function reindex(store: Store): Promise<ReindexOutcome> {
  if (runIds(store).length === 0) return { runs: 0, trials: 0, recovered: 0 }
  const { withIndex } = await import('./index-database.ts')
  const { refreshIndex } = await import('./refresh-index.ts')
  const counts = withIndex(store, (index) => {
    index.clear()
    refreshIndex(store, index)
    return { runs: index.stamps().size, trials: index.countTrials() }
  })
  const missing = missingLines(store)
  appendResults(store, missing)
  return { ...counts, recovered: missing.length }
}

function missingLines(store: Store): (TrialRow | RunLine)[] {
  const published = publishedResults(store)
  return runIds(store).flatMap(({ id }) => {
    const dir = join(store.runsDir, id)
    const state = readManifestState(dir)
    // A live run publishes by itself.
    if (state.kind !== 'whole' || isLive(dir)) return []
    const known = published.get(id)
    const trials = readTrialRows(id, dir).filter((row) => known?.trialIds.has(row.trial_id) !== true)
    const ended = state.manifest.status !== 'running' && known?.ended !== true
    return [...trials, ...(ended ? [runLine(state.manifest)] : [])]
  })
}
