import { Command } from 'commander'
import type { CliContext } from '../context.ts'
import { taskCancelCommand } from './cancel.ts'
import { taskApplyCommand, taskCommitCommand, taskDropCommand, taskUndoCommand } from './change.ts'
import { taskAcceptCommand, taskRetryCommand } from './continue-task.ts'
import { taskHistoryCommand } from './history.ts'
import { taskListCommand } from './list.ts'
import { taskLogsCommand } from './logs.ts'
import { taskMetricsCommand } from './metrics.ts'
import { taskRunCommand } from './run.ts'
import { taskShowCommand } from './show.ts'
import { taskSubmitCommand } from './submit.ts'
import { taskTellCommand } from './tell.ts'
import { taskWorkCommand } from './work.ts'

/** `gantry task`: coding tasks, queued per repository and verified before they count as done. */
export function taskCommand(context: CliContext): Command {
  const command = new Command('task')
  for (const create of [
    taskRunCommand,
    taskSubmitCommand,
    taskListCommand,
    taskShowCommand,
    taskLogsCommand,
    taskTellCommand,
    taskCancelCommand,
    taskApplyCommand,
    taskCommitCommand,
    taskUndoCommand,
    taskDropCommand,
    taskRetryCommand,
    taskAcceptCommand,
    taskHistoryCommand,
    taskMetricsCommand,
    taskWorkCommand,
  ]) {
    command.addCommand(create(context))
  }
  return command
}
