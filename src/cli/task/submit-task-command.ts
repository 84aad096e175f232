import { submitTask } from '../../task/worker/submit-task.ts'
import type { CliContext } from '../context.ts'
import { checkStart } from './check-start.ts'
import { withQueue } from './open-task-queue.ts'
import { startWorker } from './start-worker.ts'
import { type TaskFlags, taskOptions } from './task-flags.ts'
import { taskText } from './task-text.ts'

/** `gantry task submit`, once the flags are known. */
export async function submitTaskCommand(
  words: readonly string[],
  flags: TaskFlags & { readonly start: boolean },
  context: CliContext,
): Promise<void> {
  const description = await taskText(words)
  const repository = await checkStart(description, flags, context)
  await withQueue(context, (queue) => {
    const task = submitTask(queue, {
      repository,
      description,
      dryRun: flags.dryRun === true,
      options: taskOptions(context, flags),
    })
    if (flags.start) startWorker(context)
    context.stdout.write(
      flags.json === true
        ? `${JSON.stringify(task)}\n`
        : `${task.id} is at position ${task.position}.\nFollow it with: gantry task logs ${task.id} --follow\n`,
    )
  })
}
