import { Command } from 'commander'
import type { CliContext } from '../context.ts'
import { helpParagraphs } from '../help-paragraphs.ts'
import { taskExitCodes } from './run.ts'
import type { TaskFlags } from './task-flags.ts'

export function taskApplyCommand(context: CliContext): Command {
  return new Command('apply')
    .description('Bring the proposal of a dry run into the tree, verify it, and debug what fails.')
    .argument('<task>', 'the dry run: its id, an unambiguous part of it, or "latest"')
    .option('-v, --verbose', 'also what the agent does and what the steps print')
    .option('--json', 'print one JSON event per line and nothing else on standard output')
    .addHelpText(
      'after',
      helpParagraphs(
        'A tree that has changed since where the proposal changes it is left alone.',
        'Example:\n  gantry task apply latest',
        taskExitCodes,
      ),
    )
    .action(async (name: string, flags: Pick<TaskFlags, 'json' | 'verbose'>) => {
      const { againCommand } = await import('./again-command.ts')
      await againCommand('apply', name, flags, context)
    })
}
