import { Command, Option } from 'commander'
import { counted } from '../../core/counted.ts'
import { type FinalState, taskStates } from '../../store/queue/contract.ts'
import type { CliContext } from '../context.ts'
import { count } from '../flag-values.ts'
import { withTaskQueue } from './task-queue.ts'

interface HistoryFlags {
  readonly limit: number
  readonly clear?: boolean
  readonly json?: boolean
}

const ended = taskStates.filter((state): state is FinalState => state !== 'QUEUED' && state !== 'RUNNING')

export function taskHistoryCommand(context: CliContext): Command {
  return new Command('history')
    .description('List ended tasks, newest first, or remove them from the history.')
    .option('--limit <n>', 'how many at most', count, 10)
    .addOption(
      new Option('--clear', 'remove those that do not wait for you; runs and reports stay').conflicts(
        'limit',
      ),
    )
    .option('--json', 'print JSON and nothing else on standard output')
    .action(async ({ limit, clear, json }: HistoryFlags) => {
      await withTaskQueue(context, async (queue, store) => {
        if (clear === true) {
          const { clearHistory } = await import('../../task/apply-change.ts')
          const cleared = clearHistory({ queue, store })
          const kept =
            cleared.kept === 0
              ? ''
              : ` Kept ${cleared.kept}: apply, commit or drop their change, or retry those that are stuck.`
          const text =
            json === true
              ? JSON.stringify(cleared)
              : `Forgot ${counted(cleared.forgotten, 'ended task')}.${kept}`
          return context.stdout.write(`${text}\n`)
        }
        const tasks = queue.list({ states: ended, limit })
        if (json === true) return context.stdout.write(`${JSON.stringify({ tasks })}\n`)
        if (tasks.length === 0) return context.stdout.write('No task has ended yet.\n')
        const { printTasks } = await import('./print-tasks.ts')
        printTasks(tasks, queue, store.clock.now().getTime(), context)
      })
    })
}
