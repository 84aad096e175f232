import { canBeEmpty, firstOf, type PatternNode, patternShape, type Sequence } from './pattern-shape.ts'

/** How dangerous a pattern would be in an engine that backtracks, and why. */
export interface PatternScore {
  readonly points: number
  readonly reasons: readonly string[]
}

/** From here on a pattern counts as unsafe. */
export const unsafePoints = 7
/** A longer one is not even looked at. */
export const longestPattern = 500

const deepest = 3

/**
 * Ten points for each repetition inside an unbounded one and for each choice under a repetition whose ways begin alike, five for
 * each unbounded repetition inside a group with a bounded quantifier, one for each level of groups beyond the third.
 */
export function scorePattern(source: string): PatternScore {
  const found: Finding[] = []
  const depth = visit(patternShape(source), 'none', found)
  if (depth > deepest) found.push({ points: depth - deepest, reason: `groups are nested ${depth} deep` })
  return {
    points: found.reduce((sum, { points }) => sum + points, 0),
    reasons: [...new Set(found.map(({ reason }) => reason))],
  }
}

interface Finding {
  readonly points: number
  readonly reason: string
}

/** What repeats the place one is at. */
type Around = 'none' | 'bounded' | 'unbounded'

function visit(alternatives: readonly Sequence[], around: Around, found: Finding[]): number {
  return Math.max(0, ...alternatives.flat().map((node) => visitNode(node, around, found)))
}

function visitNode(node: PatternNode, around: Around, found: Finding[]): number {
  if (node.kind === 'empty') return 0
  const { min, max } = node.repeat
  if (around === 'unbounded' && max > 1 && max !== min)
    found.push({ points: 10, reason: 'a repetition stands inside an unbounded one' })
  if (around === 'bounded' && max === Infinity)
    found.push({ points: 5, reason: 'an unbounded repetition stands inside a group with a quantifier' })
  if (node.kind === 'character') return 0
  const isQuantified = min !== 1 || max !== 1
  const inside = max === Infinity || around === 'unbounded' ? 'unbounded' : isQuantified ? 'bounded' : around
  if ((max > 1 || around === 'unbounded') && overlaps(node.alternatives))
    found.push({ points: 10, reason: 'ways of a choice under a repetition begin alike' })
  return 1 + visit(node.alternatives, inside, found)
}

function overlaps(alternatives: readonly Sequence[]): boolean {
  if (alternatives.length < 2) return false
  if (alternatives.some((sequence) => sequence.every(canBeEmpty))) return true
  const seen = new Set<number>()
  return alternatives.some((sequence) => {
    const first = [...firstOf(sequence)]
    const meets = first.some((code) => seen.has(code))
    for (const code of first) seen.add(code)
    return meets
  })
}
