import { createRedaction } from '../../core/redaction.ts'
import type { QueuedTask, TaskQueue } from '../../store/queue/contract.ts'
import { submitTask, type TaskSubmission } from '../../task/worker/submit-task.ts'
import type { CliContext } from '../context.ts'

/** Queues a task; says aloud what was taken out of its text. */
export function submitted(
  queue: TaskQueue,
  submission: TaskSubmission,
  { env, stderr }: Pick<CliContext, 'env' | 'stderr'>,
): QueuedTask {
  const task = submitTask(queue, submission, createRedaction([], env))
  if (task.description !== submission.description)
    stderr.write(
      'The text of the task holds what looks like a secret. It was taken out, and the model does not see it.\n',
    )
  return task
}
