import type { CliContext } from '../context.ts'
import { withQueue } from './open-task-queue.ts'
import { startWorker } from './start-worker.ts'
import { submitted } from './submitted.ts'
import type { TaskFlags } from './task-flags.ts'
import { taskSubmission } from './task-submission.ts'

/** `gantry task submit`, once the flags are known. */
export async function submitTaskCommand(
  words: readonly string[],
  flags: TaskFlags & { readonly start: boolean },
  context: CliContext,
): Promise<void> {
  const submission = await taskSubmission(words, flags, context)
  await withQueue(context, (queue) => {
    const task = submitted(queue, submission, context)
    if (flags.start && !startWorker(context))
      context.stderr.write('No worker could be started: gantry task work does what is queued.\n')
    context.stdout.write(
      flags.json === true
        ? `${JSON.stringify(task)}\n`
        : `${task.id} is at position ${task.position}.\nFollow it with: gantry task logs ${task.id} --follow\n`,
    )
  })
}
