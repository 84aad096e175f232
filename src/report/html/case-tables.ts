import { formatDuration } from '../../core/duration.ts'
import type { CaseSummary, Rate, RunSummary } from '../../core/summary.ts'
import { casesWithUse, caseVerdict, shownK, useFigures, useLegend } from '../case-verdict.ts'
import type { ReportSection } from '../contract.ts'
import { formatCost, formatInterval, formatPercent, formatRate, formatScore, percentAt } from '../quantity.ts'
import { agentName } from '../trial-sentences.ts'
import { escapeHtml } from './escape-html.ts'

/** Case by agent by model. The name of a case is a button that filters the list of trials below. */
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

/** Cases by agents, when there is more than one agent. */
export function matrix({ cases, threshold }: RunSummary): string {
  const agents = [...new Set(cases.map(agentName))]
  if (agents.length < 2) return ''
  const rows = Map.groupBy(cases, (row) => row.case)
  const head = agents.map((agent) => `<th scope="col" class="number">${escapeHtml(agent)}</th>`)
  const body = [...rows].map(([name, group]) => {
    const cellsOfCase = agents.map((agent) => {
      const row = group.find((candidate) => agentName(candidate) === agent)
      if (row === undefined) return '<td class="number none">–</td>'
      const passed = row.passRate.n === 0 ? 'nothing counted' : `${row.counts.pass}/${row.passRate.n}`
      const flaky = row.flaky ? ' <span class="chip flaky">flaky</span>' : ''
      return `<td class="number ${caseVerdict(row, threshold)}" data-label="${escapeHtml(agent)}">${caseButton(name, passed, agent)}${flaky}</td>`
    })
    const verdicts = group.map((row) => caseVerdict(row, threshold))
    const worst = (['fail', 'invalid', 'infra'] as const).find((verdict) => verdicts.includes(verdict))
    return `<tr class="${worst ?? 'pass'}"><th scope="row">${caseButton(name, name)}</th>${cellsOfCase.join('')}</tr>`
  })
  return `<section class="cases matrix"><h2>Cases by agents</h2><div class="scroll" tabindex="0" role="region" aria-label="Cases by agents"><table><thead><tr><th scope="col">Case</th>${head.join('')}</tr></thead><tbody>\n${body.join('\n')}\n</tbody></table></div></section>\n`
}

/** Shows the trials of a case below, those of one agent if it is named. */
function caseButton(name: string, text: string, agent = ''): string {
  return `<button type="button" class="case" data-case="${escapeHtml(name)}" data-of="${escapeHtml(agent)}">${escapeHtml(text)}</button>`
}

function cells(row: CaseSummary, k: number, scored: boolean): string {
  const { value } = row.passRate
  const number = (label: string, text: string, sort: number | null = null): string =>
    `<td class="number${text === '–' ? ' none' : ''}" data-label="${label}"${sort === null ? '' : ` data-sort="${sort}"`}>${text}</td>`
  return [
    `<th scope="row">${caseButton(row.case, row.case, agentName(row))}${row.flaky ? ' <span class="chip flaky">flaky</span>' : ''}</th>`,
    `<td class="agent">${escapeHtml(agentName(row))}</td>`,
    number('passed', row.passRate.n === 0 ? '–' : `${row.counts.pass}/${row.passRate.n}`),
    `<td class="rate" data-sort="${value ?? -1}">${intervalBar(row.passRate)}<span>${value === null ? 'nothing counted' : `<b>${formatPercent(value)}</b> ${formatInterval(row.passRate)}`}</span></td>`,
    ...(k > 1
      ? [
          number(`pass@${k}`, percentAt(row.passAtK, k) ?? '–'),
          number(`pass^${k}`, percentAt(row.passHatK, k) ?? '–'),
        ]
      : []),
    ...(scored ? [number('score', row.meanScore === null ? '–' : formatScore(row.meanScore))] : []),
    number('cost', row.passRate.n === 0 ? '–' : cost(row.meanCostUsd), row.meanCostUsd ?? -1),
    number('time', row.passRate.n === 0 ? '–' : formatDuration(row.meanDurationMs), row.meanDurationMs),
  ].join('')
}

function cost(usd: number | null): string {
  return usd === null ? '<span class="dim">unmetered</span>' : formatCost(usd)
}

/** Tool use by case, agent and model; empty when no agent used the tool. */
export function useTable(cases: readonly CaseSummary[]): string {
  const rows = casesWithUse(cases).map((row) => `<tr>${useCells(row)}</tr>`)
  if (rows.length === 0) return ''
  const figures = useFigures.map(
    ({ title, meaning }) =>
      `<th scope="col" class="number"${meaning === undefined ? '' : ` title="${meaning}"`}>${title}</th>`,
  )
  const head = `<th scope="col">Case</th><th scope="col">Agent</th>${figures.join('')}`
  return `<section class="cases use"><h2>Use of the tool</h2><div class="scroll" tabindex="0" role="region" aria-label="Use of the tool"><table><thead><tr>${head}</tr></thead><tbody>\n${rows.join('\n')}\n</tbody></table></div><p class="dim">${useLegend()}</p></section>`
}

function useCells(row: CaseSummary): string {
  const figures = useFigures.map(({ title, text }) => {
    const shown = text(row)
    return `<td class="number${shown === null ? ' none' : ''}" data-label="${title}">${shown ?? '–'}</td>`
  })
  return `<th scope="row">${escapeHtml(row.case)}</th><td class="agent">${escapeHtml(agentName(row))}</td>${figures.join('')}`
}

export function sectionHtml({ title, lead, columns, rows }: ReportSection): string {
  const name = escapeHtml(title)
  const sentence = lead === undefined ? '' : `<p class="dim">${escapeHtml(lead)}</p>`
  if (rows.length === 0) return `<section class="cases own"><h2>${name}</h2>${sentence}</section>`
  const classOf = (at: number): string => (columns[at]?.align === 'right' ? ' class="number"' : '')
  const head = columns.map((column, at) => `<th scope="col"${classOf(at)}>${escapeHtml(column.title)}</th>`)
  const body = rows.map((row) => {
    const cells = row.map((text, at) =>
      at === 0
        ? `<th scope="row">${escapeHtml(text)}</th>`
        : `<td${classOf(at)} data-label="${escapeHtml(columns[at]?.title ?? '')}">${escapeHtml(text)}</td>`,
    )
    return `<tr>${cells.join('')}</tr>`
  })
  return `<section class="cases own"><h2>${name}</h2>${sentence}<div class="scroll" tabindex="0" role="region" aria-label="${name}"><table><thead><tr>${head.join('')}</tr></thead><tbody>\n${body.join('\n')}\n</tbody></table></div></section>`
}

/** A rate as a dot on a track with its interval around it. SVG attributes, because the page allows no inline styles. */
export function intervalBar(rate: Rate): string {
  if (rate.value === null) return `<svg class="interval" aria-hidden="true">${track}</svg>`
  const x = (share: number): string => `${(4 + 92 * Math.min(1, Math.max(0, share))).toFixed(1)}%`
  const range = `<line class="range" x1="${x(rate.low)}" y1="5" x2="${x(rate.high)}" y2="5"/>`
  const point = `<circle class="point" cx="${x(rate.value)}" cy="5" r="3.5"/>`
  return `<svg class="interval" role="img" aria-label="${formatRate(rate)}">${track}${range}${point}</svg>`
}

const track = '<line class="track" x1="4%" y1="5" x2="96%" y2="5"/>'
