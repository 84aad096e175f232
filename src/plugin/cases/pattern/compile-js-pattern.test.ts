import { expect, test } from 'vitest'
import { compileJsPattern } from './compile-js-pattern.ts'

const compiled = (source: string, flags = '') => {
  const made = compileJsPattern(source, flags)
  if (made.kind === 'bad') throw new Error(made.message)
  return made.pattern
}

/** Every pattern must match every text as in JavaScript. */
const patterns: readonly [string, string?][] = [
  ['ok'],
  ['OK', 'i'],
  ['^b', 'm'],
  ['^b'],
  ['a$', 'm'],
  ['a$'],
  ['a.b'],
  ['a.b', 's'],
  ['[^]'],
  ['a[^]b'],
  ['[]'],
  ['a[\\s\\S]b'],
  ['\\s'],
  ['\\S+', 'g'],
  ['[\\s,]+'],
  ['[^\\s]'],
  ['\\bword\\b'],
  ['[\\b]'],
  ['"skill"\\s*:\\s*"(?:[\\w-]+:)?greet"'],
  ['^\\{"file_path":"sub'],
  ['{"a"'],
  ['a{2}'],
  ['a{2,}'],
  ['x{,3}'],
  ['(?<year>\\d{4})-\\d\\d'],
  ['\\x41\\u0042'],
  ['\\u{43}', 'u'],
  ['\\u{1F600}', 'u'],
  ['\\p{Lu}', 'u'],
  ['\\p{Script=Greek}', 'u'],
  ['\\cJ'],
  ['\\0'],
  ['\\e\\A\\z\\Q'],
  ['\\_\\-\\"\\/'],
  ['[[:alpha:]]'],
  ['[a\\]b]'],
  ['[\\^x]'],
  ['é'],
  ['done', 'y'],
  ['ok', 'y'],
  ['a', 'g'],
  ['a', 'gy'],
  ['.', 'd'],
]
const texts = [
  '',
  'ok done',
  'OK',
  'a\nb',
  'a\r\nb',
  'a\u2028b',
  'aab aa',
  'a b',
  'a,\u00a0b',
  'word wording',
  'x\by',
  '{"skill": "demo:greet"}',
  '{"file_path":"sub/out.txt"}',
  '{"a":1}',
  '2026-11-15',
  'ABC',
  'eAzQ',
  '_-"/',
  ':]',
  'a]b^x',
  'café Ω 😀',
  '\0',
  'x{,3}',
  '[',
]

test.each(patterns)('%s %s matches as in JavaScript', (source, flags = '') => {
  const pattern = compiled(source, flags)
  for (const text of texts) {
    // Without the flag u JavaScript counts UTF-16 units.
    if (/[\ud800-\udfff]/.test(text) && !flags.includes('u')) continue
    const found = [...text.matchAll(new RegExp(source, [...new Set(`${flags}g`)].join('')))]
    expect([text, pattern.test(text)]).toEqual([text, new RegExp(source, flags).test(text)])
    expect([text, pattern.count(text)]).toEqual([text, found.length])
  }
})

test.each([
  ['(?=x)', '', 'lookaround (?=…)'],
  ['glab (?!list)', '', 'lookaround (?!…)'],
  ['(?<=ok )done', '', 'lookaround (?<=…)'],
  ['(?<!a)b', '', 'lookaround (?<!…)'],
  ['(o)k.*\\1', '', 'backreference'],
  ['(?<a>o)\\k<a>', '', 'backreference'],
  ['(?i)ok', '', 'invalid JavaScript pattern'],
  ['(?i:ok)', '', 'flag inside'],
  ['(ok', '', 'invalid JavaScript pattern'],
  ['ok', 'ii', 'flags'],
  ['\\p{L}', '', 'flag u'],
  ['\\u{41}', '', 'flag u'],
  ['\\ud83d', '', 'half of a surrogate pair'],
  ['[[a-z]--[b]]', 'v', 'set within a set'],
  ['a{1,2000}', '', 'cannot be used here'],
])('%s is rejected with a message', (source, flags, words) => {
  expect(compileJsPattern(source, flags)).toMatchObject({
    kind: 'bad',
    message: expect.stringContaining(words),
  })
})

test('a character outside the BMP counts as one', () => {
  expect(compiled('.').count('a😀')).toBe(2)
  expect(compiled('\\ud83d\\ude00').test('😀')).toBe(true)
})

test('a pattern with catastrophic backtracking ends at once', () => {
  const text = `${'a'.repeat(50_000)}!`
  expect(compiled('^(a+)+$').test(text)).toBe(false)
})
