/** What a global pattern captures at each place of a text: the first group that has something. */
export function captures(text: string, pattern: RegExp): readonly string[] {
  return [...text.matchAll(pattern)].map((found) => found.slice(1).find(Boolean) ?? '')
}
