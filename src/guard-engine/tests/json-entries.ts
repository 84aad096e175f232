/** The keys of a JSON object; none of what is no object. */
export function jsonEntries(json: string | null): ReadonlyMap<string, unknown> {
  try {
    const parsed: unknown = JSON.parse(json ?? '{}')
    return new Map(Object.entries(typeof parsed === 'object' && parsed !== null ? parsed : {}))
  } catch {
    return new Map()
  }
}
