import type { CliContext } from '../context.ts'
import type { TaskFlags } from './task-flags.ts'
import { taskSubmission } from './task-submission.ts'
import { workUntilEnded } from './work-until-ended.ts'

/** `gantry task run`, once the flags are known. */
export async function runTaskCommand(
  words: readonly string[],
  flags: TaskFlags,
  context: CliContext,
): Promise<void> {
  await workUntilEnded(await taskSubmission(words, flags, context), flags, context)
}
