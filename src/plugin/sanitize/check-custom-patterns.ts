import { compilePattern, type Pattern } from '../../core/pattern.ts'
import type { PluginConfig } from '../config/keys/schema.ts'
import { longestPattern, scorePattern, unsafePoints } from './score-pattern.ts'

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
