import { Command } from 'commander'
import type { CliContext } from '../context.ts'
import { helpParagraphs } from '../help-paragraphs.ts'
import { taskExamples } from './run.ts'
import { type TaskFlags, withTaskFlags } from './task-flags.ts'

export function taskSubmitCommand(context: CliContext): Command {
  return withTaskFlags(
    new Command('submit')
      .description(
        'Queue a coding task and return at once; a worker in the background does it when its turn comes.',
      )
      .argument('<task...>', 'what to do; "-" reads it from standard input'),
  )
    .optionsGroup('What comes out:')
    .option('--dry-run', 'propose a diff and change nothing')
    .option('--no-start', 'start no worker: gantry serve or the next gantry task run does it')
    .option('--json', 'print the task as JSON and nothing else on standard output')
    .addHelpText('after', helpParagraphs(taskExamples('submit')))
    .action(async (words: readonly string[], flags: TaskFlags & { readonly start: boolean }) => {
      const { submitTaskCommand } = await import('./submit-task-command.ts')
      await submitTaskCommand(words, flags, context)
    })
}
