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
    options: taskOptions(context, flags),
  }
  await checkStart(submission, context)
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

/** The text of the command line, or standard input for `-`. */
export async function taskText(words: readonly string[]): Promise<string> {
  if (words.length !== 1 || words[0] !== '-') return words.join(' ')
  const input = await readInput(0, maxBytes)
  if (input === 'too_large') throw new GantryError('USAGE', 'the task on standard input is too long')
  return input.toString('utf8')
}

function taskOptions({ cwd }: CliContext, flags: TaskFlags): Partial<TaskOptions> {
  const {
    agent,
    model,
    agentModel,
    sandbox,
    config,
    maxCostUsd,
    timeout,
    here,
    withChanges,
    apply,
    questions,
  } = flags
  return defined({
    agent,
    model,
    agent_model: agentModel,
    sandbox,
    config_file: config === undefined ? undefined : resolve(cwd, config),
    max_cost_usd: maxCostUsd,
    edit_timeout_ms: timeout,
    answer_timeout_ms: questions,
    here,
    with_changes: withChanges,
    apply,
  })
}
