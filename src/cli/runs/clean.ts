import { Command } from 'commander'
import { formatDuration, parseDurationFlag } from '../../core/duration.ts'
import { GantryError } from '../../core/error.ts'
import { exitCode } from '../../core/exit-code.ts'
import { defaultRetention, type RetentionOutcome, type RetentionPolicy } from '../../store/contract.ts'
import type { CliContext } from '../context.ts'
import { wholeNumber } from '../flag-values.ts'
import { cleanReport } from './clean-report.ts'

interface CleanFlags {
  readonly olderThan?: string
  readonly keep?: number
  readonly all?: boolean
  readonly dryRun?: boolean
  readonly json?: boolean
}

export function cleanCommand(context: CliContext): Command {
  const { maxRuns, maxAgeMs } = defaultRetention
  return new Command('clean')
    .description(
      `Remove stored runs. Without options: those past ${formatDuration(maxAgeMs ?? 0)}, then the oldest until ${maxRuns} remain.`,
    )
    .option('--older-than <duration>', 'remove runs older than this, for example 30d, 7d, 1h or 15m')
    .option('--keep <n>', 'remove the oldest until so many remain', wholeNumber)
    .option('--all', 'remove every run and the whole cache')
    .option('--dry-run', 'tell what would be removed, and remove nothing')
    .option('--json', 'print JSON and nothing else on standard output')
    .addHelpText('after', '\nPinned, blessed, stuck and running runs always stay, and what they lean on.')
    .action(async (flags: CleanFlags) => {
      const policy = policyOf(flags)
      const { openProjectStore } = await import('../../config/open-project-store.ts')
      const { applyRetention } = await import('../../store/apply-retention.ts')
      const outcome = applyRetention(openProjectStore(context), {
        policy,
        thorough: true,
        everything: flags.all === true,
        dryRun: flags.dryRun === true,
      })
      print(outcome, flags, context)
      if (outcome.failed.length > 0) context.setExitCode(exitCode.infra)
    })
}

function policyOf({ olderThan, keep, all }: CleanFlags): RetentionPolicy {
  if (all === true && (olderThan !== undefined || keep !== undefined)) {
    throw new GantryError('USAGE', '--all cannot be combined with --older-than or --keep', {
      hint: 'Leave --all away to remove only some runs.',
    })
  }
  if (all === true) return { maxAgeMs: null, maxRuns: 0 }
  if (olderThan === undefined && keep === undefined) return defaultRetention
  return {
    maxAgeMs: olderThan === undefined ? null : parseDurationFlag('--older-than', olderThan),
    maxRuns: keep ?? null,
  }
}

function print(outcome: RetentionOutcome, flags: CleanFlags, context: CliContext): void {
  if (flags.json === true) {
    const { removed, kept, failed, removedCacheEntries, freedBytes } = outcome
    const reasoned = flags.all === true ? removed.map((run) => ({ ...run, reason: 'all' })) : removed
    const document = { dry_run: flags.dryRun === true, removed: reasoned, kept, failed }
    context.stdout.write(
      `${JSON.stringify({ ...document, removed_cache_entries: removedCacheEntries, freed_bytes: freedBytes })}\n`,
    )
    return
  }
  const view = { dryRun: flags.dryRun === true, all: flags.all === true, color: context.stdout.color }
  for (const line of cleanReport(outcome, view)) {
    context.stdout.write(`${line}\n`)
  }
}
