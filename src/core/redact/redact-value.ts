import { namesSecret } from './find-named-values.ts'
import { marker } from './replace-spans.ts'

/** Deeper data is no message of any agent; walking it would end our own stack. */
const deepest = 200

/**
 * Every text in JSON-like data, keys included, redacted; texts under a key that names a secret go whole. What needs no
 * change is returned as it is, not copied.
 */
export function redactValue<T>(value: T, redact: (text: string) => string, depth?: number): T
export function redactValue(value: unknown, redact: (text: string) => string, depth = 0): unknown {
  if (typeof value === 'string') return redact(value)
  if (typeof value !== 'object' || value === null) return value
  if (depth >= deepest) return marker
  if (Array.isArray(value)) {
    const items = value.map((item) => redactValue(item, redact, depth + 1))
    return items.every((item, index) => item === value[index]) ? value : items
  }
  const before = Object.entries(value)
  const after = before.map(([key, item]) => [redact(key), entryValue(key, item)] as const)
  const same = after.every(([key, item], index) => key === before[index]?.[0] && item === before[index]?.[1])
  return same ? value : Object.fromEntries(after)

  function entryValue(key: string, item: unknown): unknown {
    if (typeof item === 'string' && item !== '' && namesSecret(key)) return marker
    return redactValue(item, redact, depth + 1)
  }
}
