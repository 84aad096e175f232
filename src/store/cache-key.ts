import { sha256 } from '../io/sha256.ts'

/**
 * Name of a cache entry: SHA-256 over the parts as canonical JSON, so that the order of keys does not matter and any
 * changed value does. A key whose value is undefined counts as absent. Throws TypeError for what JSON cannot tell apart
 * (NaN, functions, Maps …): a key that ignored such a part would answer with a stale record.
 */
export function cacheKey(parts: Readonly<Record<string, unknown>>): string {
  return sha256(canonicalJson(parts))
}

function canonicalJson(value: unknown): string {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return JSON.stringify(value)
  if (typeof value === 'number') return canonicalNumber(value)
  if (Array.isArray(value)) return `[${Array.from(value, canonicalJson).join(',')}]`
  if (isPlainObject(value)) return canonicalObject(value)
  throw new TypeError(`a cache key cannot hold ${describe(value)}`)
}

function canonicalNumber(value: number): string {
  if (!Number.isFinite(value)) throw new TypeError(`a cache key cannot hold ${value}`)
  return JSON.stringify(value)
}

function canonicalObject(value: Readonly<Record<string, unknown>>): string {
  const members = Object.keys(value)
    .filter((key) => value[key] !== undefined)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key])}`)
  return `{${members.join(',')}}`
}

function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

function describe(value: unknown): string {
  return typeof value === 'object' ? 'an object of a class' : `a value of type ${typeof value}`
}
