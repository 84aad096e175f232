import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { counted } from '../core/counted.ts'
import { formatDuration } from '../core/duration.ts'
import { GantryError } from '../core/error.ts'
import { processAgeMs, systemClock } from '../io/clock.ts'
import { makeDirectories, readTextIfExists, treeBytes } from '../io/directory.ts'
import { removeTree, writeFileAtomic } from '../io/files.ts'
import { pruneCache } from './cache.ts'
import {
  defaultRetention,
  type Manifest,
  type RemovedRun,
  type RetentionCandidate,
  type RetentionOutcome,
  type RetentionPlan,
  type RetentionPolicy,
  type RunWorth,
  type Store,
} from './contract.ts'
import { flagsOf, readManifestState } from './manifest.ts'
import { planRetention } from './plan-retention.ts'
import { removeRun, trashIn } from './remove-run.ts'
import { type ParsedRunId, runIds } from './run-id.ts'
import { isLive } from './run-lock.ts'

export interface RetentionOptions {
  readonly policy?: RetentionPolicy
  /** Never removed this time, such as the run that just ended. */
  readonly protect?: readonly string[]
  /**
   * A count removes no run that began since then. Default: the start of this process, so that the runs of one command stay
   * together, but for a server at most a day.
   */
  readonly sinceMs?: number
  /** Only reports what would be removed. */
  readonly dryRun?: boolean
  /** Also removes runs that cost something, runs whose flags cannot be read, and the whole cache. */
  readonly everything?: boolean
  /** Measures the freed space and prunes the cache, for `gantry runs clean`. Walks over every file. */
  readonly thorough?: boolean
}

const dayMs = 24 * 60 * 60 * 1000

/**
 * Cleans the store by the policy. Safe beside live runs and other cleaners: a run is locked and renamed before its files are deleted.
 * A run that cannot be removed is reported and does not stop the others.
 */
export function applyRetention(store: Store, options: RetentionOptions = {}): RetentionOutcome {
  const {
    policy = defaultRetention,
    protect = [],
    everything = false,
    thorough = false,
    dryRun = false,
    sinceMs = ownSinceMs(),
  } = options
  const nowMs = store.clock.now().getTime()
  const candidates = retentionCandidates(store, policy, { everything, sinceMs, nowMs })
  const plan = planRetention([...candidates], nowMs, policy, new Set(protect))
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
  // Renamed but not deleted: its cleaner was killed, or is still working and both delete the same files.
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

function ownSinceMs(): number {
  return systemClock.now().getTime() - Math.min(processAgeMs(), dayMs)
}

/** What the next cleaning removes and keeps. Other work goes on while it reads the manifests. */
export async function nextRetention(store: Store): Promise<RetentionPlan> {
  const nowMs = store.clock.now().getTime()
  const options = { everything: false, sinceMs: ownSinceMs(), nowMs }
  const candidates: RetentionCandidate[] = []
  for (const candidate of retentionCandidates(store, defaultRetention, options))
    if (candidates.push(candidate) % 50 === 0) await turn()
  return planRetention(candidates, nowMs, defaultRetention)
}

/**
 * Cleans the store after a run, by the default policy, and returns what the user should know: every run that was removed, once a day
 * for those above the limit, and every one that could not be.
 */
export function cleanAfterRun(store: Store, protect: readonly string[] = []): string[] {
  const { removed, failed } = applyRetention(store, { protect })
  const { maxAgeMs, maxRuns } = defaultRetention
  const said = (reason: RemovedRun['reason'], why: string): string[] => {
    const ids = removed.flatMap((run) => (run.reason === reason ? [run.id] : []))
    return ids.length === 0 ? [] : [`removed ${counted(ids.length, 'stored run')} ${why}: ${ids.join(', ')}`]
  }
  return [
    ...said('age', `older than ${formatDuration(maxAgeMs ?? 0)}`),
    ...(removed.some(({ reason }) => reason === 'count') && isFirstToday(store)
      ? said('count', `that cost nothing, above the limit of ${maxRuns}`)
      : []),
    ...failed.map(({ id, message }) => `${id} could not be removed: ${message}`),
  ]
}

/** Each run above the limit removes another one. */
function isFirstToday({ cacheDir, clock }: Store): boolean {
  const path = join(cacheDir, 'removal-reported')
  const nowMs = clock.now().getTime()
  if (nowMs - Number(readTextIfExists(path) ?? 0) < dayMs) return false
  makeDirectories(cacheDir)
  writeFileAtomic(path, String(nowMs))
  return true
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
 * What retention needs to know about every run. Reads no file when the names alone show that nothing can be removed, because this
 * runs at the end of every run.
 */
function* retentionCandidates(
  store: Store,
  policy: RetentionPolicy,
  options: ExamineOptions,
): Generator<RetentionCandidate> {
  const ids = runIds(store)
  const tooMany = policy.maxRuns !== null && ids.length > policy.maxRuns
  const tooOld = ids.some(
    ({ startedAtMs }) => policy.maxAgeMs !== null && options.nowMs - startedAtMs > policy.maxAgeMs,
  )
  for (const parsed of ids) yield tooMany || tooOld ? examined(store, parsed, options) : unexamined(parsed)
}

type ExamineOptions = Required<Pick<RetentionOptions, 'everything' | 'sinceMs'>> & { readonly nowMs: number }

function examined(
  store: Store,
  { id, startedAtMs }: ParsedRunId,
  { everything, sinceMs, nowMs }: ExamineOptions,
): RetentionCandidate {
  const dir = join(store.runsDir, id)
  const state = readManifestState(dir)
  const live = isLive(dir)
  if (state.kind !== 'whole')
    return { ...unexamined({ id, startedAtMs }), live, damaged: state.kind !== 'missing' && !everything }
  const { manifest } = state
  // The manifest has fractions of a second, the id does not.
  const startMs = Math.max(startedAtMs, Math.min(Date.parse(manifest.timestamp_start), startedAtMs + 999))
  return {
    id,
    startedAtMs: startMs,
    flags: flagsOf(manifest),
    live,
    damaged: false,
    refersTo: manifest.refers_to,
    worth: everything ? null : startMs >= sinceMs ? 'own' : worthOf(manifest, nowMs - startMs),
  }
}

/** A run of this length is not repeated lightly. */
const longMs = 60_000

function worthOf({ kind, totals, refers_to, details }: Manifest, ageMs: number): RunWorth | null {
  // Killed: it may have cost anything. A verification is never resumed.
  if (totals === null) return kind === 'verify' ? null : 'unfinished'
  if ((totals.cost_usd ?? 0) > 0) return 'paid'
  // An unknown amount was paid, unless nothing in the run could cost anything.
  if (totals.unmetered_trials > 0 && details.free !== true) return 'unmetered'
  if (totals.duration_ms >= longMs) return 'long'
  // A verification that refers to a run is a task's proof.
  const isOfTask = kind === 'task' || (kind === 'verify' && refers_to.length > 0)
  return isOfTask && ageMs < dayMs ? 'task' : null
}

function unexamined({ id, startedAtMs }: Pick<ParsedRunId, 'id' | 'startedAtMs'>): RetentionCandidate {
  return { id, startedAtMs, flags: [], live: false, damaged: false, refersTo: [], worth: null }
}
