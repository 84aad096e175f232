import { textBeside } from '../../io/text-beside.ts'
import { type TaskRecord, taskStates } from './contract.ts'

export type TaskRow = Readonly<Record<string, unknown>>

/** In the order that `recordFrom` expects. */
export const taskColumns =
  'id, repository, description, state, created_at, started_at, completed_at, dry_run, verbose, run_ids, task_run_id, current_attempt, phase, summary, error_message, options, metrics'

const names = taskColumns.split(', ')

export function recordOf(row: TaskRow): TaskRecord {
  return recordFrom(names.map((name) => row[name]))
}

/** From the values of `taskColumns`. */
export function recordFrom(values: readonly unknown[]): TaskRecord {
  const [id, repository, description, state, created, started, completed, ...more] = values
  const [dryRun, verbose, runIds, run, attempt, phase, summary, error, options, metrics] = more
  return {
    id: String(id),
    repository: String(repository),
    description: String(description),
    state: taskStates.find((known) => known === state) ?? 'INFRA_ERROR',
    created_at: String(created),
    started_at: textOf(started),
    completed_at: textOf(completed),
    dry_run: dryRun === 1,
    verbose: verbose === 1,
    run_ids: runIds === '[]' ? [] : JSON.parse(String(runIds)),
    task_run_id: textOf(run),
    current_attempt: Number(attempt),
    phase: textOf(phase),
    summary: textOf(summary),
    error_message: textOf(error),
    options: JSON.parse(String(options)),
    metrics: typeof metrics === 'string' ? JSON.parse(metrics) : null,
  }
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}

/** Incremented when the tables change. An older database is migrated; a newer one is refused, because it holds users' tasks. */
export const queueVersion = 1

export const queueSchema = `${textBeside(import.meta.url, './task-tables.sql')}PRAGMA user_version = ${queueVersion};`
