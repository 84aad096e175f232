import { isObject } from '../../core/json-fields.ts'
export type Settings = { readonly [key: string]: unknown }

/** One settings file out of two: where both have an object they are merged, else the second wins. */
export function mergeSettings(first: Settings, second: Settings): Settings {
  const merged = new Map(Object.entries(first))
  for (const [key, value] of Object.entries(second)) {
    const before = merged.get(key)
    merged.set(key, isObject(before) && isObject(value) ? mergeSettings(before, value) : value)
  }
  return Object.fromEntries(merged)
}
