// Commands that collect a run whose trials were done elsewhere.
import { Command } from 'commander'
import { exitCode } from '../../core/exit-code.ts'
import type { MergeContext, MergedRun } from '../../scenario/merge-shards.ts'
import type { CliContext } from '../context.ts'
import { reporterOption } from '../flag-values.ts'
import { printReporterProblems } from '../print-reporter-problems.ts'
import { blobsOption, queueOption, withQueue } from '../queue.ts'
import type { ReportFlags } from './report.ts'

interface CollectFlags extends ReportFlags {
  readonly strict?: boolean
}

interface FollowFlags extends CollectFlags {
  readonly queue?: string
  readonly blobs?: string
}

export function mergeCommand(context: CliContext): Command {
  return withCollectFlags(new Command('merge'))
    .description('Make one run of the shards of a run, from the files of their blob reporters.')
    .argument('<path...>', 'blobs, or directories with blobs, as written by --reporter blob:DIR')
    .addHelpText(
      'after',
      '\nThe exit code is that of `gantry test`, and 3 when all trials passed but a shard is missing.',
    )
    .action(async (paths: string[], flags: CollectFlags) => {
      const { mergeShards } = await import('../../scenario/merge-shards.ts')
      await collect(flags, context, (place) => mergeShards(paths, place))
    })
}

export function followCommand(context: CliContext): Command {
  const command = new Command('follow').addOption(queueOption()).addOption(blobsOption())
  return withCollectFlags(command)
    .description('Collect a run of a queue into the store of this machine, until all its trials have ended.')
    .argument('<run>', 'the complete id of the run')
    .action(async (runId: string, flags: FollowFlags) => {
      const { followRun } = await import('../../scenario/queued-run.ts')
      await collect(flags, context, (place) =>
        withQueue(flags, context, (queue) => followRun(runId, { queue, ...place }), true),
      )
    })
}

function withCollectFlags(command: Command): Command {
  return command
    .addOption(reporterOption())
    .option('--json', 'print one JSON document and nothing else on standard output')
    .option('--strict', 'exit 4 when the run is partial or inconclusive')
}

async function collect(
  flags: CollectFlags,
  context: CliContext,
  work: (place: MergeContext) => Promise<Omit<MergedRun, 'missing'> & Partial<MergedRun>>,
): Promise<void> {
  const { openProjectStore } = await import('../../config/open-project-store.ts')
  const { codeOfRun, openTestReporters } = await import('../run-test.ts')
  const { cwd, env, signal } = context
  const reporter = await openTestReporters(flags, context)
  const store = openProjectStore(context)
  const result = await work({ store, reporter, signal, argv: ['gantry', ...process.argv.slice(2)], cwd, env })
  const ofRun = result.interrupted ? exitCode.interrupted : codeOfRun(result, flags)
  const isPartial = ofRun === exitCode.pass && (result.missing ?? []).length > 0
  const code = isPartial ? exitCode.infra : ofRun
  context.setExitCode(printReporterProblems(reporter.problems(), { runId: result.runId, code }, context))
}
