import type { GateResult } from '../../core/trial.ts'
import { detailParts, omission } from '../gate-detail.ts'
import { codeBlock, escapeMarkdown } from './escape-markdown.ts'

/** What a gate found, as Markdown blocks under a line with its name; nothing when it found nothing worth showing. */
export function gateDetails(gate: GateResult): string[] {
  const parts = detailParts(gate.detail, { maxLines: 20, message: gate.message })
  if (parts.length === 0) return []
  const values = parts.filter(({ kind }) => kind === 'value')
  const list = values.map(
    ({ label, lines }) => `- ${escapeMarkdown(label)}: ${escapeMarkdown(lines.join(' '))}`,
  )
  const blocks = parts.filter(({ kind }) => kind !== 'value')
  return [
    `**${escapeMarkdown(gate.type)}**`,
    ...(list.length === 0 ? [] : [list.join('\n')]),
    ...blocks.flatMap((part) => [
      `${escapeMarkdown(part.label)}${omission(part)}:`,
      codeBlock(part.lines.join('\n')),
    ]),
  ]
}
