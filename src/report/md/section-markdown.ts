import type { ReportSection } from '../contract.ts'
import { escapeMarkdown, markdownTable } from './escape-markdown.ts'

/** A face's own table, with the blank line after it. */
export function sectionMarkdown({ title, lead, columns, rows }: ReportSection): string {
  const parts = [
    `## ${escapeMarkdown(title)}`,
    ...(lead === undefined ? [] : [escapeMarkdown(lead)]),
    ...(rows.length === 0
      ? []
      : [
          markdownTable(
            columns.map((column) => column.title),
            rows,
          ),
        ]),
  ]
  return `${parts.join('\n\n')}\n\n`
}
