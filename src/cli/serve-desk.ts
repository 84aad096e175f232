import { GantryError } from '../core/error.ts'
import type { TaskDesk } from '../server/handlers.ts'
import type { QueuedTask, TaskQueue } from '../store/queue/contract.ts'
import { startError, validateStart } from '../task/validate-start.ts'
import { submissionAgain } from '../task/worker/submission-again.ts'
import { submitTask } from '../task/worker/submit-task.ts'
import type { CliContext } from './context.ts'

/** Tasks that come by HTTP: checked as those of the command line are, and queued. */
export function taskDesk({ env, signal }: CliContext, queue: TaskQueue): TaskDesk {
  const again = (how: 'apply' | 'retry', id: string): QueuedTask => {
    const task = queue.get(id)
    if (task === null) throw new GantryError('NOT_FOUND', `there is no task ${id}`)
    return submitTask(queue, submissionAgain(how, task))
  }
  return {
    async submit(body) {
      const { description, repository, dry_run, verbose, agent, model, sandbox, max_cost_usd } = body
      const check = await validateStart({
        repository,
        description,
        agent: agent ?? 'builtin',
        model: model ?? 'default',
        sandbox: sandbox ?? 'auto',
        env,
        signal,
      })
      if (check.kind === 'refused') throw startError(check.problems)
      return submitTask(queue, {
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
      })
    },
    retry: (id) => again('retry', id),
    apply: (id) => again('apply', id),
  }
}
