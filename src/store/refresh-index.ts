import { join } from 'node:path'
import type { Store } from './contract.ts'
import type { RunIndex } from './index-database.ts'
import { manifestStamp, runStamp, toIndexed } from './indexed-run.ts'
import { type ParsedRunId, runIds } from './run-id.ts'
import { readRunRow, readTrialRows } from './run-row.ts'

/** Updates the index from the directories: reads changed runs, removes deleted ones. */
export function refreshIndex(store: Store, index: RunIndex, ids = runIds(store)): void {
  const known = index.stamps()
  for (const parsed of ids) {
    const dir = join(store.runsDir, parsed.id)
    const before = known.get(parsed.id)
    known.delete(parsed.id)
    if (before?.hasEnded === true && before.stamp.startsWith(`${manifestStamp(dir)} `)) continue
    // Taken before the files are read, so a concurrent change makes the row stale instead of wrong.
    const stamp = runStamp(dir)
    if (before?.stamp !== stamp) putRun(store, index, parsed, stamp)
  }
  for (const runId of known.keys()) index.remove(runId)
}

/** Updates one run, which must exist. */
export function refreshRun(store: Store, index: RunIndex, parsed: ParsedRunId): void {
  const stamp = runStamp(join(store.runsDir, parsed.id))
  if (index.stamps(parsed.id).get(parsed.id)?.stamp !== stamp) putRun(store, index, parsed, stamp)
}

function putRun(store: Store, index: RunIndex, parsed: ParsedRunId, stamp: string): void {
  const row = readRunRow(store, parsed)
  const trials = row.kind === 'unknown' ? [] : readTrialRows(parsed.id, join(store.runsDir, parsed.id))
  index.put(toIndexed(row, stamp), trials, false)
}
