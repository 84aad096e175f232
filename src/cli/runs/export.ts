import { Command, Option } from 'commander'
import type { CliContext } from '../context.ts'
import type { ExportFlags } from './export-run.ts'

export function exportCommand(context: CliContext): Command {
  return new Command('export')
    .description('Write the trials of a run as other tools read them: one trajectory per trial.')
    .argument('<run>', "a run id, the beginning of one, 'latest' or 'blessed'")
    .argument('[trial]', 'only this trial: its id, or the beginning of it')
    .addOption(
      new Option(
        '--format <name>',
        'atif: the Agent Trajectory Interchange Format 1.7, with subagents, tool calls and cost',
      )
        .choices(['atif'])
        .makeOptionMandatory(),
    )
    .option(
      '--output <dir>',
      'directory for one file per trial (default: one JSON document per line on standard output)',
    )
    .action(async (wanted: string, trial: string | undefined, flags: ExportFlags) => {
      const { exportRun } = await import('./export-run.ts')
      await exportRun(wanted, trial, flags, context)
    })
}
