/**
 * A word two names have in common, such as `deploy` in `deploy-app` and `deploy/staging`: a sign that both are made for the same
 * thing, and that their descriptions should say when to take which. Parts shorter than `minLength` say nothing.
 */
export function sharedNamePart(a: string, b: string, minLength: number): string | null {
  const parts = new Set(partsOf(a))
  return partsOf(b).find((part) => part.length >= minLength && parts.has(part)) ?? null
}

/** In the order of the name. */
function partsOf(name: string): readonly string[] {
  return name
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((part) => part !== '')
}
