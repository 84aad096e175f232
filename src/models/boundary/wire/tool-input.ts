import { isJson, type Json } from './json.ts'

/** The arguments of a call in an API that knows only objects: a free-form text becomes the field `input`. */
export function toolInput(input: unknown): Json {
  if (isJson(input)) return input
  return input === undefined || input === null ? {} : { input }
}
