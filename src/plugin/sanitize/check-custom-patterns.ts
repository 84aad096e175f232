import { compilePattern, type Pattern } from '../../core/pattern.ts'
import type { PluginConfig } from '../config/keys/schema.ts'
import { canBeEmpty, firstOf, type PatternNode, patternShape, type Sequence } from './pattern-shape.ts'

export type Sanitization = PluginConfig['output']['sanitization']

export interface PatternProblem {
  /** In `custom_patterns`. */
  readonly index: number
  readonly text: string
}

/** Checks that each pattern compiles, is safe in any engine, and is fast in ours. Acknowledged patterns skip the safety check. */
export function checkCustomPatterns(
  { custom_patterns, pattern_safety_acknowledged, pattern_fuzz_timeout_ms }: Sanitization,
  now?: FuzzOptions['now'],
): readonly PatternProblem[] {
  const fuzz = { timeoutMs: pattern_fuzz_timeout_ms, ...(now !== undefined && { now }) }
  return custom_patterns.flatMap(({ pattern }, index) => {
    const text = problemOf(pattern, pattern_safety_acknowledged, fuzz)
    return text === null ? [] : [{ index, text }]
  })
}

function problemOf(source: string, isAcknowledged: boolean, fuzz: FuzzOptions): string | null {
  const compiled = compilePattern(source)
  if (compiled.kind === 'bad')
    return `the pattern is invalid: ${compiled.message}${compiled.hint === undefined ? '' : `. ${compiled.hint}`}`
  const unsafe = isAcknowledged ? null : whyUnsafe(source)
  if (unsafe !== null)
    return `the pattern is unsafe: ${unsafe}; write it in a simpler way, or set pattern_safety_acknowledged when you trust it`
  const slow = fuzzPattern(compiled.pattern, fuzz)
  if (slow === null) return null
  return `the pattern is slow: more than ${fuzz.timeoutMs} ms for ${slow.length} characters that begin with ${JSON.stringify(slow.slice(0, 12))}; make it smaller, or raise pattern_fuzz_timeout_ms`
}

function whyUnsafe(source: string): string | null {
  if (source.length > longestPattern) return `it has ${source.length} characters, more than ${longestPattern}`
  const { points, reasons } = scorePattern(source)
  return points < unsafePoints
    ? null
    : `${reasons.join('; ')} (${points} points, ${unsafePoints} are too many)`
}

interface FuzzOptions {
  readonly timeoutMs: number
  /** The clock in milliseconds; replaced in tests. */
  readonly now?: () => number
}

const length = 2_000
/** A busy machine must not make a good pattern look slow. */
const tries = 3

/**
 * Tries a pattern on texts that are known to be hard. Returns the first that takes longer than the timeout, or null. Time is
 * linear in our engine, so this finds large patterns, not endless ones.
 */
function fuzzPattern(
  pattern: Pattern,
  { timeoutMs, now = () => performance.now() }: FuzzOptions,
): string | null {
  return hardTexts(pattern.source).find((text) => !isQuick(pattern, text, timeoutMs, now)) ?? null
}

function isQuick(pattern: Pattern, text: string, timeoutMs: number, now: () => number): boolean {
  for (let round = 0; round < tries; round++) {
    const start = now()
    pattern.matchAll(text)
    if (now() - start <= timeoutMs) return true
  }
  return false
}

/** Each ends with a character that most patterns do not match, so that every alternative is tried. */
function hardTexts(source: string): readonly string[] {
  const own = source.replaceAll(/[^A-Za-z0-9@._ -]/g, '') || 'x'
  return [
    `${'a'.repeat(length)}!`,
    `${'0'.repeat(length)}x`,
    `${' \t'.repeat(length / 2)}!`,
    `${'a.b@'.repeat(length / 4)}\u0000`,
    `${own.repeat(Math.ceil(length / own.length)).slice(0, length)}!`,
  ]
}

/** How dangerous a pattern would be in an engine that backtracks, and why. */
interface PatternScore {
  readonly points: number
  readonly reasons: readonly string[]
}

/** From this many points a pattern counts as unsafe. */
export const unsafePoints = 7
/** Longer patterns are refused. */
export const longestPattern = 500

const deepest = 3

/**
 * Ten points for each repetition inside an unbounded one and for each repeated choice whose alternatives begin alike, five for
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

/** How the current position is repeated. */
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
