import type { CaseSummary } from '../../core/summary.ts'
import { casesWithUse, useFigures, useLegend } from '../tool-use.ts'
import { agentName } from '../trial-words.ts'
import { escapeHtml } from './escape-html.ts'

/** How the tool was used, case by agent by model; empty when nobody was seen using it. */
export function useTable(cases: readonly CaseSummary[]): string {
  const rows = casesWithUse(cases).map((row) => `<tr>${cells(row)}</tr>`)
  if (rows.length === 0) return ''
  const figures = useFigures.map(
    ({ title, meaning }) =>
      `<th scope="col" class="number"${meaning === undefined ? '' : ` title="${meaning}"`}>${title}</th>`,
  )
  const head = `<th scope="col">Case</th><th scope="col">Agent</th>${figures.join('')}`
  return `<section class="cases use"><h2>Use of the tool</h2><div class="scroll" tabindex="0" role="region" aria-label="Use of the tool"><table><thead><tr>${head}</tr></thead><tbody>\n${rows.join('\n')}\n</tbody></table></div><p class="dim">${useLegend()}</p></section>`
}

function cells(row: CaseSummary): string {
  const figures = useFigures.map(({ title, text }) => {
    const shown = text(row)
    return `<td class="number${shown === null ? ' none' : ''}" data-label="${title}">${shown ?? '–'}</td>`
  })
  return `<th scope="row">${escapeHtml(row.case)}</th><td class="agent">${escapeHtml(agentName(row))}</td>${figures.join('')}`
}
