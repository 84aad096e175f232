import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compilePattern } from '../../core/pattern.ts'
import { pluginConfigSchema } from '../config/keys/schema.ts'
import { checkCustomPatterns } from './check-custom-patterns.ts'
import { scorePattern } from './score-pattern.ts'

const { sanitization } = pluginConfigSchema.parse({}).output
const instant = () => 0

const check = (pattern: string, more: Partial<typeof sanitization> = {}, now: () => number = instant) =>
  checkCustomPatterns(
    { ...sanitization, ...more, custom_patterns: [{ pattern, replacement: 'x' }] },
    now,
  ).map(({ text }) => text)

describe('the score', () => {
  test.each([
    ['\\bPROJ-\\d+\\b', 0],
    ['(?:foo|bar|\\d)*', 0],
    ['(?i)(?:foo|Fox)+', 10],
    ['[a-z]+@[a-z.]+', 0],
    ['(?:ab){2,5}', 0],
    ['(a+)+', 10],
    ['(a*)*', 10],
    ['(?:a{1,5})*', 10],
    ['(a+)?', 5],
    ['(a+){3}', 5],
    ['(a+b+)?', 10],
    ['(a+b+)*', 20],
    ['(?P<x>a|ab)*', 10],
    ['(\\w|\\d)+', 10],
    ['(a|)+', 10],
    ['(.|x)*', 10],
    ['([^a]|a)*', 0],
    ['((((a))))', 1],
    ['(((((a)))))', 2],
    ['\\(a+\\)+', 0],
    ['[(a+)+]', 0],
    ['(?:[\\]a]|b)+', 0],
    ['(?:\\x41|A)+', 10],
  ])('of %s is %d', (pattern, points) => {
    expect(compilePattern(pattern).kind).toBe('ok')
    expect(scorePattern(pattern).points).toBe(points)
  })

  test('is computed for every text, valid pattern or not', () => {
    const part = fc.constantFrom(
      '(',
      ')',
      '[',
      ']',
      '*',
      '+',
      '{2,}',
      '|',
      'a',
      '\\',
      '?',
      '^',
      '-',
      '(?i)',
      '😀',
    )
    fc.assert(
      fc.property(fc.array(part, { maxLength: 30 }), (parts) => {
        expect(scorePattern(parts.join('')).points).toBeGreaterThanOrEqual(0)
      }),
    )
  })
})

describe('a pattern', () => {
  test('that is safe, or that is acknowledged, passes', () => {
    expect(check('\\d{3}')).toEqual([])
    expect(check('(a+)+')).toEqual([expect.stringContaining('10 points, 7 are too many')])
    expect(check('(a+)+', { pattern_safety_acknowledged: true })).toEqual([])
  })

  test('of more than 500 characters is unsafe, unless it is acknowledged', () => {
    expect(check('a'.repeat(500))).toEqual([])
    expect(check('a'.repeat(501))).toEqual([expect.stringContaining('501 characters')])
    expect(check('a'.repeat(501), { pattern_safety_acknowledged: true })).toEqual([])
  })

  test('that is slow for a hard text is rejected, acknowledged or not', () => {
    let clock = 0
    const slow = () => (clock += 40)
    expect(check('abc', { pattern_fuzz_timeout_ms: 50 }, slow)).toEqual([])
    expect(check('abc', { pattern_fuzz_timeout_ms: 30, pattern_safety_acknowledged: true }, slow)).toEqual([
      expect.stringContaining('more than 30 ms for 2001 characters that begin with "aaaaaaaaaaaa"'),
    ])
  })

  test('is tested again before it counts as slow', () => {
    let calls = 0
    const once = () => {
      calls += 1
      return calls === 2 ? 1_000 : 0
    }
    expect(check('abc', {}, once)).toEqual([])
  })

  test('that does not compile is rejected with reason and hint', () => {
    expect(check('(?<!a)b')).toEqual([expect.stringMatching(/is invalid: .*linear time/)])
  })
})
