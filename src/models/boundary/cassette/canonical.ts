const known = new WeakMap<object, string>()

/** JSON of a normal value, made once per object. Normal values have their keys in order, so equal ones have equal JSON. */
export function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const text = known.get(value) ?? JSON.stringify(value)
  known.set(value, text)
  return text
}
