import { Command } from 'commander'
import type { CliContext } from '../context.ts'
import { helpParagraphs } from '../help-paragraphs.ts'
import { type TaskFlags, taskExamples, withTaskFlags } from './task-flags.ts'
import { startWorker, withTaskQueue } from './task-queue.ts'
import { queueTask, taskSubmission, withQueueAddress } from './task-submission.ts'

type SubmitFlags = TaskFlags & { readonly start: boolean }

export function taskSubmitCommand(context: CliContext): Command {
  return withTaskFlags(
    new Command('submit')
      .description('Queue a coding task and return at once; a worker in the background does it.')
      .argument('<task...>', 'what to do; "-" reads it from standard input'),
  )
    .optionsGroup('Output:')
    .option('--dry-run', 'propose a diff, verify it once and change nothing')
    .option('--no-start', 'start no worker; gantry serve or the next gantry task run works on it')
    .option('--json', 'print the task as JSON and nothing else on standard output')
    .addHelpText('after', helpParagraphs(taskExamples('submit')))
    .action((words: readonly string[], flags: SubmitFlags) => submit(words, flags, context))
}

async function submit(words: readonly string[], flags: SubmitFlags, context: CliContext): Promise<void> {
  const submission = await taskSubmission(words, flags, context)
  await withTaskQueue(context, async (queue) => {
    const task = await queueTask(queue, submission, context)
    if (flags.start && !startWorker(withQueueAddress(context, flags)))
      context.stderr.write('No worker could be started. Run gantry task work to work on the queue.\n')
    context.stdout.write(
      flags.json === true
        ? `${JSON.stringify(task)}\n`
        : `${task.id} is at position ${task.position}.\n${flags.start ? '' : 'Start it with: gantry task work\n'}Follow it with: gantry task logs ${task.id} --follow\n`,
    )
  })
}
