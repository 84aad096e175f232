import { Command, Option } from 'commander'
import { defined } from '../../core/json-fields.ts'
import { plainLine } from '../../report/plain-text.ts'
import { type TaskState, taskStates } from '../../store/queue/contract.ts'
import { openQuestion } from '../../task/task-events.ts'
import type { CliContext } from '../context.ts'
import { count } from '../flag-values.ts'
import { repositoryOf } from './task-flags.ts'
import { withTaskQueue } from './task-queue.ts'

interface ListFlags {
  readonly state?: TaskState
  readonly root?: string
  readonly limit?: number
  readonly json?: boolean
}

export function taskListCommand(context: CliContext): Command {
  return new Command('list')
    .alias('ls')
    .description('List running tasks, queued tasks with their positions, then ended tasks, newest first.')
    .addOption(new Option('--state <state>', 'only tasks in this state').choices([...taskStates]))
    .option('--root <dir>', 'only tasks of this repository')
    .option('--limit <n>', 'how many at most (default: all)', count)
    .option('--json', 'print JSON and nothing else on standard output')
    .action(async ({ state, root, limit, json }: ListFlags) => {
      await withTaskQueue(context, async (queue, store) => {
        const repository = root === undefined ? undefined : repositoryOf(context, { root })
        const states = state === undefined ? undefined : [state]
        const tasks = queue.list(defined({ states, repository, limit }))
        if (json === true) return context.stdout.write(`${JSON.stringify({ tasks })}\n`)
        if (tasks.length === 0) return context.stdout.write('No tasks. Start one with: gantry task run "…"\n')
        const { printTasks } = await import('./print-tasks.ts')
        printTasks(tasks, queue, store.clock.now().getTime(), context)
        for (const task of tasks) {
          const question = openQuestion(queue, task)
          if (question === null) continue
          context.stdout.write(`\n${task.id} asks: ${plainLine(question)}\n`)
          context.stdout.write(`Answer with: gantry task tell ${task.id} "…"\n`)
        }
      })
    })
}
