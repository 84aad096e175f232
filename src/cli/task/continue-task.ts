import { Command } from 'commander'
import { defined } from '../../core/json-fields.ts'
import { findTask } from '../../task/find-task.ts'
import type { CliContext } from '../context.ts'
import { helpParagraphs } from '../help-paragraphs.ts'
import { runToEnd } from './run.ts'
import { sandboxOption, type TaskFlags, taskExitCodes } from './task-flags.ts'
import { withTaskQueue } from './task-queue.ts'
import { checkStart } from './task-submission.ts'

type ContinueFlags = Pick<TaskFlags, 'json' | 'verbose' | 'sandbox'>

export function taskRetryCommand(context: CliContext): Command {
  return new Command('retry')
    .description('Try a stuck task again. Of the earlier attempts it knows only the stuck report.')
    .argument('<task>', 'its id, an unambiguous part of it, or "latest" of this repository')
    .addOption(sandboxOption('that of the task'))
    .option('-v, --verbose', 'also print what the agent does and what the steps print')
    .option('--json', 'print one JSON event per line and nothing else on standard output')
    .addHelpText('after', helpParagraphs('Example:\n  gantry task retry latest', taskExitCodes))
    .action((name: string, flags: ContinueFlags) => continueTask('retry', name, flags, context))
}

export function taskAcceptCommand(context: CliContext): Command {
  return new Command('accept')
    .description('Accept a WEAKENED task as it is: it counts as SUCCESS. Only a person may do this.')
    .argument('<task>', 'its id, an unambiguous part of it, or "latest" of this repository')
    .addHelpText(
      'after',
      helpParagraphs(
        'Read first what is weaker than before: gantry task show TASK. Asks for confirmation at a terminal.',
        'Example:\n  gantry task accept latest',
      ),
    )
    .action(async (name: string) => {
      const { processTerminal } = await import('../../io/terminal.ts')
      const { provePerson } = await import('../../guard/unlock/prove-person.ts')
      await withTaskQueue(context, async (queue) => {
        const { id, state, error_message } = findTask(queue, name, context.cwd)
        if (state !== 'WEAKENED') queue.accept(id)
        const about = `Task ${id}: ${error_message ?? 'its checks are weaker than before'}`
        const { env, signal } = context
        const by = await provePerson({ terminal: processTerminal(), env, pid: process.pid, signal, about })
        queue.accept(id)
        const event = { ts: Date.now() / 1000, task_id: id, kind: 'accepted', by }
        queue.append(id, event, 'milestone')
        context.stdout.write(`${id} is accepted and counts as SUCCESS.\n`)
      })
    })
}

export async function continueTask(
  how: 'apply' | 'retry',
  name: string,
  flags: ContinueFlags,
  context: CliContext,
): Promise<void> {
  const { continuedSubmission } = await import('../../task/worker/submit-task.ts')
  const continued = await withTaskQueue(context, (queue) =>
    continuedSubmission(how, findTask(queue, name, context.cwd)),
  )
  const { sandbox } = flags
  const submission = { ...continued, options: { ...continued.options, ...defined({ sandbox }) } }
  await checkStart(submission, context)
  await runToEnd({ ...submission, verbose: flags.verbose === true }, flags, context)
}
