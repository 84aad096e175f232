import type { CliContext } from '../context.ts'
import { checkStart } from './check-start.ts'
import { type TaskFlags, taskOptions } from './task-flags.ts'
import { taskText } from './task-text.ts'
import { workUntilEnded } from './work-until-ended.ts'

/** `gantry task run`, once the flags are known. */
export async function runTaskCommand(
  words: readonly string[],
  flags: TaskFlags,
  context: CliContext,
): Promise<void> {
  const description = await taskText(words)
  const repository = await checkStart(description, flags, context)
  const submission = {
    repository,
    description,
    dryRun: flags.dryRun === true,
    verbose: flags.verbose === true,
    options: taskOptions(context, flags),
  }
  await workUntilEnded(submission, flags, context)
}
