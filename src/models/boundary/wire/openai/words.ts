import { asArray, type JsonObject } from '../../../../core/json-fields.ts'
import { asJson, parseJson } from '../json.ts'

/** Empty for what is no text. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** null for what is no text, or an empty one. */
export function wordOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

/**
 * The arguments of a call: text that holds JSON, and from some servers the JSON itself. What is no JSON stays text,
 * nothing at all is an empty object.
 */
export function readArguments(written: unknown): unknown {
  if (typeof written !== 'string') return written ?? {}
  if (written.trim() === '') return {}
  const parsed = parseJson(written)
  return parsed === undefined ? written : parsed
}

/** Text, or parts of which some hold text, joined by newlines. */
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
