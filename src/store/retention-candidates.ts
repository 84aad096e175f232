import { join } from 'node:path'
import type { RetentionCandidate, RetentionPolicy, Store } from './contract.ts'
import { flagsOf } from './manifest.ts'
import { readManifestState } from './read-manifest.ts'
import type { ParsedRunId } from './run-id.ts'
import { runIds } from './run-ids.ts'
import { isLive } from './run-lock.ts'

/**
 * What retention has to know of every run. When the names alone show that nothing can go, no file is read: this runs at
 * the end of every run.
 */
export function retentionCandidates(
  store: Store,
  policy: RetentionPolicy,
  nowMs: number,
  everything: boolean,
): RetentionCandidate[] {
  const ids = runIds(store)
  const tooMany = policy.maxRuns !== null && ids.length > policy.maxRuns
  const tooOld = ids.some(
    ({ startedAtMs }) => policy.maxAgeMs !== null && nowMs - startedAtMs > policy.maxAgeMs,
  )
  return ids.map(tooMany || tooOld ? (parsed) => examined(store, parsed, everything) : unexamined)
}

function examined(store: Store, { id, startedAtMs }: ParsedRunId, everything: boolean): RetentionCandidate {
  const dir = join(store.runsDir, id)
  const state = readManifestState(dir)
  const live = isLive(dir)
  if (state.kind !== 'whole') {
    return {
      id,
      startedAtMs,
      flags: [],
      live,
      damaged: state.kind === 'damaged' && !everything,
      refersTo: [],
    }
  }
  const { manifest } = state
  return {
    id,
    // The manifest knows fractions of the second that the id tells.
    startedAtMs: Math.max(startedAtMs, Math.min(Date.parse(manifest.timestamp_start), startedAtMs + 999)),
    flags: flagsOf(manifest),
    live,
    damaged: false,
    refersTo: manifest.refers_to,
  }
}

function unexamined({ id, startedAtMs }: ParsedRunId): RetentionCandidate {
  return { id, startedAtMs, flags: [], live: false, damaged: false, refersTo: [] }
}
