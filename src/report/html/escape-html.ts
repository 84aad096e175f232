import { formatCount } from '../../core/counted.ts'
import { plainText } from '../plain-text.ts'

/** Escapes foreign text for the page, as content or as a quoted attribute. Removes terminal escape codes too. */
export function escapeHtml(text: string): string {
  return plainText(text).replaceAll(/[&<>"'`]/g, (character) => entities[character] ?? character)
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '`': '&#96;',
}

const openLines = 14
const openChars = 1_600
const previewChars = 140
const headChars = 12_000
const tailChars = 8_000

/** Output of a program: shown when short, folded when long, with its middle omitted when huge. */
export function longText(text: string): string {
  const trimmed = text.trimEnd()
  if (trimmed.trim() === '') return ''
  const lines = countLines(trimmed)
  const body = `<pre>${escapeHtml(shortened(trimmed))}</pre>`
  if (lines <= openLines && trimmed.length <= openChars) return body
  const start = trimmed.trimStart()
  const preview = start.slice(0, previewChars).split('\n', 1)[0] ?? ''
  return `<details class="long"><summary><span class="preview">${escapeHtml(preview)}</span> <span class="size">${formatCount(lines)} lines</span></summary>${body}</details>`
}

function shortened(text: string): string {
  if (text.length <= headChars + tailChars) return text
  const left = text.length - headChars - tailChars
  return `${text.slice(0, headChars)}\n\n[… ${formatCount(left)} characters left out here; they are in the raw file …]\n\n${text.slice(-tailChars)}`
}

function countLines(text: string): number {
  let count = 1
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count += 1
  return count
}
