import { type ContentWord, contentWords } from './content-words.ts'
import { sharedRuns } from './shared-runs.ts'

/** Something a model chooses by what it says of itself. */
export interface Described {
  readonly id: string
  readonly description: string
}

export interface Overlap {
  readonly ids: readonly [string, string]
  /** From 0 to 1: the share of their words that two descriptions have in common. */
  readonly similarity: number
  /** What they have in common, in the words of the first. */
  readonly shared: readonly string[]
}

/** From here on two descriptions say nearly the same. */
const leastSimilarity = 0.6
const leastShared = 3
const mostTold = 5
/** Where everything says the same, nobody reads every pair of it. */
const mostPairs = 100
/** More than any plugins have together; every pair of them is compared. */
const mostCompared = 1_000
/** A longer description says more than when to use it. */
const mostCharacters = 2_000

/**
 * Pairs of components whose descriptions say nearly the same, by words alone. Only pairs in which `isOwn` holds for one: how other
 * plugins compare with each other is not asked.
 */
export function findOverlaps(
  described: readonly Described[],
  isOwn: (id: string) => boolean,
): readonly Overlap[] {
  const texts = described.slice(0, mostCompared).map(({ id, description }): Text => {
    const words = contentWords(withoutExamples(description).slice(0, mostCharacters))
    return { id, words, set: new Set(words.map(({ stem }) => stem)), isOwn: isOwn(id) }
  })
  const found: { readonly a: Text; readonly b: Text; readonly similarity: number }[] = []
  const having = new Map<string, Text[]>()
  for (const b of texts) {
    const common = new Map<Text, number>()
    for (const stem of b.set) {
      const before = having.get(stem) ?? []
      for (const a of before) common.set(a, (common.get(a) ?? 0) + 1)
      having.set(stem, before)
      before.push(b)
    }
    for (const [a, count] of common) {
      const similarity = count / Math.sqrt(a.set.size * b.set.size)
      const isClose = count >= leastShared && similarity >= leastSimilarity
      if (isClose && (a.isOwn || b.isOwn)) found.push({ a, b, similarity })
    }
  }
  return found
    .sort(
      (x, y) =>
        y.similarity - x.similarity ||
        texts.indexOf(x.a) - texts.indexOf(y.a) ||
        texts.indexOf(x.b) - texts.indexOf(y.b),
    )
    .slice(0, mostPairs)
    .map(({ a, b, similarity }) => ({
      ids: [a.id, b.id],
      similarity,
      shared: sharedRuns(a.words, b.words, mostTold),
    }))
}

interface Text {
  readonly id: string
  readonly words: readonly ContentWord[]
  readonly set: ReadonlySet<string>
  readonly isOwn: boolean
}

function withoutExamples(text: string): string {
  const at = text.toLowerCase().indexOf('<example>')
  return at === -1 ? text : text.slice(0, at)
}
