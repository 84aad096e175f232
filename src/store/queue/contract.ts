/**
 * The tasks of all repositories of a store, in `queue.db` beside the runs: visible to every process, safe after kill -9.
 * They start first in, first out. Tasks that work in the user's tree (`options.here`) run one at a time in a repository, others side by side.
 */
export interface TaskQueue {
  /** Returns the record with its position. */
  submit(task: NewTask): QueuedTask
  /**
   * The next task for this worker: the oldest one that may start. A task whose worker died is returned again
   * before any other of its repository, as `resumed`. null when there is nothing to do.
   */
  claim(options?: ClaimOptions): ClaimedTask | null
  /** Only for the claim's holder. Throws GantryError LOCKED when another process has the claim. */
  update(id: string, change: TaskChange): TaskRecord
  /** Ends a claim with a terminal state. An ended task cannot be ended again. */
  end(id: string, end: TaskEndRecord): TaskRecord
  /** A person accepts a WEAKENED task: it is SUCCESS from now on. Throws USAGE for any other state. */
  accept(id: string): TaskRecord
  /** Releases a claim without an end. The next worker gets the task as `resumed`. */
  release(id: string): void
  /**
   * Asks a running task to stop: its worker sees `cancelRequested`. A queued task, or one without a living worker, is CANCELLED at once. Throws NOT_FOUND for an unknown or ended task.
   */
  cancel(id: string): CancelOutcome
  cancelRequested(id: string): boolean
  get(id: string): TaskRecord | null
  list(filter?: TaskFilter): readonly QueuedTask[]
  /** Deletes ended tasks and returns their number. */
  clearHistory(filter?: TaskFilter): number
  /** Appends to the task's feed. The id is global, increasing and never reused. */
  append(taskId: string, event: object, level: EventLevel): number
  /** In order of id, after `afterId`. */
  events(options: EventsQuery): readonly StoredTaskEvent[]
  lastEventId(): number
  /** Calls the listener soon after any change, also by another process. Returns a function that stops it. */
  watch(listener: () => void): () => void
  close(): void
}

export const taskStates = [
  'QUEUED',
  'RUNNING',
  'SUCCESS',
  'WEAKENED',
  'NO_CHANGE',
  'CANCELLED',
  'STUCK',
  'INFRA_ERROR',
] as const
export type TaskState = (typeof taskStates)[number]
export type FinalState = Exclude<TaskState, 'QUEUED' | 'RUNNING'>

export interface NewTask {
  /** Of a task that another machine has submitted. Default: a new one. */
  readonly id?: string
  /** Absolute, real path of the repository. */
  readonly repository: string
  readonly description: string
  readonly dryRun: boolean
  readonly verbose: boolean
  /** Options of the face, as JSON. */
  readonly options: Readonly<Record<string, unknown>>
}

/** A public format: fields are only added. */
export interface TaskRecord {
  /** `task_YYYYMMDD_HHMMSS_xxxxxx`, UTC. */
  readonly id: string
  readonly repository: string
  readonly description: string
  readonly state: TaskState
  /** ISO 8601, UTC. */
  readonly created_at: string
  readonly started_at: string | null
  readonly completed_at: string | null
  readonly dry_run: boolean
  readonly verbose: boolean
  /** Run ids of verifications, in order. */
  readonly run_ids: readonly string[]
  /** Run directory of the task; null until it starts. */
  readonly task_run_id: string | null
  readonly current_attempt: number
  /** The Editor's state while the task runs. */
  readonly phase: string | null
  readonly summary: string | null
  readonly error_message: string | null
  readonly options: Readonly<Record<string, unknown>>
  /** Metrics of the face, stored when the task ends. */
  readonly metrics: Readonly<Record<string, unknown>> | null
}

export interface QueuedTask extends TaskRecord {
  /** Position among the queued tasks of its repository, from 1; null when it is not queued. */
  readonly position: number | null
  /** Running, but its worker died. The next worker resumes it. */
  readonly abandoned: boolean
}

export interface ClaimedTask {
  readonly task: TaskRecord
  /** An earlier worker stopped. Continue from its checkpoints. */
  readonly resumed: boolean
}

export interface ClaimOptions {
  /** Only of this repository. */
  readonly repository?: string
}

export type TaskChange = Partial<
  Pick<TaskRecord, 'run_ids' | 'task_run_id' | 'current_attempt' | 'phase' | 'summary'>
>

export interface TaskEndRecord {
  readonly state: FinalState
  readonly summary: string | null
  readonly error_message: string | null
  readonly metrics?: object
}

export type CancelOutcome = { readonly kind: 'asked' | 'cancelled'; readonly task: TaskRecord }

export interface TaskFilter {
  readonly repository?: string
  readonly states?: readonly TaskState[]
  /** Ids that are left out. */
  readonly except?: readonly string[]
  readonly limit?: number
}

/** Milestones are always shown, details only on request. */
export type EventLevel = 'milestone' | 'detail'

export interface EventsQuery {
  readonly afterId: number
  readonly taskId?: string
  readonly level?: EventLevel
  readonly limit: number
}

export interface StoredTaskEvent {
  readonly id: number
  readonly taskId: string
  readonly level: EventLevel
  /** The event as it was appended. */
  readonly event: Readonly<Record<string, unknown>>
}
