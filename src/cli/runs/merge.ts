import { Command } from 'commander'
import { exitCode } from '../../core/exit-code.ts'
import type { CliContext } from '../context.ts'
import { reporterOption } from '../flag-values.ts'
import { printReporterProblems } from '../print-reporter-problems.ts'
import type { ReportFlags } from './report.ts'

export function mergeCommand(context: CliContext): Command {
  return new Command('merge')
    .description('Make one run of the shards of a run, from the files of their blob reporters.')
    .argument('<path...>', 'blobs, or directories with blobs, as written by --reporter blob:DIR')
    .addOption(reporterOption())
    .option('--json', 'print one JSON document and nothing else on standard output')
    .option('--strict', 'exit 4 when the run is partial or inconclusive')
    .addHelpText(
      'after',
      '\nThe exit code is that of `gantry test`, and 3 when all trials passed but a shard is missing.',
    )
    .action(async (paths: string[], flags: MergeFlags) => {
      await merge(paths, flags, context)
    })
}

interface MergeFlags extends ReportFlags {
  readonly strict?: boolean
}

async function merge(paths: readonly string[], flags: MergeFlags, context: CliContext): Promise<void> {
  const { openProjectStore } = await import('../../config/open-project-store.ts')
  const { codeOfRun, openTestReporters } = await import('../run-test.ts')
  const { mergeShards } = await import('../../scenario/merge-shards.ts')
  const { cwd, env, signal } = context
  const reporter = await openTestReporters(flags, context)
  const result = await mergeShards(paths, {
    store: openProjectStore(context),
    reporter,
    signal,
    argv: ['gantry', ...process.argv.slice(2)],
    cwd,
    env,
  })
  const ofRun = codeOfRun(result, flags)
  const code = ofRun === exitCode.pass && result.missing.length > 0 ? exitCode.infra : ofRun
  context.setExitCode(printReporterProblems(reporter.problems(), { runId: result.runId, code }, context))
}
