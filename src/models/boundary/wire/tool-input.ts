import { isObject, type JsonObject } from '../../../core/json-fields.ts'

/** The arguments of a call in an API that knows only objects: a free-form text becomes the field `input`. */
export function toolInput(input: unknown): JsonObject {
  if (isObject(input)) return input
  return input === undefined || input === null ? {} : { input }
}
