import type { RunSummary, RunVerdict } from '../core/summary.ts'
import type { TrialRecord } from '../core/trial.ts'
import type { Verdict } from '../core/verdict.ts'
import type { Clock } from '../io/clock.ts'

/** The store of runs. Opening it writes nothing to disk. Files are the truth: `index.db` is a cache and may be deleted at any time. */
export interface Store {
  readonly root: string
  /** One directory per run. */
  readonly runsDir: string
  /** One file per cached record. */
  readonly cacheDir: string
  /** Append-only log of every finished trial and run. It outlives the run directories. */
  readonly resultsFile: string
  readonly indexFile: string
  readonly clock: Clock
}

/** Which face created a run. */
export type RunKind = 'scenario' | 'verify' | 'task' | 'plugin' | 'plan'

export const runKinds: readonly RunKind[] = ['scenario', 'verify', 'task', 'plugin', 'plan']

/** `running` until the run ends. A run that is `running` without a lock was killed. */
export type RunStatus = 'running' | 'interrupted' | RunVerdict

/** Protects a run from cleaning: pinned by the user, used as a baseline, or part of a stuck task. */
export type RunFlag = 'pinned' | 'blessed' | 'stuck'

export const runFlags: readonly RunFlag[] = ['pinned', 'blessed', 'stuck']

/** `manifest.json`: what ran, on what, and how it ended. A public format: fields are only added. */
export interface Manifest {
  readonly schema_version: 1
  readonly run_id: string
  readonly kind: RunKind
  /** One line for lists. */
  readonly title: string
  readonly status: RunStatus
  /** ISO 8601, UTC. */
  readonly timestamp_start: string
  /** null while the run is running, and for a killed run. */
  readonly timestamp_end: string | null
  /** HEAD of the repository the run worked on, or `unknown`. */
  readonly commit_sha: string
  /** Whether the tree differed from that commit; null when there is none. */
  readonly dirty: boolean | null
  readonly commands_executed: readonly ExecutedCommand[]
  readonly platform: Platform
  readonly versions: Versions
  /** The command line, already redacted. */
  readonly argv: readonly string[]
  readonly cwd: string
  readonly flags: Readonly<Record<RunFlag, boolean>>
  /** The user's reason for a flag. */
  readonly flag_reasons: Readonly<Partial<Record<RunFlag, string>>>
  /** Runs this one depends on: the origins of its cached records, and its baseline. */
  readonly refers_to: readonly string[]
  /** When the run was resumed, oldest first. */
  readonly resumed_at: readonly string[]
  /** Written when the run ends. */
  readonly totals: RunTotals | null
  /** Data of the face. */
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
  /** Version of the tool under test; null when there is none or it is unknown. */
  readonly target: string | null
}

/** Sums over the finished trials of a run. */
export interface RunTotals {
  readonly trials: number
  readonly counts: Readonly<Record<Verdict, number>>
  /** Planned but not finished. */
  readonly not_run: number
  readonly cached: number
  /** All the run spent, with attempts that have no record; null when nothing was metered. */
  readonly cost_usd: number | null
  readonly unmetered_trials: number
  /** Working time, without the pauses before a resume. */
  readonly duration_ms: number
}

/** The part of a manifest that changes during a run. Records are merged key by key, everything else is replaced. */
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
  /** Of a run that another program made. Default: a new one. */
  readonly id?: string
  readonly kind: RunKind
  readonly title: string
  /** Already redacted. */
  readonly argv: readonly string[]
  readonly cwd: string
  /** Called when something optional, such as the index, could not be updated. */
  readonly onWarning?: (message: string) => void
}

/** The frozen plan: at least the ids of the trials in order. The rest belongs to the face. */
export interface RunPlan {
  readonly trials: readonly PlannedTrial[]
}

/** A plan to be stored. Its trials are read once, one at a time. */
export interface PlanToStore {
  readonly trials: Iterable<PlannedTrial>
}

interface PlannedTrial {
  /** Used as a file name: letters, digits, `.`, `_` and `-`, beginning with a letter or digit, at most 150. */
  readonly id: string
}

/** Read access to a run, live or ended. Every call reads the disk again. */
export interface StoredRun {
  readonly id: string
  readonly dir: string
  /** Throws GantryError CORRUPT when it is damaged, NOT_FOUND when it is missing (a run of an older tool). */
  manifest(): Manifest
  /** null when the run never had a plan. The face checks its own part. */
  plan(): RunPlan | null
  /** null until the run ends with a summary. */
  summary(): RunSummary | null
  /**
   * Finished trials in plan order, then those outside the plan in the order they finished. Loads one record at a time.
   * A record's `dir` is the current path, even when the run directory was moved.
   */
  trials(): AsyncGenerator<TrialRecord>
  /** Path of a trial's directory, which may not exist. */
  trialDir(trialId: string): string
  /** The frozen copies by name. */
  inputs(): ReadonlyMap<string, FrozenInput>
  /** The value stored by `checkpoint`; undefined when it is missing or damaged, so the stage is repeated. */
  checkpointOf(trialId: string, name: string): unknown
}

/** A copy of a user's file from the start of the run. */
export interface FrozenInput {
  readonly name: string
  readonly sha256: string
  /** Absolute path of the copy. */
  readonly path: string
}

/**
 * A run this process is working on. It holds the run's lock until `end` or `release`. After a call returns, its writes survive kill -9.
 */
export interface LiveRun extends StoredRun {
  /** Ids with a complete `result.json` when the run was opened; empty for a new run. */
  readonly finished: ReadonlySet<string>
  change(change: ManifestChange): void
  /** Stores a copy of an input. The same content is stored once. The same name replaces the older content. */
  freeze(name: string, content: string | Uint8Array): FrozenInput
  writePlan(plan: PlanToStore): void
  /** Creates the trial's directory if needed and returns its path. */
  openTrial(trialId: string): string
  /** Stores the record, which finishes the trial. */
  finishTrial(record: TrialRecord): void
  /** Deletes the files of a trial, if any, so it can be repeated. Cheap in a new run. */
  discardTrial(trialId: string): void
  /** Stores the result of a stage inside a trial, so it is not repeated or paid twice. `name` follows the rule of trial ids. */
  checkpoint(trialId: string, name: string, value: unknown): void
  /** Appends one line to the run's `events.jsonl`. */
  appendEvent(event: object): void
  /** Path of a file in `logs/` or `reports/`. Creates the directory. */
  logPath(name: string): string
  reportPath(name: string): string
  /** Writes the end into the manifest, updates the shared index and releases the lock. */
  end(end: RunOutcome): Promise<void>
  /** Releases the lock without an end, for example after an internal error. The run can be resumed. */
  release(): void
  /** Deletes the files of a run that ended before it did anything. It must still be released. */
  discard(): void
}

export interface RunOutcome {
  readonly status: Exclude<RunStatus, 'running'>
  readonly summary?: RunSummary
  /** What the run spent, when no summary says it and its trials do not either. null = unmetered. */
  readonly costUsd?: number | null
  readonly change?: ManifestChange
}

/** A run in a list. */
export interface RunRow {
  readonly id: string
  readonly dir: string
  /** `unknown`: created by an older tool, killed before its manifest was written, or damaged. */
  readonly kind: RunKind | 'unknown'
  readonly title: string
  /** A killed run is `interrupted` here. */
  readonly status: RunStatus | 'unknown'
  readonly live: boolean
  /** ISO 8601, UTC. */
  readonly startedAt: string
  readonly endedAt: string | null
  readonly totals: RunTotals | null
  readonly flags: readonly RunFlag[]
}

/** One line of `results.jsonl` and one row of the index: a trial without its large fields. */
export interface TrialRow
  extends Pick<TrialRecord, 'case' | 'agent' | 'model' | 'attempt' | 'verdict' | 'reason' | 'score'> {
  readonly kind: 'trial'
  readonly run_id: string
  readonly trial_id: string
  readonly cost_usd: number | null
  readonly duration_ms: number
  readonly started_at: string
  readonly cached_from: string | null
  readonly cache_key: string | null
  /** A JSON list; null without tags. Absent in lines of older versions. */
  readonly tags?: string | null
  /** With those from the prompt cache; null when not measured. Absent in lines of older versions. */
  readonly input_tokens?: number | null
  readonly output_tokens?: number | null
}

/** A cached record. */
export interface CachedRecord {
  readonly record: TrialRecord
  /** The run that made it. Its directory, and so `record.dir`, may be deleted by now. */
  readonly runId: string
  readonly storedAt: string
}

export interface RetentionPolicy {
  /** Runs older than this are removed first. null: no age limit. */
  readonly maxAgeMs: number | null
  /** Then the oldest are removed until this many remain, besides those with a worth. null: no limit. */
  readonly maxRuns: number | null
}

export const defaultRetention: RetentionPolicy = { maxAgeMs: 14 * 86_400_000, maxRuns: 20 }

/**
 * Why a run is not removed by a count: it cost money or may have, it took long, it was not finished and can be resumed, or the current
 * command made it, or it is of a task of the last day.
 */
export type RunWorth = 'paid' | 'unmetered' | 'long' | 'unfinished' | 'own' | 'task'

/** Why a run stays: a flag, a process working on it, a kept run that refers to it, unreadable flags, its worth, or the policy. */
export type KeepReason = RunFlag | RunWorth | 'live' | 'protected' | 'referenced' | 'damaged' | 'recent'

export interface RetentionCandidate {
  readonly id: string
  readonly startedAtMs: number
  readonly flags: readonly RunFlag[]
  readonly live: boolean
  /** The manifest cannot be read, so the run may be pinned. */
  readonly damaged: boolean
  readonly refersTo: readonly string[]
  /** null: a count may remove it. */
  readonly worth: RunWorth | null
}

export interface RetentionPlan {
  readonly remove: readonly { readonly id: string; readonly reason: 'age' | 'count' }[]
  readonly keep: readonly { readonly id: string; readonly reason: KeepReason }[]
}

export interface RetentionOutcome {
  readonly removed: readonly RemovedRun[]
  readonly kept: RetentionPlan['keep']
  /** Runs that could not be deleted. */
  readonly failed: readonly { readonly id: string; readonly message: string }[]
  readonly removedCacheEntries: number
  /** Bytes of runs, leftovers and cache entries; 0 when sizes were not requested. */
  readonly freedBytes: number
}

export interface RemovedRun {
  readonly id: string
  readonly reason: 'age' | 'count'
  readonly bytes: number
}
