import { formatDuration } from '../../core/duration.ts'
import type { CaseSummary } from '../../core/summary.ts'
import { plainLine } from '../plain-text.ts'
import { formatCost, formatRate, formatScore } from '../quantity.ts'
import { shortenMiddle, wrapText } from '../text-width.ts'
import { agentName } from '../trial-words.ts'
import { caseVerdict, percentAt } from './case-columns.ts'
import type { Palette } from './palette.ts'

/** A case as a few lines, for terminals too narrow for a table. */
export function caseBlock(row: CaseSummary, k: number, columns: number, palette: Palette): string[] {
  const name = shortenMiddle(plainLine(row.case), columns - 3, palette.ellipsis)
  return [
    `${palette.mark(caseVerdict(row))} ${name}`,
    ...[agentName(row), facts(row, k).join(', ')]
      .flatMap((text) => wrapText(text, columns - 5))
      .map((line) => `    ${palette.dim(line)}`),
  ]
}

function facts(row: CaseSummary, k: number): string[] {
  if (row.passRate.n === 0) return ['nothing counted']
  const atLeastOne = percentAt(row.passAtK, k)
  return [
    `${row.counts.pass}/${row.passRate.n} passed`,
    formatRate(row.passRate),
    ...(row.flaky ? ['flaky'] : []),
    ...(k > 1 && atLeastOne !== null
      ? [`pass@${k} ${atLeastOne}`, `pass^${k} ${percentAt(row.passHatK, k)}`]
      : []),
    ...(row.meanScore === null ? [] : [`score ${formatScore(row.meanScore)}`]),
    formatCost(row.meanCostUsd),
    formatDuration(row.meanDurationMs),
  ]
}
