import { firstChars } from '../core/shorten.ts'

const maxTailChars = 2_000
const maxValueChars = 500

/** The end of an output. It begins at the start of a line if possible, so no word and no secret is shown in part. */
export function tail(text: string, maxChars = maxTailChars): string {
  if (text.length <= maxChars) return text
  const end = text.slice(-maxChars)
  const lineEnd = end.indexOf('\n')
  const kept = lineEnd === -1 || lineEnd === end.length - 1 ? end : end.slice(lineEnd + 1)
  return `[... ${text.length - kept.length} characters before ...]\n${kept.toWellFormed()}`
}

/** Any value as a text of limited length: strings unchanged, other values as JSON. */
export function excerpt(value: unknown, maxChars = maxValueChars): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value))
  if (text.length <= maxChars) return text
  return `${firstChars(text, maxChars)}[... ${text.length - maxChars} characters more ...]`
}

/** The first items of a list, and the number of further ones. */
export function shortList(items: readonly string[], maxItems: number): string[] {
  if (items.length <= maxItems) return [...items]
  return [...items.slice(0, maxItems), `and ${items.length - maxItems} more`]
}
