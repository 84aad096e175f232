import { type TaskRecord, type TaskState, taskStates } from './contract.ts'

/** A row of `tasks` as the database gives it. */
export type Row = Readonly<Record<string, unknown>>

/** In the order in which `recordFrom` takes their values. */
export const taskColumns =
  'id, repository, description, state, created_at, started_at, completed_at, dry_run, verbose, run_ids, task_run_id, current_attempt, phase, summary, error_message, options, metrics'

const names = taskColumns.split(', ')

export function recordOf(row: Row): TaskRecord {
  return recordFrom(names.map((name) => row[name]))
}

/** From the values of `taskColumns`. */
export function recordFrom(values: readonly unknown[]): TaskRecord {
  const [
    id,
    repository,
    description,
    state,
    created,
    started,
    completed,
    dryRun,
    verbose,
    runIds,
    run,
    attempt,
    ...rest
  ] = values
  const [phase, summary, error, options, metrics] = rest
  return {
    id: String(id),
    repository: String(repository),
    description: String(description),
    state: stateOf(state),
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

function stateOf(value: unknown): TaskState {
  return taskStates.find((state) => state === value) ?? 'INFRA_ERROR'
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}
