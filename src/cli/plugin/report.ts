import { Command } from 'commander'
import type { CliContext } from '../context.ts'
import { repeated } from '../flag-values.ts'
import type { PluginReportFlags } from './report-command.ts'

export function pluginReportCommand(context: CliContext): Command {
  return new Command('report')
    .description('Tell a finished evaluation again, in any format.')
    .argument('[run]', "a run id, the beginning of one, or 'latest'")
    .option('-r, --run-id <run>', 'the same as naming it')
    .option('-p, --plugin <name>', 'the latest run of this plugin')
    .option('-o, --output <format[:path]>', 'json, yaml, junit-xml, tap, md or html; repeatable', repeated)
    .option('--reporter <name[:path]>', 'console, junit, tap, md, html or github; repeatable', repeated)
    .option('--cli', 'the summary for people, also beside a document that goes to a file')
    .option('--json', 'the same as -o json')
    .action(async (run: string | undefined, flags: PluginReportFlags) => {
      const { reportCommand } = await import('./report-command.ts')
      await reportCommand(run, flags, context)
    })
}
