import { namesSecret } from './find-named-values.ts'
import { marker } from './replace-spans.ts'

/** Deeper data is not a message of an agent; walking it would overflow the stack. */
const deepest = 200
const rememberedKeys = 1_000

/**
 * Every text in JSON-like data, keys included, redacted; texts under a key that names a secret go whole. What needs no
 * change is returned as it is, not copied.
 */
export function createValueRedactor(redact: (text: string) => string): <T>(value: T) => T {
  // Events repeat the same few keys: looking at each once saves most of the work.
  const plainKeys = new Set<string>()

  function isPlain(key: string): boolean {
    if (plainKeys.has(key)) return true
    if (key.length > 100 || namesSecret(key) || redact(key) !== key) return false
    if (plainKeys.size < rememberedKeys) plainKeys.add(key)
    return true
  }

  function redactEntry(key: string, item: unknown, depth: number): readonly [string, unknown] {
    if (isPlain(key)) return [key, walk(item, depth)]
    const hidden = typeof item === 'string' && item !== '' && namesSecret(key)
    return [redact(key), hidden ? marker : walk(item, depth)]
  }

  function walk<T>(value: T, depth: number): T
  function walk(value: unknown, depth: number): unknown {
    if (typeof value === 'string') return redact(value)
    if (typeof value !== 'object' || value === null) return value
    if (depth >= deepest) return marker
    if (Array.isArray(value)) {
      const items = value.map((item) => walk(item, depth + 1))
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
