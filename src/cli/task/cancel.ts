import { Command } from 'commander'
import { GantryError } from '../../core/error.ts'
import type { CancelOutcome, TaskQueue } from '../../store/queue/contract.ts'
import { findTask } from '../../task/find-task.ts'
import type { CliContext } from '../context.ts'
import { withTaskQueue } from './task-queue.ts'

const sentences: Readonly<Record<CancelOutcome['kind'], string>> = {
  asked: 'is being stopped',
  cancelled: 'was cancelled: no worker has it',
}

export function taskCancelCommand(context: CliContext): Command {
  return new Command('cancel')
    .description('Cancel the running task or a queued one. What it did with --here stays in your tree.')
    .argument('[task]', 'its id, an unambiguous part of it, or its position (default: the running task)')
    .option('--json', 'print JSON and nothing else on standard output')
    .action(async (name: string | undefined, { json }: { readonly json?: boolean }) => {
      await withTaskQueue(context, (queue) => {
        const id = name === undefined ? onlyRunning(queue) : findTask(queue, name, context.cwd).id
        const { kind, task } = queue.cancel(id)
        context.stdout.write(
          json === true
            ? `${JSON.stringify({ outcome: kind, task })}\n`
            : `${task.id} ${sentences[kind]}.${task.started_at !== null && task.options.here === true ? ' Its changes stay in your tree.' : ''}\n`,
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
