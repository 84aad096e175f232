import { z } from 'zod'
import { openProjectStore } from '../config/open-project-store.ts'
import { GantryError } from '../core/error.ts'
import { createRedaction } from '../core/redaction.ts'
import { callback, checkOptions, optionFields } from '../io/check-options.ts'
import type { Store } from '../store/contract.ts'
import type { TaskQueue, TaskRecord } from '../store/queue/contract.ts'
import { openQueue } from '../store/queue/open-queue.ts'
import type { TaskEvent } from '../task/contract.ts'
import { type TaskReports, taskReports } from '../task/task-reports.ts'
import { checkSubmission } from '../task/validate-start.ts'
import { submitTask, type TaskSubmission, taskOptionsSchema } from '../task/worker/submit-task.ts'
import { type TaskFollower, workUntilEnded } from '../task/worker/work-until-ended.ts'
import { findRepository } from '../verifier/find-repository.ts'

export interface TaskRunRequest extends Omit<TaskSubmission, 'verbose'> {
  /** Default: that of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Cancels the task. Its changes stay in the working tree. */
  readonly signal?: AbortSignal
  readonly onEvent?: (event: TaskEvent) => void
}

export interface TaskRunResult extends TaskReports {
  readonly task: TaskRecord
  /** What could have kept it from starting, but did not. */
  readonly warnings: readonly string[]
}

/** What describes a task. */
export const taskFields = {
  description: z.string(),
  dryRun: z.boolean().optional(),
  options: z.strictObject(taskOptionsSchema.shape).partial().optional(),
}

const requestSchema = z.strictObject({
  ...taskFields,
  repository: z.string(),
  env: optionFields.env,
  signal: optionFields.signal,
  onEvent: callback(),
})

/**
 * Queues a task, works on the queue of its repository until the task has ended, and returns its reports. A task that is cancelled
 * before it starts leaves the queue; its record is the result all the same. Throws GantryError INTERRUPTED when the signal is
 * aborted before the task is queued.
 */
export async function runTask(request: TaskRunRequest): Promise<TaskRunResult> {
  checkOptions('runTask', requestSchema, request)
  const { env = process.env, signal = new AbortController().signal, onEvent = () => {} } = request
  const repository = findRepository(request.repository)
  const store = openProjectStore({ cwd: repository, env })
  const queue = openQueue(store)
  try {
    return await runSubmission({ ...request, repository }, { queue, store, env }, { signal, onEvent })
  } finally {
    queue.close()
  }
}

export interface OpenedTasks {
  readonly store: Store
  readonly queue: TaskQueue
  readonly env: Readonly<Record<string, string | undefined>>
}

/** Queues a task after checking that it can start, and works until it has ended. */
export async function runSubmission(
  submission: TaskSubmission,
  { store, queue, env }: OpenedTasks,
  follower: TaskFollower,
): Promise<TaskRunResult> {
  const warnings = await checkSubmission(submission, { env, signal: follower.signal })
  if (follower.signal.aborted) throw new GantryError('INTERRUPTED', 'stopped before the task was queued')
  const queued = submitTask(queue, submission, createRedaction([], env))
  const ended = await workUntilEnded(queued, { queue, store, env, argv: [] }, follower)
  const task: TaskRecord = ended ?? { ...queued, state: 'CANCELLED' }
  return { task, warnings, ...taskReports(store, task) }
}
