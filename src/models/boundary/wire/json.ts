import { isObject, type JsonObject } from '../../../core/json-fields.ts'
import type { WireFailure } from '../contract.ts'
import type { EncodedReply } from './contract.ts'

export function jsonReply(
  body: unknown,
  headers: EncodedReply['headers'] = {},
  { status, retryAfterSecs }: Pick<WireFailure, 'status' | 'retryAfterSecs'> = { status: 200 },
): EncodedReply {
  const wait = retryAfterSecs !== undefined && { 'retry-after': String(retryAfterSecs) }
  return {
    status,
    headers: { 'content-type': 'application/json', ...headers, ...wait },
    chunks: [JSON.stringify(body)],
  }
}

/** Empty for a value without a JSON form, such as one nested deeper than the stack. */
export function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value) ?? ''
  } catch {
    return ''
  }
}

/** The value as an object; an empty one when it is not an object. */
export function asJson(value: unknown): JsonObject {
  return isObject(value) ? value : {}
}

/** Tokens: a whole number that is not negative. */
export function asCount(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined
}

/** Merges two objects; for common fields the later value wins. */
export function layOver(layers: readonly JsonObject[]): JsonObject {
  return Object.fromEntries(layers.flatMap((layer) => Object.entries(layer)))
}

/** The arguments of a call for an API that supports only objects: a free-form text becomes the field `input`. */
export function toolInput(input: unknown): JsonObject {
  if (isObject(input)) return input
  return input === undefined || input === null ? {} : { input }
}

const shortest = 80
const mostPieces = 50

/**
 * A text in several pieces, as a model streams it, so that a stream can be cut in the middle. The number of pieces is
 * limited, so a long text stays fast. No character is split.
 */
export function cutText(text: string): readonly string[] {
  const size = Math.max(shortest, Math.ceil(text.length / mostPieces))
  const pieces: string[] = []
  let start = 0
  while (start < text.length) {
    const end = beforePair(text, start + size)
    pieces.push(text.slice(start, end))
    start = end
  }
  return pieces
}

function beforePair(text: string, end: number): number {
  const high = text.charCodeAt(end - 1)
  const low = text.charCodeAt(end)
  const torn = high >= 0xd800 && high <= 0xdbff && low >= 0xdc00 && low <= 0xdfff
  return torn ? end - 1 : end
}
