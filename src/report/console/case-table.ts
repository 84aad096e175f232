import { counted } from '../../core/counted.ts'
import type { CaseSummary, RunSummary } from '../../core/summary.ts'
import { caseVerdict, passedAlways, shownK } from '../case-rows.ts'
import { wrapText } from '../text-width.ts'
import { caseColumns, flakyTitle } from './case-columns.ts'
import { caseLines } from './case-lines.ts'
import type { Palette } from './palette.ts'

/** Above this, cases that always passed are only counted. */
const maxRows = 40

/** Case by agent by model: how often it passed, how sure that is, what it cost. */
export function caseTable({ cases, threshold }: RunSummary, columns: number, palette: Palette): string[] {
  if (cases.length === 0) return []
  const shown = shownRows(cases)
  const k = shownK(shown)
  const { lines, titles, left } = caseLines(shown, caseColumns(shown, k, palette), {
    columns,
    palette,
    markOf: (row) => caseVerdict(row, threshold),
  })
  return [
    '',
    palette.bold('Cases'),
    '',
    ...lines,
    ...rest(cases, shown).map(palette.dim),
    ...legend(titles, left, k)
      .flatMap((sentence) => wrapText(sentence, columns - 3))
      .map((line) => palette.dim(`  ${line}`)),
  ]
}

/** The rows worth a line each: all of few, of many those in which something happened. */
export function shownRows(cases: readonly CaseSummary[]): readonly CaseSummary[] {
  const crowded = cases.length > maxRows
  return (crowded ? cases.filter((row) => !passedAlways(row)) : cases).slice(0, maxRows)
}

function rest(cases: readonly CaseSummary[], shown: readonly CaseSummary[]): string[] {
  const hidden = cases.length - shown.length
  if (hidden === 0) return []
  const passed = cases.filter(passedAlways).length
  const what =
    hidden === passed ? `${counted(passed, 'row')} where every trial passed` : counted(hidden, 'more row')
  return [`  ${shown.length === 0 ? '' : 'and '}${what}`]
}

function legend(titles: readonly string[], left: readonly string[], k: number): string[] {
  const [once, always] = [titles.includes(`pass@${k}`), titles.includes(`pass^${k}`)]
  return [
    ...(titles.includes('interval') ? ['interval: the true rate lies in it with 95% confidence.'] : []),
    ...(once ? [`pass@${k}: at least one of ${k} tries passes. pass^${k}: all ${k} do.`] : []),
    ...(always && !once ? [`pass^${k}: all of ${k} tries pass.`] : []),
    ...(titles.includes(flakyTitle) ? ['flaky: the same case both passed and failed.'] : []),
    ...(left.length > 0 ? [`no room for: ${left.join(', ')}`] : []),
  ]
}
