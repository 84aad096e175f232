import { asArray, type JsonObject, parseJson } from '../../../../core/json-fields.ts'
import { asJson } from '../json.ts'

/** Empty for a value that is not a text. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** null for a value that is not a text, and for an empty text. */
export function nonEmptyText(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

/**
 * The arguments of a call: a JSON text, and from some servers the JSON itself. A text that is not JSON stays a text,
 * and missing arguments are an empty object.
 */
export function readArguments(written: unknown): unknown {
  if (typeof written !== 'string') return written ?? {}
  if (written.trim() === '') return {}
  const parsed = parseJson(written)
  return parsed === undefined ? written : parsed
}

/** A text, or the text parts of a list, joined by newlines. */
export function joinedText(content: unknown): string {
  if (typeof content === 'string') return content
  return asArray(content)
    .map((part) => (typeof part === 'string' ? part : partText(asJson(part))))
    .filter((text) => text !== null)
    .join('\n')
}

function partText(part: JsonObject): string | null {
  if (typeof part.text === 'string') return part.text
  return typeof part.refusal === 'string' ? part.refusal : null
}
