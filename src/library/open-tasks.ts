import { z } from 'zod'
import { openProjectStore } from '../config/open-project-store.ts'
import { createRedaction } from '../core/redaction.ts'
import { checkOptions, optionFields } from '../io/check-options.ts'
import { type CancelOutcome, type QueuedTask, type TaskFilter, taskStates } from '../store/queue/contract.ts'
import { openQueue } from '../store/queue/open-queue.ts'
import { applyChange } from '../task/apply-change.ts'
import type { TaskEvent } from '../task/contract.ts'
import { findTask } from '../task/find-task.ts'
import { lastDiff } from '../task/task-events.ts'
import { type TaskReports, taskReports } from '../task/task-reports.ts'
import { checkSubmission } from '../task/validate-start.ts'
import { continuedSubmission, submitTask, type TaskSubmission } from '../task/worker/submit-task.ts'
import { workOnQueue } from '../task/worker/work-on-queue.ts'
import { findRepository } from '../verifier/find-repository.ts'
import { runSubmission, type TaskRunResult, taskFields } from './run-task.ts'

/** The queued, running and ended tasks of a store. A task is named by its id, a part of it, its position, or `latest`: the newest of the repository around `cwd`. */
export interface Tasks extends Disposable {
  /** Queues a task after checking that it can start. `work` does it, here or in another process. */
  submit(task: NewTaskRequest): Promise<QueuedTask>
  /** Running tasks, queued tasks with their positions, then ended tasks, newest first. */
  list(filter?: TaskFilter): readonly QueuedTask[]
  /** A task with its reports and its diff. */
  show(task: string): ShownTask
  /** Cancels a queued task, or stops a running one. */
  cancel(task: string): CancelOutcome
  /**
   * Writes the change of a verified task into the user's tree. Of a dry run: applies the proposal, verifies it and debugs what fails,
   * until the new task has ended.
   */
  apply(task: string, onEvent?: (event: TaskEvent) => void): Promise<TaskRunResult>
  /** Tries a stuck task again, until the new task has ended. */
  retry(task: string, onEvent?: (event: TaskEvent) => void): Promise<TaskRunResult>
  /** Works on queued tasks, and on tasks that a killed worker left, until the queue is empty. */
  work(): Promise<void>
  close(): void
}

export interface NewTaskRequest extends Pick<TaskSubmission, 'description' | 'dryRun' | 'options'> {
  /** The repository, or a directory in it. Default: the directory that the tasks were opened for. */
  readonly repository?: string
}

export interface ShownTask extends TaskReports {
  readonly task: QueuedTask
}

export interface TasksPlace {
  /** Where gantry.yaml is looked for upward, which may name the store. Default: the working directory. */
  readonly cwd?: string
  /** Default: that of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Cancels what `apply` and `retry` do, and stops `work`, whose task the next worker resumes. */
  readonly signal?: AbortSignal
}

const newTaskSchema = z.strictObject({ ...taskFields, repository: z.string().optional() })

const filterSchema = z.strictObject({
  repository: z.string().optional(),
  states: z.array(z.enum(taskStates)).optional(),
  limit: z.int().min(1).optional(),
})

/** Opens the queue of tasks. Close it when you are done, or open it with `using`. */
export function openTasks(place: TasksPlace = {}): Tasks {
  checkOptions('openTasks', z.strictObject(optionFields), place)
  const { cwd = process.cwd(), env = process.env, signal = new AbortController().signal } = place
  const store = openProjectStore({ cwd, env })
  const queue = openQueue(store)
  const goOn =
    (how: 'apply' | 'retry'): Tasks['apply'] =>
    async (name, onEvent = () => {}) => {
      const task = findTask(queue, name, cwd)
      if (how === 'retry' || task.dry_run)
        return runSubmission(continuedSubmission(how, task), { store, queue, env }, { signal, onEvent })
      await applyChange({ store, queue, env }, task)
      return { task, warnings: [], ...taskReports(store, task) }
    }
  return {
    async submit(task) {
      checkOptions('submit', newTaskSchema, task)
      const submission = { ...task, repository: findRepository(task.repository ?? cwd) }
      await checkSubmission(submission, { env, signal })
      return submitTask(queue, submission, createRedaction([], env))
    },
    list: (filter = {}) => {
      checkOptions('list', filterSchema, filter)
      return queue.list(filter)
    },
    show(name) {
      const task = findTask(queue, name, cwd)
      const reports = taskReports(store, task)
      return { task, ...reports, diff: reports.diff ?? lastDiff(queue, task.id) }
    },
    cancel: (name) => queue.cancel(findTask(queue, name, cwd).id),
    apply: goOn('apply'),
    retry: goOn('retry'),
    work: () => workOnQueue({ until: 'empty', signal }, { queue, store, env, argv: [] }),
    close: () => queue.close(),
    [Symbol.dispose]: () => queue.close(),
  }
}
