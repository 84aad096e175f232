import { join } from 'node:path'
import { GantryError } from '../core/error.ts'
import { treeBytes } from '../io/directory.ts'
import { removeTree } from '../io/files.ts'
import { pruneCache } from './cache.ts'
import {
  defaultRetention,
  type RemovedRun,
  type RetentionCandidate,
  type RetentionOutcome,
  type RetentionPolicy,
  type Store,
} from './contract.ts'
import { flagsOf, readManifestState } from './manifest.ts'
import { planRetention } from './plan-retention.ts'
import { removeRun, trashIn } from './remove-run.ts'
import { type ParsedRunId, runIds } from './run-id.ts'
import { isLive } from './run-lock.ts'

export interface RetentionOptions {
  readonly policy?: RetentionPolicy
  /** Never removed this time: the run that has just ended. */
  readonly protect?: readonly string[]
  /** Only tells what would go. */
  readonly dryRun?: boolean
  /** Runs whose flags cannot be read go too, and the whole cache. */
  readonly everything?: boolean
  /** Measures what is freed and prunes the cache: for a person who asked to clean. Costs a walk over every file. */
  readonly thorough?: boolean
}

/**
 * Cleans the store by the policy. Safe beside live runs and other cleaners: a run is locked before it goes, and loses its
 * name before its files. A run that cannot be removed is reported and does not stop the others.
 */
export function applyRetention(store: Store, options: RetentionOptions = {}): RetentionOutcome {
  const {
    policy = defaultRetention,
    protect = [],
    everything = false,
    thorough = false,
    dryRun = false,
  } = options
  const nowMs = store.clock.now().getTime()
  const candidates = retentionCandidates(store, policy, nowMs, everything)
  const plan = planRetention(candidates, nowMs, policy, new Set(protect))
  const removed: RemovedRun[] = []
  const kept = [...plan.keep]
  const failed: { id: string; message: string }[] = []
  for (const { id, reason } of plan.remove) {
    attempt(id, failed, () => {
      const bytes = thorough ? treeBytes(join(store.runsDir, id)) : 0
      const fate = dryRun ? 'removed' : removeRun(store, id)
      if (fate === 'removed') removed.push({ id, reason, bytes })
      if (fate === 'live') kept.push({ id, reason: 'live' })
    })
  }
  let freedBytes = removed.reduce((sum, { bytes }) => sum + bytes, 0)
  // Renamed and not deleted: the cleaner was killed, or is still at it, and then both delete the same.
  for (const name of dryRun ? [] : trashIn(store.runsDir)) {
    attempt(name, failed, () => {
      const path = join(store.runsDir, name)
      freedBytes += thorough ? treeBytes(path) : 0
      removeTree(path)
    })
  }
  const cache = thorough ? pruneCache(store, { all: everything, dryRun }) : { entries: 0, bytes: 0 }
  return { removed, kept, failed, removedCacheEntries: cache.entries, freedBytes: freedBytes + cache.bytes }
}

function attempt(id: string, failed: { id: string; message: string }[], action: () => void): void {
  try {
    action()
  } catch (error) {
    if (!(error instanceof GantryError)) throw error
    failed.push({ id, message: error.message })
  }
}

/**
 * What retention has to know of every run. When the names alone show that nothing can go, no file is read: this runs at
 * the end of every run.
 */
function retentionCandidates(
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
