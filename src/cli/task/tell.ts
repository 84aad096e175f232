import { Command } from 'commander'
import { findTask } from '../../task/find-task.ts'
import type { CliContext } from '../context.ts'
import { withTaskQueue } from './task-queue.ts'
import { taskText } from './task-submission.ts'

export function taskTellCommand(context: CliContext): Command {
  return new Command('tell')
    .description('Send a message to a queued or running task. The Editor gets it with its next prompt.')
    .argument('<task>', 'its id, an unambiguous part of it, its position, or "latest" of this repository')
    .argument('<text...>', 'the message, or the answer to a question; "-" reads it from standard input')
    .action(async (name: string, words: readonly string[]) => {
      const { createRedaction } = await import('../../core/redaction.ts')
      const { tellTask } = await import('../../task/worker/submit-task.ts')
      const text = await taskText(words)
      await withTaskQueue(context, (queue) => {
        const task = findTask(queue, name, context.cwd)
        tellTask(queue, task, text, createRedaction([], context.env))
        context.stdout.write(`${task.id} gets the message with the next prompt of its Editor.\n`)
      })
    })
}
