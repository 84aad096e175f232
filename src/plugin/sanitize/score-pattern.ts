import { compilePattern } from '../../core/pattern.ts'

/** From this many points a pattern counts as unsafe. */
export const unsafePoints = 7
/** Longer patterns are refused. */
export const longestPattern = 500

const deepest = 3

/**
 * How dangerous a pattern would be in an engine that backtracks, and why. Ten points for each repetition inside an unbounded one and
 * for each repeated choice whose alternatives can begin with the same character, five for each unbounded repetition inside a group
 * with a bounded quantifier, one for each level of groups beyond the third.
 */
export function scorePattern(source: string) {
  const found: PatternFinding[] = []
  const shape = readAlternatives({ source, at: 0, flags: /\(\?[a-zA-Z]*i/.test(source) ? '(?is)' : '(?s)' })
  const depth = visit(shape, 'none', found)
  if (depth > deepest) found.push({ points: depth - deepest, reason: `groups are nested ${depth} deep` })
  return {
    points: found.reduce((sum, { points }) => sum + points, 0),
    reasons: [...new Set(found.map(({ reason }) => reason))],
  }
}

type PatternFinding = { readonly points: number; readonly reason: string }

/** How the current position is repeated. */
type Around = 'none' | 'bounded' | 'unbounded'

function visit(alternatives: readonly Sequence[], around: Around, found: PatternFinding[]): number {
  return Math.max(0, ...alternatives.flat().map((node) => visitNode(node, around, found)))
}

function visitNode(node: PatternNode, around: Around, found: PatternFinding[]): number {
  if (node.kind === 'empty') return 0
  const { min, max } = node.repeat
  if (around === 'unbounded' && max > 1 && max !== min)
    found.push({ points: 10, reason: 'a repetition is inside an unbounded one' })
  if (around === 'bounded' && max === Infinity)
    found.push({ points: 5, reason: 'an unbounded repetition is inside a group with a quantifier' })
  if (node.kind === 'character') return 0
  const isQuantified = min !== 1 || max !== 1
  const inside = max === Infinity || around === 'unbounded' ? 'unbounded' : isQuantified ? 'bounded' : around
  if ((max > 1 || around === 'unbounded') && overlaps(node.alternatives))
    found.push({ points: 10, reason: 'alternatives under a repetition begin alike' })
  return 1 + visit(node.alternatives, inside, found)
}

/** Every character of ASCII, and one for all others. */
const samples = [...Array.from({ length: 128 }, (_, code) => String.fromCharCode(code)), 'é']

function overlaps(alternatives: readonly Sequence[]): boolean {
  if (alternatives.length < 2) return false
  if (alternatives.some((sequence) => sequence.every(canBeEmpty))) return true
  const starts = alternatives.map((sequence) => firstOf(sequence).map(compilePattern))
  return samples.some((sample) => starts.filter((first) => first.some(fits(sample))).length > 1)
}

function fits(sample: string): (compiled: ReturnType<typeof compilePattern>) => boolean {
  return (compiled) => compiled.kind === 'bad' || compiled.pattern.test(sample)
}

function canBeEmpty(node: PatternNode): boolean {
  if (node.kind === 'empty' || node.repeat.min === 0) return true
  return node.kind === 'group' && node.alternatives.some((sequence) => sequence.every(canBeEmpty))
}

/** Patterns for the characters with which the sequence can begin. */
function firstOf(sequence: Sequence): readonly string[] {
  const end = sequence.findIndex((node) => !canBeEmpty(node))
  return sequence.slice(0, end === -1 ? sequence.length : end + 1).flatMap((node) => {
    if (node.kind === 'empty') return []
    return node.kind === 'character' ? [node.source] : node.alternatives.flatMap(firstOf)
  })
}

/** The repetitions and choices of a pattern: enough to predict how a backtracking engine would behave. */
type PatternNode =
  | { readonly kind: 'character'; readonly source: string; readonly repeat: Repeat }
  /** Consumes no text: an anchor, a boundary, flags. */
  | { readonly kind: 'empty' }
  | { readonly kind: 'group'; readonly alternatives: readonly Sequence[]; readonly repeat: Repeat }

type Sequence = readonly PatternNode[]

interface Repeat {
  readonly min: number
  readonly max: number
}

interface Cursor {
  readonly source: string
  /** Those with which a single character is tried. */
  readonly flags: string
  at: number
}

function readAlternatives(cursor: Cursor): readonly Sequence[] {
  const alternatives: PatternNode[][] = [[]]
  while (cursor.at < cursor.source.length && cursor.source[cursor.at] !== ')') {
    if (take(cursor, /^\|/) !== null) alternatives.push([])
    else alternatives.at(-1)?.push(readNode(cursor))
  }
  return alternatives
}

function readNode(cursor: Cursor): PatternNode {
  // An anchor, a boundary, flags.
  if (take(cursor, /^(?:[$^]|\\[bBAz]|\(\?[a-zA-Z-]*\))/) !== null) return { kind: 'empty' }
  if (take(cursor, /^\((?:\?(?:P?<[^>]*>|[a-zA-Z-]*:))?/) !== null) {
    const alternatives = readAlternatives(cursor)
    cursor.at += 1
    return { kind: 'group', alternatives, repeat: readRepeat(cursor) }
  }
  const [character = ''] = take(cursor, oneCharacter) ?? []
  return { kind: 'character', source: cursor.flags + character, repeat: readRepeat(cursor) }
}

/** A class, an escape, or the character itself. */
const oneCharacter = /^(?:\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]])*\]?|\\(?:[pPxu]\{[^}]*\}|x..|u....|.)|.)/su

function readRepeat(cursor: Cursor): Repeat {
  const found = take(cursor, /^(?:([*+?])|\{(\d+)(?:(,)(\d*))?\})[?+]?/)
  if (found === null) return { min: 1, max: 1 }
  const [, sign, least, comma, most] = found
  if (sign === '*') return { min: 0, max: Infinity }
  if (sign === '+') return { min: 1, max: Infinity }
  if (sign === '?') return { min: 0, max: 1 }
  const min = Number(least)
  return { min, max: comma === undefined ? min : most === '' ? Infinity : Number(most) }
}

/** Moves behind what has this shape here; null when nothing has. */
function take(cursor: Cursor, shape: RegExp): RegExpExecArray | null {
  const found = shape.exec(cursor.source.slice(cursor.at))
  cursor.at += found?.[0].length ?? 0
  return found
}
