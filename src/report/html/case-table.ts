import { formatDuration } from '../../core/duration.ts'
import type { CaseSummary, RunSummary } from '../../core/summary.ts'
import { caseVerdict, shownK } from '../case-rows.ts'
import { formatCost, formatInterval, formatPercent, formatScore } from '../quantity.ts'
import { agentName } from '../trial-words.ts'
import { escapeHtml } from './escape-html.ts'
import { intervalBar } from './interval-bar.ts'

/** Case by agent by model. The name of a case is a button: the list below then shows its trials only. */
export function caseTable({ cases, threshold }: RunSummary): string {
  if (cases.length === 0) return ''
  const k = shownK(cases)
  const scored = cases.some((row) => row.meanScore !== null)
  const head = [
    '<th scope="col">Case</th><th scope="col">Agent</th><th scope="col" class="number">Passed</th><th scope="col">Rate and 95% interval</th>',
    k > 1
      ? `<th scope="col" class="number" title="At least one of ${k} tries passes">pass@${k}</th><th scope="col" class="number" title="All of ${k} tries pass">pass^${k}</th>`
      : '',
    scored ? '<th scope="col" class="number">Score</th>' : '',
    '<th scope="col" class="number">Cost</th><th scope="col" class="number">Time</th>',
  ].join('')
  const rows = cases.map((row) => `<tr class="${caseVerdict(row, threshold)}">${cells(row, k, scored)}</tr>`)
  return `<section class="cases"><h2>Cases</h2><div class="scroll" tabindex="0" role="region" aria-label="Cases"><table><thead><tr>${head}</tr></thead><tbody>\n${rows.join('\n')}\n</tbody></table></div></section>`
}

function cells(row: CaseSummary, k: number, scored: boolean): string {
  const { value } = row.passRate
  const number = (label: string, text: string): string =>
    `<td class="number${text === '–' ? ' none' : ''}" data-label="${label}">${text}</td>`
  return [
    `<th scope="row"><button type="button" class="case" data-case="${escapeHtml(row.case)}">${escapeHtml(row.case)}</button>${row.flaky ? ' <span class="chip flaky">flaky</span>' : ''}</th>`,
    `<td class="agent">${escapeHtml(agentName(row))}</td>`,
    number('passed', row.passRate.n === 0 ? '–' : `${row.counts.pass}/${row.passRate.n}`),
    `<td class="rate">${intervalBar(row.passRate)}<span>${value === null ? 'nothing counted' : `<b>${formatPercent(value)}</b> ${formatInterval(row.passRate)}`}</span></td>`,
    ...(k > 1
      ? [number(`pass@${k}`, percentAt(row.passAtK, k)), number(`pass^${k}`, percentAt(row.passHatK, k))]
      : []),
    ...(scored ? [number('score', row.meanScore === null ? '–' : formatScore(row.meanScore))] : []),
    number('cost', row.passRate.n === 0 ? '–' : cost(row.meanCostUsd)),
    number('time', row.passRate.n === 0 ? '–' : formatDuration(row.meanDurationMs)),
  ].join('')
}

function cost(usd: number | null): string {
  return usd === null ? '<span class="dim">unmetered</span>' : formatCost(usd)
}

function percentAt(values: readonly number[], k: number): string {
  const value = values[k - 1]
  return value === undefined ? '–' : formatPercent(value)
}
