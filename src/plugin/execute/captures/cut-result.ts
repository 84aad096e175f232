const maxCharacters = 16_384

/** A result as it is, unless it is larger than any evidence needs to be: files are read by tools, and files have no limit. */
export function cutResult(result: unknown): unknown {
  const words = typeof result === 'string' ? result : JSON.stringify(result)
  if (words === undefined || words.length <= maxCharacters) return result
  return `${words.slice(0, maxCharacters)} [cut: ${words.length} characters]`
}
