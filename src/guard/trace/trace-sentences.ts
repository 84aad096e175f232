import { counted, formatCount } from '../../core/counted.ts'
import { formatDuration } from '../../core/duration.ts'
import type { RefusalFigure, TimeFigures, TraceReport } from './trace-report.ts'

export function traceResultSentence({ results, source }: TraceReport): string {
  const parts = [
    `${formatCount(results.success)} succeeded`,
    `${formatCount(results.failure)} failed`,
    `${formatCount(results.denied)} denied`,
    ...(results.unknown > 0 ? [`${formatCount(results.unknown)} with unknown result`] : []),
  ]
  const apart = [
    source.broken_lines > 0 ? `${counted(source.broken_lines, 'line')} could not be read` : '',
    source.left_out > 0 ? `${counted(source.left_out, 'older record')} left out` : '',
  ].filter((part) => part !== '')
  return `${[parts.join(', '), ...apart].join('; ')}.`
}

export function traceTimeSentences({
  started_at,
  ended_at,
  span_ms,
  longest_pause_ms,
}: TimeFigures): readonly string[] {
  if (started_at === null || ended_at === null) return ['The records have no times.']
  return [
    `From ${readable(started_at)} to ${readable(ended_at)}: ${formatDuration(span_ms)}, longest pause ${formatDuration(longest_pause_ms)}.`,
  ]
}

/** Loops and what they mean for the threshold. */
export function traceLoopSentences({ loops, hot_files }: TraceReport): readonly string[] {
  const { edit_threshold: threshold, edits_until_green: until, suggested_threshold: suggested } = loops
  const files = hot_files.filter(({ potential_loop }) => potential_loop).map(({ path }) => path)
  const more = loops.files > files.length ? ` and ${counted(loops.files - files.length, 'more file')}` : ''
  const found =
    files.length === 0
      ? [`No file reached the threshold of ${counted(threshold, 'edit')}.`]
      : [
          `Potential loop: ${files.join(', ')}${more} reached the threshold of ${counted(threshold, 'edit')}.`,
          'Review these files for repeated edits, and consider loop_detection.edit_threshold in harness.json.',
        ]
  const rounds =
    until.rounds === 0 || until.median === null || until.p95 === null
      ? []
      : [
          `In ${counted(until.rounds, 'round')} of edits that ended with green tests, a file took ${counted(until.median, 'edit')} at the median and ${formatCount(until.p95)} at the 95th percentile.`,
        ]
  const fits =
    suggested === null
      ? []
      : [suggested === threshold ? 'The threshold fits.' : `A threshold of ${suggested} would fit.`]
  return [...found, ...rounds, ...fits]
}

export function traceRefusalSentence({ rule, denied, refused }: RefusalFigure): string {
  const parts = [
    denied > 0 ? `denied ${counted(denied, 'call')}` : '',
    refused > 0 ? `refused ${counted(refused, 'stop')}` : '',
  ].filter((part) => part !== '')
  return `${rule}: ${parts.join(', ')}`
}

export function readable(iso: string): string {
  return iso.replace('T', ' ').replace(/(\.\d+)?Z$/, ' UTC')
}
