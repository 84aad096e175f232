/** A longer one is no hint. */
export const longestHint = 1_000

/** What a person may give: the names in `[x]` and `<x>`, in the order of the hint. */
export function hintArguments(hint: string): readonly string[] {
  const found: string[] = []
  let depth = 0
  let current = ''
  for (const char of hint) {
    const isOpening = char === '[' || char === '<'
    const isClosing = char === ']' || char === '>'
    if (isClosing && depth === 1) {
      found.push(current.trim())
      current = ''
    } else if (depth > 0) current += char
    if (isOpening) depth += 1
    if (isClosing) depth = Math.max(0, depth - 1)
  }
  return found.filter((name) => name !== '')
}

/** The hint as its author meant it. YAML takes `[a]` for a list of one word. */
export function readHint(value: unknown): string | null {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (typeof value === 'string') return value.trim() === '' ? null : value.trim()
  if (!Array.isArray(value)) return null
  const words = value.filter((item) => ['string', 'number'].includes(typeof item)).map(String)
  return words.length === 0 ? null : words.map((word) => `[${word}]`).join(' ')
}
