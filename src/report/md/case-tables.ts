import { counted } from '../../core/counted.ts'
import { formatDuration } from '../../core/duration.ts'
import type { CaseSummary, RunSummary } from '../../core/summary.ts'
import { caseVerdict, passedAlways, shownK } from '../case-rows.ts'
import { formatCost, formatInterval, formatPercent, formatScore } from '../quantity.ts'
import { casesWithUse, useFigures, useLegend } from '../tool-use.ts'
import { agentName } from '../trial-words.ts'
import { markdownTable } from './escape-markdown.ts'

/** Case by agent by model; cases that did not always pass come first. */
export function caseTable({ cases, threshold }: RunSummary, maxRows: number): string {
  const k = shownK(cases)
  const ordered = inOrder(cases)
  const shown = ordered.slice(0, maxRows)
  const head = [
    '',
    'Case',
    'Agent',
    'Passed',
    'Rate',
    '95% interval',
    ...(k > 1 ? [`pass@${k}`, `pass^${k}`] : []),
    'Score',
    'Cost',
    'Time',
  ]
  const rows = shown.map((row) => [
    icons[caseVerdict(row, threshold)],
    row.case + (row.flaky ? ' (flaky)' : ''),
    agentName(row),
    `${row.counts.pass}/${row.passRate.n}`,
    row.passRate.value === null ? '–' : formatPercent(row.passRate.value),
    row.passRate.value === null ? '–' : formatInterval(row.passRate),
    ...(k > 1 ? [percentAt(row.passAtK, k), percentAt(row.passHatK, k)] : []),
    row.meanScore === null ? '–' : formatScore(row.meanScore),
    row.passRate.n === 0 ? '–' : formatCost(row.meanCostUsd),
    row.passRate.n === 0 ? '–' : formatDuration(row.meanDurationMs),
  ])
  return `## Cases\n\n${markdownTable(head, rows)}${rest(ordered.length - shown.length)}`
}

/** How the tool was used, with the blank line after it; empty when nobody was seen using it. */
export function useTable(cases: readonly CaseSummary[], maxRows: number): string {
  const ordered = inOrder(casesWithUse(cases))
  if (ordered.length === 0) return ''
  const shown = ordered.slice(0, maxRows)
  const head = ['Case', 'Agent', ...useFigures.map(({ title }) => capitalized(title))]
  const rows = shown.map((row) => [
    row.case,
    agentName(row),
    ...useFigures.map(({ text }) => text(row) ?? '–'),
  ])
  return `## Use of the tool\n\n${markdownTable(head, rows)}${rest(ordered.length - shown.length)}\n\n${useLegend()}\n\n`
}

function inOrder(cases: readonly CaseSummary[]): readonly CaseSummary[] {
  return [...cases.filter((row) => !passedAlways(row)), ...cases.filter(passedAlways)]
}

function rest(hidden: number): string {
  return hidden > 0 ? `\n\nAnd ${counted(hidden, 'more row')}.` : ''
}

function percentAt(values: readonly number[], k: number): string {
  const value = values[k - 1]
  return value === undefined ? '–' : formatPercent(value)
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

const icons = { pass: '✅', fail: '❌', infra: '⚠️', invalid: '⚠️' } as const
