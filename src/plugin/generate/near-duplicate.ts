import { normalText } from '../../core/normal-text.ts'

/** Similarity from which two messages count as duplicates. */
const limits = { sameIdea: 0.9, otherIdea: 0.75 }

const filler = new Set(
  'a an the please can could would will you i me my we our us to for of in on at and or is are be this that it just some with'.split(
    ' ',
  ),
)

export interface PromptVariation {
  readonly prompt: string
  /** The idea it is a variation of. */
  readonly base: string
}

/** Whether two messages are nearly the same. Variations of one idea may be more alike than messages of two ideas. */
export function isNearDuplicate(a: PromptVariation, b: PromptVariation): boolean {
  const [first, second] = [normalText(a.prompt), normalText(b.prompt)]
  if (first === second) return true
  const [words, others] = [contentWords(first), contentWords(second)]
  if (words.size > 0 && words.size === others.size && words.isSubsetOf(others)) return true
  return likeness(first, second) >= (a.base === b.base ? limits.sameIdea : limits.otherIdea)
}

/** The share of runs of three letters that two normal texts have in common; needs no words, so it works in every script. */
function likeness(a: string, b: string): number {
  const [first, second] = [trigrams(a), trigrams(b)]
  const shared = first.intersection(second).size
  return shared / Math.max(1, first.size + second.size - shared)
}

function trigrams(text: string): Set<string> {
  const padded = ` ${text} `
  return new Set(Array.from({ length: Math.max(1, padded.length - 2) }, (_, at) => padded.slice(at, at + 3)))
}

function contentWords(text: string): Set<string> {
  return new Set(text.split(' ').filter((word) => word !== '' && !filler.has(word)))
}
