import pc from 'picocolors'
import { counted } from '../../core/counted.ts'
import type { KeepReason, RetentionOutcome } from '../../store/contract.ts'
import { formatBytes } from './format-bytes.ts'

/** What a cleaning did, for a person. */
export function cleanReport(
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
    `${dryRun ? 'Would remove' : 'Removed'} ${what} and ${dryRun ? 'free' : 'freed'} ${formatBytes(freedBytes)}; ${counted(kept.length, 'run')} ${kept.length === 1 ? 'stays' : 'stay'}${recent > 0 ? `, ${recent} of them with no need to go` : ''}.`,
  ]
}

const removalWords = { age: 'too old', count: 'one too many', all: 'by --all' } as const

const keepWords: Readonly<Record<KeepReason, string>> = {
  pinned: 'pinned',
  blessed: 'blessed',
  stuck: 'a task is stuck on it',
  live: 'running',
  protected: 'just ended',
  referenced: 'a kept run leans on it',
  damaged: 'its manifest cannot be read, so it may be pinned; --all removes it',
  recent: 'no need to go',
}
