import { formatDuration } from '../../core/duration.ts'
import type { TrialRecord } from '../../core/trial.ts'
import { formatCost, formatScore } from '../quantity.ts'
import { splitReason } from '../split-reason.ts'
import { displayWidth, padRight, shortenEnd, shortenMiddle } from '../text-width.ts'
import { trialName } from '../trial-words.ts'
import type { Palette } from './palette.ts'

/** A finished trial: one line, and its reason below when it did not pass. `columns` is null where lines are not cut. */
export function trialLine(record: TrialRecord, columns: number | null, palette: Palette): string {
  const facts = [
    formatDuration(record.durationMs),
    ...(record.costUsd === null ? [] : [formatCost(record.costUsd)]),
    ...(record.score === null ? [] : [`score ${formatScore(record.score)}`]),
    ...(record.cachedFrom === null ? [] : ['cached']),
    ...(record.infraRetries === 0 ? [] : [`try ${record.infraRetries + 1}`]),
  ].join('  ')
  const name = trialName(record)
  const width = columns === null ? null : Math.max(8, columns - 3 - displayWidth(facts) - 2)
  const shown =
    width === null ? name : padRight(shortenMiddle(name, width, palette.ellipsis), Math.min(width, 44))
  const line = `${palette.mark(record.verdict)} ${shown}  ${palette.dim(facts)}`
  if (record.verdict === 'pass') return line
  const { sentence: reason } = splitReason(record.reason)
  const fitted = columns === null ? reason : shortenEnd(reason, Math.max(8, columns - 5), palette.ellipsis)
  return `${line}\n    ${palette.verdict(record.verdict, fitted)}`
}
