import type { Redactor } from '../../core/redact.ts'

export type TextRedactor = Pick<Redactor, 'text' | 'value'>

const maxStringChars = 2_000
const maxTotalChars = 8_000
const maxItems = 50
const maxDepth = 8
/** Longer than any token: what a cut through a secret leaves over lies in the part that is dropped. */
const marginChars = 8_192

/** JSON-like data with its secrets hidden, small enough for a line of a log: long texts, lists and depths are cut. */
export function redactedValue(value: unknown, redactor: TextRedactor): unknown {
  let room = maxTotalChars

  function leaf(key: string, text: string): readonly [string, unknown] {
    const head = text.slice(0, maxStringChars + marginChars)
    // With its key, because a key can name a secret.
    const [name, hidden] = Object.entries(redactor.value({ [key]: head }))[0] ?? [key, '']
    const max = Math.max(0, Math.min(maxStringChars, room))
    const shown = cut(String(hidden), text.length > head.length, max)
    room -= shown.length
    return [name.slice(0, maxStringChars), shown]
  }

  function walk(key: string, item: unknown, depth: number): readonly [string, unknown] {
    if (typeof item === 'string') return leaf(key, item)
    const name = redactor.text(key.slice(0, maxStringChars))
    room -= name.length + 4
    if (typeof item !== 'object' || item === null) return [name, item]
    if (depth >= maxDepth || room <= 0) return [name, '…']
    if (Array.isArray(item)) {
      const kept = item.slice(0, maxItems).map((each) => walk('', each, depth + 1)[1])
      return [name, item.length > maxItems ? [...kept, `… ${item.length - maxItems} more`] : kept]
    }
    const entries = Object.entries(item)
    const kept = entries.slice(0, maxItems).map(([each, inner]) => walk(each, inner, depth + 1))
    const more = entries.length - kept.length
    return [name, Object.fromEntries(more > 0 ? [...kept, ['…', `${more} more`]] : kept)]
  }

  return walk('', value, 0)[1]
}

/** The beginning of a text without its secrets. Looks no further than it must, whatever the length. */
export function redactedHead(text: string, maxChars: number, redactor: TextRedactor): string {
  const head = text.slice(0, maxChars + marginChars)
  return cut(redactor.text(head), text.length > head.length, maxChars)
}

function cut(hidden: string, isOpen: boolean, maxChars: number): string {
  const sure = isOpen ? Math.max(0, hidden.length - marginChars) : hidden.length
  const length = Math.min(maxChars, sure)
  return length === hidden.length ? hidden : `${hidden.slice(0, length)}…`
}
