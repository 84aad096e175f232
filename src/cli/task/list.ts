import { resolve } from 'node:path'
import { Command, Option } from 'commander'
import { realPath } from '../../io/real-path.ts'
import { type TaskState, taskStates } from '../../store/queue/contract.ts'
import type { CliContext } from '../context.ts'
import { count } from '../flag-values.ts'

interface ListFlags {
  readonly state?: TaskState
  readonly repository?: string
  readonly limit?: number
  readonly json?: boolean
}

export function taskListCommand(context: CliContext): Command {
  return new Command('list')
    .alias('ls')
    .description(
      'List tasks: those that run, those that wait with their positions, then those that ended, newest first.',
    )
    .addOption(new Option('--state <state>', 'only tasks in this state').choices([...taskStates]))
    .option('--repository <dir>', 'only tasks of this repository')
    .option('--limit <n>', 'at most so many (default: all)', count)
    .option('--json', 'print JSON and nothing else on standard output')
    .action(async ({ state, repository, limit, json }: ListFlags) => {
      const { withQueue } = await import('./open-task-queue.ts')
      await withQueue(context, async (queue, store) => {
        const tasks = queue.list({
          ...(state !== undefined && { states: [state] }),
          ...(repository !== undefined && { repository: realPath(resolve(context.cwd, repository)) }),
          ...(limit !== undefined && { limit }),
        })
        if (json === true) return context.stdout.write(`${JSON.stringify({ tasks })}\n`)
        if (tasks.length === 0) return context.stdout.write('No tasks. Begin one with: gantry task run "…"\n')
        const { printTasks } = await import('./task-columns.ts')
        printTasks(tasks, store.clock.now().getTime(), context)
      })
    })
}
