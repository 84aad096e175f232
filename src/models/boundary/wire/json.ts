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
