import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { anyCharacter } from '../../test/support/any-character.ts'
import { compilePattern, escapePattern, type Pattern } from './pattern.ts'

describe('compilePattern', () => {
  test('finds a match anywhere in the text', () => {
    expect(pattern('b+').test('aabbcc')).toBe(true)
    expect(pattern('^b').test('ab')).toBe(false)
  })

  test('returns numbered and named groups, undefined for an unmatched group', () => {
    const match = pattern('(?<verb>\\w+)(?: (--\\w+))?').exec('run list')
    expect(match).toEqual({
      index: 0,
      text: 'run',
      groups: ['run', undefined],
      named: { verb: 'run' },
    })
    expect(pattern('(?P<verb>\\w+)').exec('  go')?.named.verb).toBe('go')
  })

  test('returns every match in order', () => {
    expect(
      pattern('\\w(\\d)')
        .matchAll('a1 b2 c')
        .map(({ text, index }) => [text, index]),
    ).toEqual([
      ['a1', 0],
      ['b2', 3],
    ])
    expect(pattern('x').exec('abc')).toBeNull()
  })

  test('counts only capturing groups', () => {
    expect(pattern('(a)(?:b)(?<c>c)').groupCount).toBe(2)
  })

  test.each([
    ['(?i)ABC', 'xabc', true],
    ['^b$', 'a\nb', false],
    ['(?m)^b$', 'a\nb', true],
    ['a.b', 'a\nb', false],
    ['(?s)a.b', 'a\nb', true],
  ])('knows the inline flags of %s', (source, text, expected) => {
    expect(pattern(source).test(text)).toBe(expected)
  })

  test.each([
    ['\\u0041', 'A'],
    ['\\u{1F600}', '😀'],
    ['[\\u00e0-\\u00ff]', 'é'],
  ])('knows the escape %s of JavaScript', (source, text) => {
    expect(pattern(source).test(text)).toBe(true)
  })

  test('does not take an escaped backslash for the start of an escape', () => {
    expect(pattern('\\\\u0041').test('\\u0041')).toBe(true)
    expect(pattern('\\\\u0041').test('A')).toBe(false)
  })

  test.each(['a(?=b)', 'a(?!b)', '(?<=a)b', '(?<!a)b', '(a)\\1', '(?<n>a)\\k<n>', '(?>a)'])(
    'refuses %s and says that patterns run in linear time',
    (source) => {
      expect(compilePattern(source)).toMatchObject({
        kind: 'bad',
        message: expect.stringMatching(/./),
        hint: expect.stringContaining('linear time'),
      })
    },
  )

  test.each([
    ['(', 'missing closing )'],
    ['[z-a]', 'invalid character class range'],
    ['a**', 'nested repetition'],
    ['a{1001}', 'invalid repeat count'],
    ['('.repeat(5000) + ')'.repeat(5000), 'nests too deeply'],
  ])('reports what is wrong with a broken pattern', (source, message) => {
    const result = compilePattern(source)
    expect(result).toMatchObject({ kind: 'bad', message: expect.stringContaining(message) })
    expect(result).not.toHaveProperty('hint')
  })

  test('is fast on a pattern and a text that hang a backtracking engine', () => {
    expect(pattern('(a+)+$').test(`${'a'.repeat(100_000)}b`)).toBe(false)
    expect(pattern('(a+)+$').exec(`${'a'.repeat(100_000)}b`)).toBeNull()
  })

  test('gives the same result after more patterns than it caches', () => {
    for (let index = 0; index < 600; index += 1) expect(pattern(`x${index}$`).test(`x${index}`)).toBe(true)
    expect(pattern('x0$').test('x0')).toBe(true)
  })
})

test('an escaped text matches exactly itself', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), (text) => {
      expect(pattern(`^(?:${escapePattern(text)})$`).test(text)).toBe(true)
    }),
  )
})

test('any source at all is either a pattern or a message', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), fc.string(), (source, text) => {
      const result = compilePattern(source)
      if (result.kind === 'ok') expect(typeof result.pattern.test(text)).toBe('boolean')
      else expect(result.message).not.toBe('')
    }),
  )
})

function pattern(source: string): Pattern {
  const result = compilePattern(source)
  if (result.kind === 'bad') throw new Error(result.message)
  return result.pattern
}
