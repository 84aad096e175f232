import { Command } from 'commander'
import type { CliContext } from '../context.ts'
import { helpParagraphs } from '../help-paragraphs.ts'
import { taskExitCodes } from './run.ts'
import type { TaskFlags } from './task-flags.ts'

export function taskRetryCommand(context: CliContext): Command {
  return new Command('retry')
    .description(
      'Try a stuck task again. It knows its stuck report, and nothing else of the attempts before.',
    )
    .argument('<task>', 'its id, an unambiguous part of it, or "latest"')
    .option('-v, --verbose', 'also what the agent does and what the steps print')
    .option('--json', 'print one JSON event per line and nothing else on standard output')
    .addHelpText('after', helpParagraphs('Example:\n  gantry task retry latest', taskExitCodes))
    .action(async (name: string, flags: Pick<TaskFlags, 'json' | 'verbose'>) => {
      const { againCommand } = await import('./again-command.ts')
      await againCommand('retry', name, flags, context)
    })
}
