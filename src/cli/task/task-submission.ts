import { resolve } from 'node:path'
import { GantryError } from '../../core/error.ts'
import { defined } from '../../core/json-fields.ts'
import { readInput } from '../../io/read-input.ts'
import type { QueuedTask, TaskQueue } from '../../store/queue/contract.ts'
import type { TaskOptions, TaskSubmission } from '../../task/worker/submit-task.ts'
import type { CliContext } from '../context.ts'
import { repositoryOf, type TaskFlags } from './task-flags.ts'

const maxBytes = 64 * 1024 * 1024

/** The task of a command line, after checking that it could start. */
export async function taskSubmission(
  words: readonly string[],
  flags: TaskFlags,
  context: CliContext,
): Promise<TaskSubmission> {
  const submission = {
    repository: repositoryOf(context, flags),
    description: await taskText(words),
    dryRun: flags.dryRun === true,
    verbose: flags.verbose === true,
    options: { ...taskOptions(context, flags), ...(await queueOptions(context, flags)) },
  }
  await checkStart(submission, context)
  if (flags.queue !== undefined) {
    // What is wrong with the queue is reported before anything is stored.
    const { withQueue } = await import('../queue.ts')
    await withQueue(flags, context, async () => {})
  }
  return submission
}

/** Throws one error with everything that prevents the task from starting. Prints warnings. */
export async function checkStart(submission: TaskSubmission, context: CliContext): Promise<void> {
  const { checkSubmission } = await import('../../task/validate-start.ts')
  for (const warning of await checkSubmission(submission, context)) context.stderr.write(`${warning}\n`)
}

/** Queues a task. Warns when a secret was removed from its text. */
export async function queueTask(
  queue: TaskQueue,
  submission: TaskSubmission,
  { env, stderr }: Pick<CliContext, 'env' | 'stderr'>,
): Promise<QueuedTask> {
  const { createRedaction } = await import('../../core/redaction.ts')
  const { submitTask } = await import('../../task/worker/submit-task.ts')
  const task = submitTask(queue, submission, createRedaction([], env))
  if (task.description !== submission.description)
    stderr.write('The task text contained something that looks like a secret. It was removed.\n')
  return task
}

export async function taskText(words: readonly string[]): Promise<string> {
  if (words.length !== 1 || words[0] !== '-') return words.join(' ')
  const input = await readInput(0, maxBytes)
  if (input === 'too_large') throw new GantryError('USAGE', 'the task on standard input is too long')
  return input.toString('utf8')
}

/** What is stored of a queue with a task. The password stays in the environment of this process and of the workers it starts. */
export async function queueOptions(
  { cwd, env }: Pick<CliContext, 'cwd' | 'env'>,
  { queue, blobs = env.GANTRY_BLOBS }: Pick<TaskFlags, 'queue' | 'blobs'>,
): Promise<Partial<TaskOptions>> {
  if (queue === undefined) return {}
  const { withoutPassword } = await import('../../task/worker/do-elsewhere.ts')
  const address = queue.startsWith('sqlite:')
    ? `sqlite:${resolve(cwd, queue.slice(7))}`
    : withoutPassword(queue)
  const place = blobs === undefined || blobs === '' || blobs.startsWith('s3:') ? blobs : resolve(cwd, blobs)
  return { queue: address, ...(place !== undefined && place !== '' && { blobs: place }) }
}

/** The same context, whose tasks are done with the password of the address. */
export function withQueueAddress(context: CliContext, { queue }: Pick<TaskFlags, 'queue'>): CliContext {
  return queue === undefined ? context : { ...context, env: { ...context.env, GANTRY_QUEUE: queue } }
}

function taskOptions({ cwd }: CliContext, flags: TaskFlags): Partial<TaskOptions> {
  const { agent, model, sandbox, config, here, apply } = flags
  return defined({
    ...{ agent, model, sandbox, here, apply },
    agent_model: flags.agentModel,
    config_file: config === undefined ? undefined : resolve(cwd, config),
    max_cost_usd: flags.maxCostUsd,
    edit_timeout_ms: flags.timeout,
    answer_timeout_ms: flags.questions,
    with_changes: flags.withChanges,
  })
}
