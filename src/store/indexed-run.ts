import { join } from 'node:path'
import { type Verdict, verdicts } from '../core/verdict.ts'
import { fileStamp } from '../io/directory.ts'
import {
  type RunFlag,
  type RunKind,
  type RunRow,
  type RunStatus,
  type RunTotals,
  runFlags,
  type Store,
} from './contract.ts'
import { isLive } from './run-lock.ts'
import { runFile } from './run-paths.ts'

export interface IndexedRun extends Sums {
  readonly run_id: string
  readonly kind: RunKind | 'unknown'
  readonly title: string
  readonly status: RunStatus | 'unknown'
  readonly started_at: string
  readonly ended_at: string | null
  readonly pinned: number
  readonly blessed: number
  readonly stuck: number
  /** Stamp of the source files. The row is stale when theirs differs. */
  readonly stamp: string
}

/** All null when the trials are unknown. */
type Sums = Readonly<Record<Verdict | Exclude<keyof RunTotals, 'counts'>, number | null>>

const sums: readonly (keyof Sums)[] = [
  ...verdicts,
  ...(['trials', 'not_run', 'cached', 'cost_usd', 'unmetered_trials', 'duration_ms'] as const),
]

const noSums = Object.fromEntries(sums.map((name) => [name, null])) as Sums

function sumsOf({ counts, ...rest }: RunTotals): Sums {
  return { ...rest, ...counts }
}

export function toIndexed(row: RunRow, stamp: string): IndexedRun {
  const { totals } = row
  const flag = (name: RunFlag): number => (row.flags.includes(name) ? 1 : 0)
  return {
    run_id: row.id,
    kind: row.kind,
    title: row.title,
    // Whether a run is live is checked at every read, never stored.
    status: row.live || (row.status === 'interrupted' && row.endedAt === null) ? 'running' : row.status,
    started_at: row.startedAt,
    ended_at: row.endedAt,
    pinned: flag('pinned'),
    blessed: flag('blessed'),
    stuck: flag('stuck'),
    ...(totals === null ? noSums : sumsOf(totals)),
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

/** Changes with the manifest or the trial log of a run, so two system calls show whether a row is stale. */
export function runStamp(runDir: string): string {
  return `${manifestStamp(runDir)} ${fileStamp(runFile.trialLog(runDir))}`
}

export function manifestStamp(runDir: string): string {
  return fileStamp(runFile.manifest(runDir))
}
