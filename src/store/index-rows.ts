import { join } from 'node:path'
import { fileStamp } from '../io/directory.ts'
import { type RunFlag, type RunKind, type RunRow, type RunStatus, runFlags, type Store } from './contract.ts'
import { isLive } from './run-lock.ts'
import { runFile } from './run-paths.ts'

/** A row of the table `runs`. */
export interface IndexedRun {
  readonly run_id: string
  readonly kind: RunKind | 'unknown'
  readonly title: string
  readonly status: RunStatus | 'unknown'
  readonly started_at: string
  readonly ended_at: string | null
  readonly pinned: number
  readonly blessed: number
  readonly stuck: number
  /** null, with all the sums, when nothing is known of the trials. */
  readonly trials: number | null
  readonly pass: number | null
  readonly fail: number | null
  readonly infra: number | null
  readonly invalid: number | null
  readonly not_run: number | null
  readonly cached: number | null
  readonly cost_usd: number | null
  readonly unmetered_trials: number | null
  readonly duration_ms: number | null
  /** Of the files the row was made from: when they have another one, the row is stale. */
  readonly stamp: string
}

export function toIndexed(row: RunRow, stamp: string): IndexedRun {
  const { totals } = row
  const flag = (name: RunFlag): number => (row.flags.includes(name) ? 1 : 0)
  return {
    run_id: row.id,
    kind: row.kind,
    title: row.title,
    // Whether a run is live is asked at every reading, never stored.
    status: row.live || (row.status === 'interrupted' && row.endedAt === null) ? 'running' : row.status,
    started_at: row.startedAt,
    ended_at: row.endedAt,
    pinned: flag('pinned'),
    blessed: flag('blessed'),
    stuck: flag('stuck'),
    trials: totals?.trials ?? null,
    pass: totals?.counts.pass ?? null,
    fail: totals?.counts.fail ?? null,
    infra: totals?.counts.infra ?? null,
    invalid: totals?.counts.invalid ?? null,
    not_run: totals?.not_run ?? null,
    cached: totals?.cached ?? null,
    cost_usd: totals?.cost_usd ?? null,
    unmetered_trials: totals?.unmetered_trials ?? null,
    duration_ms: totals?.duration_ms ?? null,
    stamp,
  }
}

export function fromIndexed(store: Store, row: IndexedRun): RunRow {
  const dir = join(store.runsDir, row.run_id)
  const live = (row.status === 'running' || row.status === 'unknown') && isLive(dir)
  return {
    id: row.run_id,
    dir,
    kind: row.kind,
    title: row.title,
    status: row.status === 'running' && !live ? 'interrupted' : row.status,
    live,
    startedAt: row.started_at,
    endedAt: row.ended_at,
    totals: totalsOf(row),
    flags: runFlags.filter((flag) => row[flag] === 1),
  }
}

function totalsOf(row: IndexedRun): RunRow['totals'] {
  if (row.trials === null) return null
  return {
    trials: row.trials,
    counts: { pass: row.pass ?? 0, fail: row.fail ?? 0, infra: row.infra ?? 0, invalid: row.invalid ?? 0 },
    not_run: row.not_run ?? 0,
    cached: row.cached ?? 0,
    cost_usd: row.cost_usd,
    unmetered_trials: row.unmetered_trials ?? 0,
    duration_ms: row.duration_ms ?? 0,
  }
}

/** Changes whenever the manifest or the trial log of a run does: two system calls tell whether a row is stale. */
export function runStamp(runDir: string): string {
  return `${fileStamp(runFile.manifest(runDir))} ${fileStamp(runFile.trialLog(runDir))}`
}
