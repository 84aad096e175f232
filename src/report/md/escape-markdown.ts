import type { GateResult } from '../../core/trial.ts'
import { detailParts, omission } from '../failure-lines.ts'
import { plainLine, plainText } from '../plain-text.ts'

/** Escapes foreign text inside a line of Markdown: it starts no markup, ends no table cell and is never HTML. */
export function escapeMarkdown(text: string): string {
  if (ordinary.test(text)) return text
  return plainLine(text)
    .replaceAll(/[\\`*[\]|~$]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])/g, '\\$&')
    .replaceAll(/[&<>]/g, (character) => entities[character] ?? character)
    .replace(/^[-+=](?=[-+=\s]|$)|^[#:@]|#(?=#*$)/, '\\$&')
    .replace(/^(\d+)([.)])(?=\s|$)/, '$1\\$2')
}

/** Words and numbers, as in most cells: nothing to escape. */
const ordinary = /^(?!\d+[.)])[A-Za-z0-9]+(?:(?:[,:%]? |[./:'"-])[A-Za-z0-9]+)*%?$/

/**
 * Foreign text as a block. It is quoted, so that none of its lines is at the start of a line (where a log reader could take it
 * for a command), and its fence is longer than any in the text.
 */
export function codeBlock(text: string, language = 'text'): string {
  const clean = plainText(text)
  const longest = Math.max(2, ...[...clean.matchAll(/`+/g)].map(([run]) => run.length))
  const fence = '`'.repeat(longest + 1)
  return [`${fence}${language}`, ...clean.split('\n'), fence].map((line) => `> ${line}`.trimEnd()).join('\n')
}

/** A table; cells are escaped here, so callers pass plain text. */
export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(escapeMarkdown).join(' | ')} |`
  return [line(head), `|${' --- |'.repeat(head.length)}`, ...rows.map(line)].join('\n')
}

export function fileLink(label: string, path: string): string {
  const href = path
    .split('/')
    .map((part) => encodeURIComponent(part.toWellFormed()))
    .join('/')
    .replaceAll('(', '%28')
    .replaceAll(')', '%29')
  return `[${escapeMarkdown(label)}](${href})`
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

/** The findings of a gate as Markdown blocks under a line with its name; empty when there are none. */
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
