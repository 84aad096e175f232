import { isObject, type JsonObject } from '../../../core/json-fields.ts'

/** What a client or a provider wrote, which may be anything; undefined when it is no JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Empty for what has no JSON text, such as a value nested deeper than the stack. */
export function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value) ?? ''
  } catch {
    return ''
  }
}

/** An object, whatever stands there: fields of what is none are undefined. */
export function asJson(value: unknown): JsonObject {
  return isObject(value) ? value : {}
}

/** Tokens: a whole number that is not negative. */
export function asCount(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined
}

/** One over the other: where two say the same field, the later word counts. */
export function layOver(layers: readonly JsonObject[]): JsonObject {
  return Object.fromEntries(layers.flatMap((layer) => Object.entries(layer)))
}

/** The arguments of a call in an API that knows only objects: a free-form text becomes the field `input`. */
export function toolInput(input: unknown): JsonObject {
  if (isObject(input)) return input
  return input === undefined || input === null ? {} : { input }
}

const shortest = 80
const mostPieces = 50

/**
 * A text as a model sends it: in several pieces, so that a stream can be cut in the middle, and never in so many that a
 * long text becomes slow. No character is torn.
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
