import { flagNamesSecret, namesSecret } from './find-named-values.ts'
import { marker } from './replace-spans.ts'

/** Deeper data is not an agent's message, and walking it would overflow the stack. */
const deepest = 200
const remembered = 1_000
const shortText = 100

/**
 * Redacts every text in JSON-like data, including keys. Texts under a key that names a secret are hidden completely. Unchanged parts
 * are not copied.
 */
export function createValueRedactor(redact: (text: string) => string): <T>(value: T) => T {
  // Events repeat the same few keys and short values: looking at each once saves most of the work.
  const plainKeys = new Set<string>()
  const plainTexts = new Set<string>()

  function isPlain(key: string): boolean {
    if (plainKeys.has(key)) return true
    if (key.length > shortText || namesSecret(key) || redact(key) !== key) return false
    if (plainKeys.size < remembered) plainKeys.add(key)
    return true
  }

  function redactValue(text: string): string {
    if (plainTexts.has(text)) return text
    const redacted = redact(text)
    if (redacted === text && text.length <= shortText && plainTexts.size < remembered) plainTexts.add(text)
    return redacted
  }

  function redactEntry(key: string, item: unknown, depth: number): readonly [string, unknown] {
    if (isPlain(key)) return [key, walk(item, depth)]
    return [redact(key), namesSecret(key) ? hidden(item, depth) : walk(item, depth)]
  }

  /** The value of a key that names a secret. A number is hidden only if it is long: `token: 5` is a count. */
  function hidden(item: unknown, depth: number): unknown {
    if (typeof item === 'string') return item === '' ? item : marker
    if (typeof item === 'number') return Math.abs(item) < 100_000 ? item : marker
    if (Array.isArray(item) && depth < deepest) return item.map((each) => hidden(each, depth + 1))
    return walk(item, depth)
  }

  function walk<T>(value: T, depth: number): T
  function walk(value: unknown, depth: number): unknown {
    if (typeof value === 'string') return redactValue(value)
    if (typeof value !== 'object' || value === null) return value
    if (depth >= deepest) return marker
    if (Array.isArray(value)) {
      const items = value.map((item, index) => {
        const flag: unknown = value[index - 1]
        const isSecret = typeof flag === 'string' && typeof item === 'string' && flagNamesSecret(flag)
        return isSecret && !item.startsWith('-') ? marker : walk(item, depth + 1)
      })
      return items.every((item, index) => item === value[index]) ? value : items
    }
    const before = Object.entries(value)
    const after = before.map(([key, item]) => redactEntry(key, item, depth + 1))
    const same = after.every(
      ([key, item], index) => key === before[index]?.[0] && Object.is(item, before[index]?.[1]),
    )
    return same ? value : Object.fromEntries(after)
  }

  return (value) => walk(value, 0)
}
