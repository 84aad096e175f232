import { GantryError } from '../core/error.ts'
import { createRedaction } from '../core/redaction.ts'
import type { TaskDesk } from '../server/handlers.ts'
import type { QueuedTask, TaskQueue } from '../store/queue/contract.ts'
import { checkSubmission } from '../task/validate-start.ts'
import { submissionAgain, submitTask, type TaskSubmission } from '../task/worker/submit-task.ts'
import type { CliContext } from './context.ts'

/** Tasks that come by HTTP: checked as those of the command line are, and queued. */
export function taskDesk(context: Pick<CliContext, 'env' | 'signal'>, queue: TaskQueue): TaskDesk {
  const queued = async (submission: TaskSubmission): Promise<QueuedTask> => {
    await checkSubmission(submission, context)
    return submitTask(queue, submission, createRedaction([], context.env))
  }
  const again = (how: 'apply' | 'retry', id: string): Promise<QueuedTask> => {
    const task = queue.get(id)
    if (task === null) throw new GantryError('NOT_FOUND', `there is no task ${id}`)
    return queued(submissionAgain(how, task))
  }
  return {
    submit: ({ description, repository, dry_run, verbose, agent, model, sandbox, max_cost_usd }) =>
      queued({
        repository,
        description,
        dryRun: dry_run,
        verbose,
        options: {
          ...(agent !== undefined && { agent }),
          ...(model !== undefined && { model }),
          ...(sandbox !== undefined && { sandbox }),
          ...(max_cost_usd !== undefined && { max_cost_usd }),
        },
      }),
    retry: (id) => again('retry', id),
    apply: (id) => again('apply', id),
  }
}
