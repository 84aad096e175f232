import { type TaskRecord, type TaskState, taskStates } from './contract.ts'

/** A row of `tasks`. */
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

/** Incremented when the tables change. An older database is migrated; a newer one is refused, because it holds users' tasks. */
export const queueVersion = 1

export const queueSchema = `
  CREATE TABLE tasks (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, repository TEXT NOT NULL, description TEXT NOT NULL,
    state TEXT NOT NULL, created_at TEXT NOT NULL, started_at TEXT, completed_at TEXT,
    dry_run INTEGER NOT NULL, verbose INTEGER NOT NULL, run_ids TEXT NOT NULL DEFAULT '[]', task_run_id TEXT,
    current_attempt INTEGER NOT NULL DEFAULT 0, phase TEXT, summary TEXT, error_message TEXT, options TEXT NOT NULL, metrics TEXT,
    owner TEXT, deaths INTEGER NOT NULL DEFAULT 0, cancel_requested INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE INDEX tasks_by_state ON tasks (state, seq);
  CREATE TABLE events (
    id INTEGER PRIMARY KEY AUTOINCREMENT, task_id TEXT NOT NULL, level TEXT NOT NULL, event TEXT NOT NULL
  ) STRICT;
  CREATE INDEX events_by_task ON events (task_id, id);
  CREATE INDEX milestones ON events (id) WHERE level = 'milestone';
  PRAGMA user_version = ${queueVersion};
`
