/** `executed` includes skipped tests, as in the frameworks' summaries. */
export interface TestCounts {
  readonly executed: number
  readonly skipped: number
  readonly failed: number
  /** The output shows only the tests that failed, so their number is not that of all tests. */
  readonly isPartial?: boolean
}

export const nothing: TestCounts = { executed: 0, skipped: 0, failed: 0 }

/** Counts of `3 passed, 1 failed` by the meaning of each word. Other words, such as warnings, do not count. */
export function countsByWord(
  text: string,
  meaning: { readonly failed: RegExp; readonly skipped: RegExp; readonly passed: RegExp },
): TestCounts {
  const counted = all(text, /(\d+) ([a-z]+)/g)
  const of = (word: RegExp): number => sumOf(counted.filter(([, , name = '']) => word.test(name)))
  const [failed, skipped, passed] = [of(meaning.failed), of(meaning.skipped), of(meaning.passed)]
  return { executed: failed + skipped + passed, skipped, failed }
}

/**
 * Several summaries of one framework are several packages, so their tests are added. Failures are taken from the last one only,
 * because tests of a test program may print summaries too.
 */
export function inAll(summaries: readonly TestCounts[]): TestCounts | null {
  const final = summaries.at(-1)
  if (final === undefined) return null
  const sum = (field: 'executed' | 'skipped'): number =>
    summaries.reduce((total, counts) => total + counts[field], 0)
  return { executed: sum('executed'), skipped: sum('skipped'), failed: final.failed }
}

export function all(text: string, pattern: RegExp): readonly RegExpMatchArray[] {
  return [...text.matchAll(pattern)]
}

export function sumOf(matches: readonly RegExpMatchArray[], group = 1): number {
  return matches.reduce((total, match) => total + Number(match[group] ?? 0), 0)
}

export function named(text: string, pattern: RegExp): number {
  return Number(pattern.exec(text)?.[1] ?? 0)
}
