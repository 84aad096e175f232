import { z } from 'zod'
import { GantryError } from '../../core/error.ts'
import { createRedaction, type Redaction } from '../../core/redaction.ts'
import type { QueuedTask, TaskQueue, TaskRecord } from '../../store/queue/contract.ts'
import { milestones } from '../contract.ts'

export interface TaskSubmission {
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
  submission: TaskSubmission,
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

/** A new task that goes on from one that ended: with the proposal of a dry run, or with the report of a stuck one. */
export function continuedSubmission(how: 'apply' | 'retry', task: TaskRecord): TaskSubmission {
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
      `task ${id} has no proposal: it is ${dry_run ? `a dry run that is ${state}` : 'not a dry run'}`,
      {
        hint: 'Make a proposal with gantry task run --dry-run.',
      },
    )
  return { repository, description, options: { ...options, proposal_of: task_run_id } }
}

/** What is kept with a task in the queue besides its text: how it is to be done. */
export const taskOptionsSchema = z.object({
  agent: z.string().min(1).default('builtin'),
  /** `provider:model`, for Scouts, strategies and the builtin agent. */
  model: z.string().min(1).default('default'),
  /** For an agent that names models in its own way. */
  agent_model: z.string().min(1).optional(),
  sandbox: z.enum(['auto', 'docker', 'bubblewrap', 'host']).default('auto'),
  max_cost_usd: z.number().positive().optional(),
  edit_timeout_ms: z.number().positive().optional(),
  /** Path of a gantry.yaml instead of the one found upward. */
  config_file: z.string().optional(),
  /** Run directory of the dry run whose proposal is applied. */
  proposal_of: z.string().optional(),
  /** Goes on from the stuck report. */
  retry: z.boolean().default(false),
})

export type TaskOptions = z.output<typeof taskOptionsSchema>
