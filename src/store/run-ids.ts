import { directoriesIn } from '../io/directory.ts'
import type { Store } from './contract.ts'
import { type ParsedRunId, parseRunId } from './run-id.ts'

/** Every run directory by its name, newest first. Foreign names, and files with the name of a run, are passed over. Costs one system call. */
export function runIds(store: Store): ParsedRunId[] {
  return directoriesIn(store.runsDir)
    .map(parseRunId)
    .filter((parsed) => parsed !== null)
    .sort(newestFirst)
}

function newestFirst(a: ParsedRunId, b: ParsedRunId): number {
  return b.startedAtMs - a.startedAtMs || (a.id < b.id ? 1 : -1)
}
