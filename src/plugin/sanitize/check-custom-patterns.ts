import { compilePattern } from '../../core/pattern.ts'
import type { PluginConfig } from '../config/keys/schema.ts'
import { type FuzzOptions, fuzzPattern } from './fuzz-pattern.ts'
import { longestPattern, scorePattern, unsafePoints } from './score-pattern.ts'

export type Sanitization = PluginConfig['output']['sanitization']

export interface PatternProblem {
  /** In `custom_patterns`. */
  readonly index: number
  readonly text: string
}

/** Does each pattern compile, would it be safe in any engine, is it quick in ours? Acknowledged patterns skip the second question. */
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
