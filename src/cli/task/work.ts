import { resolve } from 'node:path'
import { Command } from 'commander'
import type { CliContext } from '../context.ts'
import { helpParagraphs } from '../help-paragraphs.ts'

interface WorkFlags {
  readonly from?: string
}

export function taskWorkCommand(context: CliContext): Command {
  return new Command('work')
    .description('Do what is queued, also what a killed worker left, until nothing is left to do.')
    .option('--from <dir>', 'use the queue that commands in this directory use (default: working directory)')
    .addHelpText(
      'after',
      helpParagraphs(
        'The queue lies in the store of the runs, which gantry.yaml may name: --from says whose gantry.yaml that is. Every task is done in its own repository, wherever that is.',
        'Exit codes: 0 nothing is left to do · 130 interrupted; what was begun is left to the next worker',
      ),
    )
    .action(async ({ from }: WorkFlags) => {
      const { workCommand } = await import('./work-command.ts')
      await workCommand(from === undefined ? context : { ...context, cwd: resolve(context.cwd, from) })
    })
}
