import { Command } from 'commander'
import { exitCode } from '../../core/exit-code.ts'
import type { CliContext } from '../context.ts'
import { reporterOption } from '../flag-values.ts'
import { printReporterProblems } from '../print-reporter-problems.ts'
import { blobsOption, queueOption, withQueue } from '../queue.ts'
import type { ReportFlags } from './report.ts'

interface FollowFlags extends ReportFlags {
  readonly queue?: string
  readonly blobs?: string
  readonly strict?: boolean
}

export function followCommand(context: CliContext): Command {
  return new Command('follow')
    .description('Collect a run of a queue into the store of this machine, until all its trials have ended.')
    .argument('<run>', 'the complete id of the run')
    .addOption(queueOption())
    .addOption(blobsOption())
    .addOption(reporterOption())
    .option('--json', 'print one JSON document and nothing else on standard output')
    .option('--strict', 'exit 4 when the run is partial or inconclusive')
    .action(async (runId: string, flags: FollowFlags) => {
      const { openProjectStore } = await import('../../config/open-project-store.ts')
      const { codeOfRun, openTestReporters } = await import('../run-test.ts')
      const { followRun } = await import('../../scenario/queued-run.ts')
      const { cwd, env, signal } = context
      const reporter = await openTestReporters(flags, context)
      const store = openProjectStore(context)
      const argv = ['gantry', ...process.argv.slice(2)]
      const result = await withQueue(
        flags,
        context,
        (queue) => followRun(runId, { queue, store, reporter, signal, argv, cwd, env }),
        true,
      )
      const code = result.interrupted ? exitCode.interrupted : codeOfRun(result, flags)
      context.setExitCode(printReporterProblems(reporter.problems(), { runId: result.runId, code }, context))
    })
}
