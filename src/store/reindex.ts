import { join } from 'node:path'
import type { Store, TrialRow } from './contract.ts'
import { readManifestState } from './manifest.ts'
import { appendToResultsLog, publishedResults, type RunLine, runLine } from './results-log.ts'
import { runIds } from './run-id.ts'
import { isLive } from './run-lock.ts'
import { readTrialRows } from './run-row.ts'

/** Rebuilds the index from the run directories and appends missing lines to `results.jsonl`. */
export async function reindex(store: Store) {
  if (runIds(store).length === 0) return { runs: 0, trials: 0, recovered: 0 }
  const { withIndexDatabase } = await import('./index-database.ts')
  const { refreshIndex } = await import('./refresh-index.ts')
  const counts = withIndexDatabase(store, (index) => {
    index.clear()
    refreshIndex(store, index)
    return { runs: index.stamps().size, trials: index.countTrials() }
  })
  /** Lines missing in `results.jsonl` because their process was killed before publishing them. */
  const missing = missingLines(store)
  appendToResultsLog(store, missing)
  return { ...counts, recovered: missing.length }
}

function missingLines(store: Store): (TrialRow | RunLine)[] {
  const published = publishedResults(store)
  return runIds(store).flatMap(({ id }) => {
    const dir = join(store.runsDir, id)
    const state = readManifestState(dir)
    // A live run publishes its own lines.
    if (state.kind !== 'whole' || isLive(dir)) return []
    const known = published.get(id)
    const trials = [...readTrialRows(id, dir)].filter((row) => known?.trialIds.has(row.trial_id) !== true)
    const ended = state.manifest.status !== 'running' && known?.ended !== true
    return [...trials, ...(ended ? [runLine(state.manifest)] : [])]
  })
}
