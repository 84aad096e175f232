import type { ReportSection } from '../contract.ts'
import { escapeHtml } from './escape-html.ts'

/** A face's own table. */
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
