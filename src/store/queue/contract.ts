/**
 * The tasks of all repositories of a store, in `queue.db` beside the runs: visible to every process, safe after kill -9.
 * Strictly first in, first out within a repository, and one at a time there.
 */
export interface TaskQueue {
  /** Returns the record with its position. */
  submit(task: NewTask): QueuedTask
  /**
   * The next task this worker may do: of a repository in which nothing runs, the oldest first. A task whose worker is dead is
   * given out again before any other of its repository, as `resumed`. null when there is nothing to do.
   */
  claim(options?: ClaimOptions): ClaimedTask | null
  /** Only for the claim's holder; throws GantryError LOCKED when the claim is no longer his. */
  update(id: string, change: TaskChange): TaskRecord
  /** Ends a claim with a terminal state. A task that is ended cannot be ended again. */
  end(id: string, end: TaskEndRecord): TaskRecord
  /** Lets go of a claim without an end: the next worker takes the task up as `resumed`. */
  release(id: string): void
  /**
   * A queued task is removed without trace. A running one is asked to stop: whoever works on it sees `cancelRequested`; when
   * its worker is dead it is CANCELLED at once. Throws NOT_FOUND for one that is unknown or ended.
   */
  cancel(id: string): CancelOutcome
  cancelRequested(id: string): boolean
  get(id: string): TaskRecord | null
  list(filter?: TaskFilter): readonly QueuedTask[]
  /** Forgets ended tasks; tells how many. */
  clearHistory(filter?: TaskFilter): number
  /** Appends to the task's feed; the id is global, increasing and never reused. */
  append(taskId: string, event: object, level: EventLevel): number
  /** In order of id, after `afterId`. */
  events(options: EventsQuery): readonly StoredTaskEvent[]
  lastEventId(): number
  /** Called soon after anything changed, also by another process. Returns how to stop. */
  watch(listener: () => void): () => void
  close(): void
}

export const taskStates = ['QUEUED', 'RUNNING', 'SUCCESS', 'CANCELLED', 'STUCK', 'INFRA_ERROR'] as const
export type TaskState = (typeof taskStates)[number]
export type FinalState = Exclude<TaskState, 'QUEUED' | 'RUNNING'>

export interface NewTask {
  /** Absolute, real path of the repository. */
  readonly repository: string
  readonly description: string
  readonly dryRun: boolean
  readonly verbose: boolean
  /** Everything else the face wants to know when the task is worked on; JSON. */
  readonly options: Readonly<Record<string, unknown>>
}

/** A public format: fields are only ever added. */
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
  /** Of verifications, in order. */
  readonly run_ids: readonly string[]
  /** The run directory of the task itself; null until it started. */
  readonly task_run_id: string | null
  readonly current_attempt: number
  /** What it is doing, while it runs: the Editor's state. */
  readonly phase: string | null
  readonly summary: string | null
  readonly error_message: string | null
  readonly options: Readonly<Record<string, unknown>>
  /** What the face counted, kept when it ended. */
  readonly metrics: Readonly<Record<string, unknown>> | null
}

export interface QueuedTask extends TaskRecord {
  /** Among the queued tasks of its repository, from 1; null when it is not queued. */
  readonly position: number | null
  /** Running, and nobody works on it any more: the next worker takes it up. */
  readonly abandoned: boolean
}

export interface ClaimedTask {
  readonly task: TaskRecord
  /** An earlier worker died on it: go on from its checkpoints. */
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

export type CancelOutcome = { readonly kind: 'removed' | 'asked' | 'cancelled'; readonly task: TaskRecord }

export interface TaskFilter {
  readonly repository?: string
  readonly states?: readonly TaskState[]
  readonly limit?: number
}

/** Milestones are for everybody; details only for those who ask. */
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
