import { Command } from 'commander'
import type { CliContext } from '../context.ts'
import { taskApplyCommand } from './apply.ts'
import { taskCancelCommand } from './cancel.ts'
import { taskHistoryCommand } from './history.ts'
import { taskListCommand } from './list.ts'
import { taskLogsCommand } from './logs.ts'
import { taskMetricsCommand } from './metrics.ts'
import { taskRetryCommand } from './retry.ts'
import { taskRunCommand } from './run.ts'
import { taskShowCommand } from './show.ts'
import { taskSubmitCommand } from './submit.ts'
import { taskWorkCommand } from './work.ts'

/** `gantry task`: coding tasks, queued per repository and verified before they are called done. */
export function taskCommand(context: CliContext): Command {
  const command = new Command('task').description(
    'Have coding tasks done, one at a time per repository, and verified in a sandbox.',
  )
  for (const create of [
    taskRunCommand,
    taskSubmitCommand,
    taskListCommand,
    taskShowCommand,
    taskLogsCommand,
    taskCancelCommand,
    taskApplyCommand,
    taskRetryCommand,
    taskHistoryCommand,
    taskMetricsCommand,
    taskWorkCommand,
  ]) {
    command.addCommand(create(context))
  }
  return command
}
