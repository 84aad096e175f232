import { GantryError } from '../../core/error.ts'
import type { TaskRecord } from '../../store/queue/contract.ts'
import type { Submission } from './submit-task.ts'
import { taskOptionsSchema } from './task-options.ts'

/** A new task that goes on from one that ended: with the proposal of a dry run, or with the report of a stuck one. */
export function submissionAgain(how: 'apply' | 'retry', task: TaskRecord): Submission {
  const { id, state, dry_run, task_run_id, description, repository } = task
  const { proposal_of: _, ...options } = taskOptionsSchema.parse(task.options)
  if (how === 'retry') {
    if (state !== 'STUCK' && state !== 'INFRA_ERROR' && state !== 'CANCELLED')
      throw new GantryError(
        'USAGE',
        `task ${id} is ${state}: only one that is stuck, cancelled or met an infrastructure error can be retried`,
      )
    return { repository, description, dryRun: dry_run, options: { ...options, retry: state !== 'CANCELLED' } }
  }
  if (!dry_run || state !== 'SUCCESS' || task_run_id === null)
    throw new GantryError(
      'USAGE',
      `task ${id} holds no proposal: it is ${dry_run ? `a dry run that is ${state}` : 'no dry run'}`,
      {
        hint: 'Make a proposal with gantry task run --dry-run.',
      },
    )
  return { repository, description, options: { ...options, proposal_of: task_run_id } }
}
