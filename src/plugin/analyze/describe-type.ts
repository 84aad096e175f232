/** The type of a value in plain words, for messages. */
export function describeType(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  if (value === '') return 'an empty text'
  return words[typeof value] ?? 'nothing'
}

const words: Readonly<Record<string, string>> = {
  object: 'an object',
  string: 'a text',
  number: 'a number',
  boolean: 'true or false',
}
