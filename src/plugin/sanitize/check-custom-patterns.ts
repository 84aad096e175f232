import { compilePattern, type Pattern } from '../../core/pattern.ts'
import type { PluginConfig } from '../config/keys/schema.ts'
import { canBeEmpty, firstOf, type PatternNode, patternShape, type Sequence } from './pattern-shape.ts'

export type Sanitization = PluginConfig['output']['sanitization']

/**
 * The problem of each pattern that does not compile, is unsafe in any engine, or is slow in ours, with its index. Acknowledged patterns
 * skip the safety check.
 */
export function checkCustomPatterns(
  { custom_patterns, pattern_safety_acknowledged, pattern_fuzz_timeout_ms }: Sanitization,
  now?: FuzzOptions['now'],
) {
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
    return `the pattern is unsafe: ${unsafe}; simplify it, or set pattern_safety_acknowledged if you trust it`
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
  /** CPU time used so far, in milliseconds; replaced in tests. The time of day would blame a pattern for a busy machine. */
  readonly now?: () => number
}

const length = 2_000
/** The first run also compiles, and a run may include garbage collection. */
const tries = 3

/**
 * Tries a pattern on texts that are known to be hard. Returns the first that takes longer than the timeout, or null. Time is
 * linear in our engine, so this finds large patterns, not endless ones.
 */
function fuzzPattern(pattern: Pattern, { timeoutMs, now = threadCpuMs }: FuzzOptions): string | null {
  return hardTexts(pattern.source).find((text) => !isQuick(pattern, text, timeoutMs, now)) ?? null
}

function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
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

/** From this many points a pattern counts as unsafe. */
export const unsafePoints = 7
/** Longer patterns are refused. */
export const longestPattern = 500

const deepest = 3

/**
 * How dangerous a pattern would be in an engine that backtracks, and why. Ten points for each repetition inside an unbounded one and for each repeated choice whose alternatives can begin with the same
 * character, five for each unbounded repetition inside a group with a bounded quantifier, one for each level of groups beyond the
 * third.
 */
export function scorePattern(source: string) {
  const found: PatternFinding[] = []
  const depth = visit(patternShape(source), 'none', found)
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
