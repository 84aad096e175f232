import { Command } from 'commander'
import { GantryError } from '../../core/error.ts'
import type { CancelOutcome, TaskQueue } from '../../store/queue/contract.ts'
import { findTask } from '../../task/find-task.ts'
import type { CliContext } from '../context.ts'
import { withTaskQueue } from './task-queue.ts'

const sentences: Readonly<Record<CancelOutcome['kind'], string>> = {
  removed: 'was removed from the queue',
  asked: 'is being stopped. Its changes stay in the working tree',
  cancelled: 'was cancelled; its worker had died. Its changes stay in the working tree',
}

export function taskCancelCommand(context: CliContext): Command {
  return new Command('cancel')
    .description('Cancel the running task or a queued one. Its changes stay, and the next task starts.')
    .argument('[task]', 'its id, an unambiguous part of it, or its position (default: the running task)')
    .option('--json', 'print JSON and nothing else on standard output')
    .action(async (name: string | undefined, { json }: { readonly json?: boolean }) => {
      await withTaskQueue(context, (queue) => {
        const id = name === undefined ? onlyRunning(queue) : findTask(queue, name).id
        const { kind, task } = queue.cancel(id)
        context.stdout.write(
          json === true ? `${JSON.stringify({ outcome: kind, task })}\n` : `${task.id} ${sentences[kind]}.\n`,
        )
      })
    })
}

function onlyRunning(queue: TaskQueue): string {
  const running = queue.list({ states: ['RUNNING'] })
  const [task] = running
  if (task !== undefined && running.length === 1) return task.id
  throw new GantryError(
    running.length === 0 ? 'NOT_FOUND' : 'USAGE',
    running.length === 0 ? 'no task is running' : `${running.length} tasks are running`,
    { hint: 'Name one: gantry task cancel ID. See them with gantry task list.' },
  )
}
