import { createRedaction, type Redaction } from '../../core/redaction.ts'
import type { QueuedTask, TaskQueue } from '../../store/queue/contract.ts'
import { milestones } from '../contract.ts'
import { type TaskOptions, taskOptionsSchema } from './task-options.ts'

export interface Submission {
  /** Absolute, real path. */
  readonly repository: string
  readonly description: string
  readonly dryRun?: boolean
  readonly verbose?: boolean
  readonly options?: Partial<TaskOptions>
}

/**
 * Puts a task at the end of the queue of its repository. Whether it can be done is checked when its turn comes, and by who submits.
 * A secret in its text reaches neither the disk nor a model.
 */
export function submitTask(
  queue: TaskQueue,
  submission: Submission,
  redaction: Pick<Redaction, 'text'> = createRedaction([]),
): QueuedTask {
  const { repository, description, dryRun = false, verbose = false, options = {} } = submission
  const task = queue.submit({
    repository,
    description: redaction.text(description),
    dryRun,
    verbose,
    options: taskOptionsSchema.parse(options),
  })
  const event = {
    ts: Date.parse(task.created_at) / 1000,
    task_id: task.id,
    kind: 'milestone',
    milestone: 'queued',
    text: milestones.queued,
  }
  queue.append(task.id, event, 'milestone')
  return task
}
