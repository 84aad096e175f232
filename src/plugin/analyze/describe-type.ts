/** The type of a value in plain words, for messages. */
export function describeType(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  switch (typeof value) {
    case 'object':
      return 'an object'
    case 'string':
      return value === '' ? 'an empty text' : 'a text'
    case 'number':
      return 'a number'
    case 'boolean':
      return 'true or false'
    default:
      return 'nothing'
  }
}
