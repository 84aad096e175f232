import { join } from 'node:path'
import type { Store } from './contract.ts'
import type { RunIndex } from './index-database.ts'
import { runStamp, toIndexed } from './index-rows.ts'
import { runIds } from './run-id.ts'
import { readRunRow, readTrialRows } from './run-row.ts'

/** Brings the index in line with the directories: reads again what changed, forgets what is gone. */
export function refreshIndex(store: Store, index: RunIndex): void {
  const known = index.stamps()
  for (const parsed of runIds(store)) {
    const dir = join(store.runsDir, parsed.id)
    // Taken before the files are read: what changes meanwhile makes the row stale, not wrong for ever.
    const stamp = runStamp(dir)
    const before = known.get(parsed.id)
    known.delete(parsed.id)
    if (before === stamp) continue
    const row = readRunRow(store, parsed)
    const trials = row.kind === 'unknown' ? [] : readTrialRows(parsed.id, dir)
    index.put(toIndexed(row, stamp), trials, false)
  }
  for (const runId of known.keys()) index.remove(runId)
}
