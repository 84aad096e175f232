import { submissionAgain } from '../../task/worker/submit-task.ts'
import type { CliContext } from '../context.ts'
import { checkStart } from './check-start.ts'
import { findTask } from './find-task.ts'
import { withQueue } from './open-task-queue.ts'
import type { TaskFlags } from './task-flags.ts'
import { workUntilEnded } from './work-until-ended.ts'

/** `gantry task apply` and `gantry task retry`: a new task that goes on from one that ended. */
export async function againCommand(
  how: 'apply' | 'retry',
  name: string,
  flags: Pick<TaskFlags, 'json' | 'verbose'>,
  context: CliContext,
): Promise<void> {
  const submission = await withQueue(context, (queue) => submissionAgain(how, findTask(queue, name)))
  await checkStart(submission, context)
  await workUntilEnded({ ...submission, verbose: flags.verbose === true }, flags, context)
}
