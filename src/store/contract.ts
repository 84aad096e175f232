import type { RunSummary, RunVerdict } from '../core/summary.ts'
import type { TrialRecord } from '../core/trial.ts'
import type { Verdict } from '../core/verdict.ts'
import type { Clock } from '../io/clock.ts'

/**
 * Where everything is kept. Opening one makes nothing on disk; the first write does. Files are the truth: `index.db` is
 * a cache of them and may be deleted at any time.
 */
export interface Store {
  readonly root: string
  /** One directory per run. */
  readonly runsDir: string
  /** One file per cached record. */
  readonly cacheDir: string
  /** Append-only log of every finished trial and run; it outlives the run directories. */
  readonly resultsFile: string
  readonly indexFile: string
  readonly clock: Clock
}

/** Which face made a run. */
export type RunKind = 'scenario' | 'verify' | 'task' | 'plugin' | 'plan'

export const runKinds: readonly RunKind[] = ['scenario', 'verify', 'task', 'plugin', 'plan']

/** `running` until the run is ended; a run that says `running` while nobody holds its lock was killed. */
export type RunStatus = 'running' | 'interrupted' | RunVerdict

/** What keeps a run from being cleaned: a person's wish, its use as a baseline, or a task that is stuck on it. */
export type RunFlag = 'pinned' | 'blessed' | 'stuck'

export const runFlags: readonly RunFlag[] = ['pinned', 'blessed', 'stuck']

/** `manifest.json`: what ran, on what, with which end. A public format: fields are only ever added. */
export interface Manifest {
  readonly schema_version: 1
  readonly run_id: string
  readonly kind: RunKind
  /** One line for lists. */
  readonly title: string
  readonly status: RunStatus
  /** ISO 8601, UTC. */
  readonly timestamp_start: string
  /** null while the run goes on, and for a run that was killed. */
  readonly timestamp_end: string | null
  /** HEAD of the repository the run worked on, or `unknown`. */
  readonly commit_sha: string
  /** Whether the tree differed from that commit; null when there is none. */
  readonly dirty: boolean | null
  readonly commands_executed: readonly ExecutedCommand[]
  readonly platform: Platform
  readonly versions: Versions
  /** The command line, redacted by whoever started the run. */
  readonly argv: readonly string[]
  readonly cwd: string
  readonly flags: Readonly<Record<RunFlag, boolean>>
  /** Why a flag was set, in the words of whoever set it. */
  readonly flag_reasons: Readonly<Partial<Record<RunFlag, string>>>
  /** Runs this one leans on: those its cached records were really made by, and its baseline. */
  readonly refers_to: readonly string[]
  /** When the run was taken up again, oldest first. */
  readonly resumed_at: readonly string[]
  /** Written when the run ends. */
  readonly totals: RunTotals | null
  /** Whatever the face wants to keep with the run. */
  readonly details: Readonly<Record<string, unknown>>
}

export interface ExecutedCommand {
  readonly name: string
  readonly command: string
  readonly exit_code: number | null
  readonly duration_ms: number
}

interface Platform {
  readonly os: string
  readonly arch: string
  readonly container_image: string | null
  readonly cpus: number
  readonly memory_bytes: number
}

interface Versions {
  readonly gantry: string
  readonly node: string
  readonly agents: Readonly<Record<string, string>>
  /** Of the tool under test; null when there is none or it does not tell. */
  readonly target: string | null
}

/** Sums over the finished trials of a run. */
export interface RunTotals {
  readonly trials: number
  readonly counts: Readonly<Record<Verdict, number>>
  /** Planned and not finished. */
  readonly not_run: number
  readonly cached: number
  /** null when no trial was metered. */
  readonly cost_usd: number | null
  readonly unmetered_trials: number
  /** Time the run was really going on: the pause before a resumption is not in it. */
  readonly duration_ms: number
}

/** The part of a manifest that changes while a run goes on. Records are merged key by key, everything else is replaced. */
export interface ManifestChange {
  readonly title?: string
  readonly commit_sha?: string
  readonly dirty?: boolean | null
  readonly commands_executed?: readonly ExecutedCommand[]
  readonly container_image?: string | null
  readonly agents?: Readonly<Record<string, string>>
  readonly target?: string | null
  /** Added to those already there. */
  readonly refers_to?: readonly string[]
  readonly details?: Readonly<Record<string, unknown>>
}

/** What a face knows when its run begins. */
export interface NewRun extends ManifestChange {
  readonly kind: RunKind
  readonly title: string
  /** Already redacted. */
  readonly argv: readonly string[]
  readonly cwd: string
  /** Told when something that is only a convenience could not be kept up, such as the index. */
  readonly onWarning?: (message: string) => void
}

/** The frozen plan: at least the ids of the trials in their order. The rest belongs to the face. */
export interface RunPlan {
  readonly trials: readonly PlannedTrial[]
}

interface PlannedTrial {
  /** A file name of its own: letters, digits, `.`, `_` and `-`, beginning with a letter or digit, at most 150 of them. */
  readonly id: string
}

/** A run as anybody may read it, live or ended. Every call reads the disk anew. */
export interface StoredRun {
  readonly id: string
  readonly dir: string
  /** Throws GantryError CORRUPT when it is damaged, NOT_FOUND when there is none (a run of an older tool). */
  manifest(): Manifest
  /** null when the run never got as far as planning. The face checks its own part. */
  plan(): RunPlan | null
  /** null until the run ended with one. */
  summary(): RunSummary | null
  /**
   * Finished trials in plan order, then those outside the plan in the order they finished. Holds one record at a time.
   * A record's `dir` is where the trial lies now, even when the run directory was moved.
   */
  trials(): AsyncGenerator<TrialRecord>
  /** Path of a trial's directory, whether or not it is there. */
  trialDir(trialId: string): string
  /** The frozen copies by the name they were frozen under. */
  inputs(): ReadonlyMap<string, FrozenInput>
  /** What `checkpoint` kept; undefined when there is nothing or it is damaged, so that the stage is made again. */
  checkpointOf(trialId: string, name: string): unknown
}

/** A file of the user as it was when the run began. */
export interface FrozenInput {
  readonly name: string
  readonly sha256: string
  /** Absolute path of the copy. */
  readonly path: string
}

/**
 * A run this process is working on. It holds the run's lock until `end` or `release`. After any call returns, what
 * it wrote survives kill -9.
 */
export interface LiveRun extends StoredRun {
  /** Ids with a whole `result.json` when the run was opened; empty for a new run. */
  readonly finished: ReadonlySet<string>
  change(change: ManifestChange): void
  /** Keeps a copy of an input. The same content is stored once; the same name again replaces the older content. */
  freeze(name: string, content: string | Uint8Array): FrozenInput
  writePlan(plan: RunPlan): void
  /** Makes the trial's directory if need be and returns its path. */
  openTrial(trialId: string): string
  /** Stores the record: from here on the trial is finished. */
  finishTrial(record: TrialRecord): void
  /** Throws away what a trial left behind, if anything, so that it can be made again. Free of cost in a new run. */
  discardTrial(trialId: string): void
  /** Keeps a stage inside a trial: what must not be done, or paid for, twice. `name` follows the rule of trial ids. */
  checkpoint(trialId: string, name: string, value: unknown): void
  /** Appends one line to the run's `events.jsonl`. */
  appendEvent(event: object): void
  /** Path of a file in `logs/` or `reports/`, whose directory then exists. */
  logPath(name: string): string
  reportPath(name: string): string
  /** Writes the end into the manifest, brings the shared index up to date and lets go of the lock. */
  end(end: RunOutcome): Promise<void>
  /** Lets go of the lock without an end, as after a failure of our own; the run can be resumed. */
  release(): void
}

export interface RunOutcome {
  readonly status: Exclude<RunStatus, 'running'>
  readonly summary?: RunSummary
  readonly change?: ManifestChange
}

/** A run in a list. */
export interface RunRow {
  readonly id: string
  readonly dir: string
  /** `unknown`: made by an older tool, killed before its manifest was written, or damaged. */
  readonly kind: RunKind | 'unknown'
  readonly title: string
  /** A killed run reads `interrupted` here. */
  readonly status: RunStatus | 'unknown'
  readonly live: boolean
  /** ISO 8601, UTC. */
  readonly startedAt: string
  readonly endedAt: string | null
  readonly totals: RunTotals | null
  readonly flags: readonly RunFlag[]
}

/** One line of `results.jsonl`, one row of the index: a trial without its bulk. */
export interface TrialRow {
  readonly kind: 'trial'
  readonly run_id: string
  readonly trial_id: string
  readonly case: string
  readonly agent: string
  readonly model: string
  readonly attempt: number
  readonly verdict: Verdict
  readonly reason: string
  readonly score: number | null
  readonly cost_usd: number | null
  readonly duration_ms: number
  readonly started_at: string
  readonly cached_from: string | null
  readonly cache_key: string | null
}

/** What the cache knows under a key. */
export interface CachedRecord {
  readonly record: TrialRecord
  /** The run that really made it. Its directory, and with it `record.dir`, may be gone by now; the record is enough. */
  readonly runId: string
  readonly storedAt: string
}

export interface RetentionPolicy {
  /** Older runs go first. null: age does not matter. */
  readonly maxAgeMs: number | null
  /** Then the oldest, until so many remain. null: their number does not matter. */
  readonly maxRuns: number | null
}

export const defaultRetention: RetentionPolicy = { maxAgeMs: 14 * 86_400_000, maxRuns: 20 }

/** Why a run stays: a flag, a process working on it, a kept run that leans on it, unreadable flags, or no need to go. */
export type KeepReason = RunFlag | 'live' | 'protected' | 'referenced' | 'damaged' | 'recent'

export interface RetentionCandidate {
  readonly id: string
  readonly startedAtMs: number
  readonly flags: readonly RunFlag[]
  readonly live: boolean
  /** The manifest is there and cannot be read, so nobody knows whether the run was pinned. */
  readonly damaged: boolean
  readonly refersTo: readonly string[]
}

export interface RetentionPlan {
  readonly remove: readonly { readonly id: string; readonly reason: 'age' | 'count' }[]
  readonly keep: readonly { readonly id: string; readonly reason: KeepReason }[]
}

export interface RetentionOutcome {
  readonly removed: readonly RemovedRun[]
  readonly kept: RetentionPlan['keep']
  /** Runs that should have gone and could not be deleted. */
  readonly failed: readonly { readonly id: string; readonly message: string }[]
  readonly removedCacheEntries: number
  /** Of runs, remains and cache entries; 0 when sizes were not asked for. */
  readonly freedBytes: number
}

export interface RemovedRun {
  readonly id: string
  readonly reason: 'age' | 'count'
  readonly bytes: number
}
