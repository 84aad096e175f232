/** Directories of the trial a script may name without knowing them. */
export interface Places {
  readonly workspace?: string
  readonly home?: string
  readonly tmp?: string
}

/**
 * The same value with `{workspace}`, `{home}` and `{tmp}` replaced in every string of it. A place that is not known stays as
 * written, as does everything else in braces; keys of objects are left alone.
 */
export function fillPlaces<T>(value: T, places: Places): T {
  // Strings become strings and nothing else changes, so the shape is that of the argument.
  return fill(value, places) as T
}

function fill(value: unknown, places: Places): unknown {
  if (typeof value === 'string') return fillText(value, places)
  if (Array.isArray(value)) return value.map((item) => fill(item, places))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, fill(field, places)]))
}

function fillText(text: string, places: Places): string {
  return text.replaceAll(/\{(workspace|home|tmp)\}/g, (whole, name: keyof Places) => places[name] ?? whole)
}
