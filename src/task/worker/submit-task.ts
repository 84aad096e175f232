import { z } from 'zod'
import { GantryError } from '../../core/error.ts'
import { createRedaction, type Redaction } from '../../core/redaction.ts'
import { systemClock } from '../../io/clock.ts'
import type { QueuedTask, TaskQueue, TaskRecord } from '../../store/queue/contract.ts'
import { milestones } from '../contract.ts'
import { taskTextProblem } from '../parse-task.ts'

export interface TaskSubmission {
  /** Absolute, real path. */
  readonly repository: string
  readonly description: string
  readonly dryRun?: boolean
  readonly verbose?: boolean
  readonly options?: Partial<TaskOptions>
}

/**
 * Appends a task to the queue of its repository. The caller checks first whether it can start, and the worker checks again.
 * A secret in its text reaches neither the disk nor a model.
 */
export function submitTask(
  queue: TaskQueue,
  submission: TaskSubmission,
  redaction: Pick<Redaction, 'text'> = createRedaction([]),
): QueuedTask {
  const { repository, description, dryRun = false, verbose = false, options = {} } = submission
  const task = queue.submit({
    ...{ repository, description: redaction.text(description), dryRun, verbose },
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

/** Sends a message of the user to a task that has not ended. The Editor gets it with its next prompt. */
export function tellTask(
  queue: TaskQueue,
  { id, state }: TaskRecord,
  text: string,
  redaction: Pick<Redaction, 'text'> = createRedaction([]),
): void {
  const problem = taskTextProblem(text, 'message')
  if (problem !== null) throw new GantryError('USAGE', problem)
  if (state !== 'RUNNING' && state !== 'QUEUED')
    throw new GantryError('USAGE', `task ${id} has ended: it is ${state}`, {
      hint: `See it with gantry task show ${id}. To continue one that did not succeed: gantry task retry ${id}`,
    })
  const event = {
    ts: systemClock.now().getTime() / 1000,
    task_id: id,
    kind: 'told',
    text: redaction.text(text),
  }
  queue.append(id, event, 'milestone')
}

/** A new task that continues an ended one: with the proposal of a dry run, or with the report of a stuck task. */
export function continuedSubmission(how: 'apply' | 'retry', task: TaskRecord): TaskSubmission {
  const { id, state, dry_run, task_run_id, description, repository } = task
  const { proposal_of: _, retry_of, ...options } = taskOptionsSchema.parse(task.options)
  if (how === 'retry') {
    if (state === 'SUCCESS' || state === 'QUEUED' || state === 'RUNNING')
      throw new GantryError(
        'USAGE',
        `task ${id} is ${state}: only a task that is stuck, weakened, unchanged, cancelled or ended with an infrastructure error can be retried`,
        state === 'SUCCESS'
          ? {}
          : {
              hint: 'See with gantry task list whether a worker has it. gantry task work resumes one that its worker left.',
            },
      )
    const retry = state === 'STUCK' || state === 'INFRA_ERROR'
    // A task that could not start left nothing.
    const of = task_run_id ?? retry_of
    const again = { ...options, retry, ...(of !== undefined && { retry_of: of }) }
    return { repository, description, dryRun: dry_run, options: again }
  }
  if (!dry_run || state !== 'SUCCESS' || task_run_id === null)
    throw new GantryError(
      'WRONG_STATE',
      `task ${id} has no proposal: it is ${dry_run ? `a dry run that is ${state}` : 'not a dry run'}`,
      { hint: 'Make a proposal with gantry task run --dry-run.' },
    )
  return { repository, description, options: { ...options, proposal_of: task_run_id, apply: true } }
}

/** Options stored with a task in the queue. */
export const taskOptionsSchema = z.object({
  agent: z.string().min(1).default('builtin'),
  /** `provider:model`, for Scouts, strategies and the builtin agent. */
  model: z.string().min(1).default('default'),
  /** For an agent with its own model names. */
  agent_model: z.string().min(1).optional(),
  sandbox: z.enum(['auto', 'docker', 'bubblewrap', 'host']).default('auto'),
  max_cost_usd: z.number().positive().optional(),
  edit_timeout_ms: z.number().positive().optional(),
  /** How long a question of the Editor waits for an answer; without it, none is asked. */
  answer_timeout_ms: z.number().positive().optional(),
  /** Path of a gantry.yaml instead of the one found upward. */
  config_file: z.string().optional(),
  /** Run directory of the dry run whose proposal is applied. */
  proposal_of: z.string().optional(),
  /** Continues from the stuck report. */
  retry: z.boolean().default(false),
  /** Run directory of the task that is retried. */
  retry_of: z.string().optional(),
  /** Works in the user's tree, one task at a time. */
  here: z.boolean().default(false),
  /** Its own tree starts with the user's uncommitted changes. */
  with_changes: z.boolean().default(false),
  /** Writes the change into the user's tree when it is verified. */
  apply: z.boolean().default(false),
  /** Address of the queue whose workers do it, without a password. */
  queue: z.string().optional(),
  /** Where the files of that queue are, if not in its database. */
  blobs: z.string().optional(),
})

export type TaskOptions = z.output<typeof taskOptionsSchema>
