import { Command } from 'commander'
import type { CliContext } from '../context.ts'
import { repeated } from '../flag-values.ts'
import type { ReportFlags } from './report-run.ts'

export function reportCommand(context: CliContext): Command {
  return new Command('report')
    .description('Report a stored run again, ended or interrupted, with any reporter.')
    .argument('<run>', "a run id, the beginning of one, 'latest' or 'blessed'")
    .option('--reporter <name[:path]>', 'console, json, junit, tap, md, html or github; repeatable', repeated)
    .option('--json', 'print one JSON document and nothing else on standard output')
    .action(async (wanted: string, flags: ReportFlags) => {
      const { reportRun } = await import('./report-run.ts')
      await reportRun(wanted, flags, context)
    })
}
