import type { TaskSubmission } from '../../task/worker/submit-task.ts'
import type { CliContext } from '../context.ts'
import { checkStart } from './check-start.ts'
import { repositoryOf, type TaskFlags, taskOptions } from './task-flags.ts'
import { taskText } from './task-text.ts'

/** The task a command line asks for, after it was checked that it could start. */
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
