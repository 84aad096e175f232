const collator = new Intl.Collator('en')

/** The order in which Claude Code loads files of the same kind. */
export function byCollation(a: string, b: string): number {
  return collator.compare(a, b) || (a < b ? -1 : a > b ? 1 : 0)
}
