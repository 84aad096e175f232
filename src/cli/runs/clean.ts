import { Command } from 'commander'
import pc from 'picocolors'
import { counted } from '../../core/counted.ts'
import { formatDuration, parseDurationFlag } from '../../core/duration.ts'
import { GantryError } from '../../core/error.ts'
import { exitCode } from '../../core/exit-code.ts'
import {
  defaultRetention,
  type KeepReason,
  type RetentionOutcome,
  type RetentionPolicy,
} from '../../store/contract.ts'
import type { CliContext } from '../context.ts'
import { wholeNumber } from '../flag-values.ts'

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
      `Remove stored runs. By default those older than ${formatDuration(maxAgeMs ?? 0)}, then the oldest until ${maxRuns} remain.`,
    )
    .option('--older-than <duration>', 'remove runs older than this, for example 30d, 7d, 1h or 15m')
    .option('--keep <n>', 'remove the oldest runs until this many remain', wholeNumber)
    .option('--all', 'remove every run and the whole cache')
    .option('--dry-run', 'show what would be removed without removing it')
    .option('--json', 'print JSON and nothing else on standard output')
    .addHelpText(
      'after',
      '\nPinned, blessed, stuck and running runs are always kept, and the runs they refer to. A run that cost money, took a minute or longer, can be resumed, or is of a task of the last day is removed only by its age or with --all.',
    )
    .action(async (flags: CleanFlags) => {
      const policy = policyOf(flags)
      const { openProjectStore } = await import('../../config/open-project-store.ts')
      const { applyRetention } = await import('../../store/apply-retention.ts')
      const outcome = applyRetention(openProjectStore(context), {
        // This command has no runs of its own.
        sinceMs: Number.POSITIVE_INFINITY,
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
      hint: 'Remove --all to delete only some runs.',
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
    const freed = { removed_cache_entries: removedCacheEntries, freed_bytes: freedBytes }
    context.stdout.write(`${JSON.stringify({ ...document, ...freed })}\n`)
    return
  }
  const view = { dryRun: flags.dryRun === true, all: flags.all === true, color: context.stdout.color }
  for (const line of cleanReport(outcome, view)) context.stdout.write(`${line}\n`)
}

function cleanReport(
  outcome: RetentionOutcome,
  { dryRun, all, color }: { readonly dryRun: boolean; readonly all: boolean; readonly color: boolean },
): string[] {
  const { dim, red, green } = pc.createColors(color)
  const { removed, kept, failed, removedCacheEntries, freedBytes } = outcome
  const verb = dryRun ? 'would remove' : 'removed'
  const recent = kept.filter(({ reason }) => reason === 'recent').length
  const what = [
    counted(removed.length, 'run'),
    ...(removedCacheEntries > 0 ? [counted(removedCacheEntries, 'cache entry', 'cache entries')] : []),
  ].join(' and ')
  return [
    ...removed.map(
      ({ id, reason, bytes }) =>
        `${verb} ${id} ${dim(`${removalWords[all ? 'all' : reason]}, ${formatBytes(bytes)}`)}`,
    ),
    ...kept
      .filter(({ reason }) => reason !== 'recent')
      .map(({ id, reason }) => `${green('kept')} ${id} ${dim(keepWords[reason])}`),
    ...failed.map(({ id, message }) => `${red('could not remove')} ${id}: ${message}`),
    `${dryRun ? 'Would remove' : 'Removed'} ${what} and ${dryRun ? 'free' : 'freed'} ${formatBytes(freedBytes)}. ${keptText(recent, kept.length - recent, dryRun)}`,
  ]
}

function keptText(recent: number, protectedRuns: number, dryRun: boolean): string {
  const recentText = `${dryRun ? 'Would keep' : 'Keeping'} ${counted(recent, 'run')}.`
  if (protectedRuns === 0) return recentText
  return `${recentText} ${protectedRuns} more ${protectedRuns === 1 ? 'is' : 'are'} protected.`
}

const removalWords = { age: 'too old', count: 'above the limit, cost nothing', all: 'by --all' } as const

const keepWords: Readonly<Record<KeepReason, string>> = {
  pinned: 'pinned',
  blessed: 'blessed',
  stuck: 'a task is stuck on it',
  live: 'running',
  protected: 'just ended',
  paid: 'it cost money; --older-than or --all removes it',
  long: 'it took long; --older-than or --all removes it',
  unmetered: 'it may have cost money: its agent did not report it; --older-than or --all removes it',
  unfinished: 'it can be resumed; --older-than or --all removes it',
  own: 'it has just begun',
  task: 'a task of the last day; --older-than or --all removes it',
  referenced: 'a kept run refers to it',
  damaged: 'its manifest cannot be read, so it may be pinned; --all removes it',
  recent: 'within the limits',
}

/** `0 B`, `512 B`, `4.0 KB`, `1.3 GB`: units of 1,000. */
function formatBytes(bytes: number): string {
  let amount = bytes
  for (const unit of ['B', 'KB', 'MB', 'GB', 'TB']) {
    // Values that round to 1,000 use the next unit.
    if (amount < 999.95 || unit === 'TB') return unit === 'B' ? `${amount} B` : `${amount.toFixed(1)} ${unit}`
    amount /= 1_000
  }
  return `${bytes} B`
}
