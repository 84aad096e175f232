import type { ContentWord } from './content-words.ts'

/**
 * Runs of at least two words that two texts have in common, the longest first, in the words of the first text; single words where
 * there are no runs.
 */
export function sharedRuns(
  a: readonly ContentWord[],
  b: readonly ContentWord[],
  most: number,
): readonly string[] {
  const places = new Map<string, number[]>()
  for (const [index, { stem }] of b.entries()) places.set(stem, [...(places.get(stem) ?? []), index])
  const runs: (readonly ContentWord[])[] = []
  let before = new Map<number, number>()
  for (const [index, { stem }] of a.entries()) {
    const lengths = new Map<number, number>()
    for (const at of places.get(stem) ?? []) {
      const length = (before.get(at - 1) ?? 0) + 1
      lengths.set(at, length)
      const goesOn = a[index + 1] !== undefined && a[index + 1]?.stem === b[at + 1]?.stem
      if (length > 1 && !goesOn) runs.push(a.slice(index - length + 1, index + 1))
    }
    before = lengths
  }
  const texts = runs
    .toSorted((x, y) => y.length - x.length)
    .map((run) => run.map(({ word }) => word).join(' '))
  const kept = texts.filter((text, index) => !texts.slice(0, index).some((longer) => longer.includes(text)))
  const single = a.filter(({ stem }) => places.has(stem)).map(({ word }) => word)
  return (kept.length > 0 ? kept : [...new Set(single)]).slice(0, most)
}
