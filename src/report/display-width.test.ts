import fc from 'fast-check'
import { expect, test } from 'vitest'
import { displayWidth, padLeft, padRight, shortenEnd, shortenMiddle, wrapText } from './display-width.ts'

test.each([
  ['ASCII', 'plain', 5],
  ['marks of verdicts', '✓ ✗', 3],
  ['Chinese and Japanese', '検索', 4],
  ['Korean syllables', '한국어', 6],
  ['a Korean syllable in three parts', '\u1112\u1161\u11ab', 2],
  ['half-width katakana', 'ﾊﾝｶｸ', 4],
  ['half-width katakana with a voicing mark', 'ｶﾞ', 2],
  ['full-width Latin', 'ＡＢ', 4],
  ['an emoji family joined by ZWJ', '👩‍👩‍👧‍👦', 2],
  ['an emoji with a skin tone', '👍🏽', 2],
  ['a sign shown as an emoji', '⚠️', 2],
  ['a keycap', '1️⃣', 2],
  ['a flag', '🇩🇪', 2],
  ['a combining accent', 'e\u0301', 1],
  ['several combining marks', 'a\u0300\u0316\u0323', 1],
  ['Arabic with vowel signs', 'مُ', 1],
  ['zero-width characters', 'a\u200b\u2060b', 2],
  ['escape codes', '\u001b[31mred\u001b[39m', 3],
])('the width of %s is its width on a terminal', (_, text, width) => {
  expect(displayWidth(text)).toBe(width)
})

test('long names are shortened in the middle, because they differ at their ends', () => {
  expect(shortenMiddle('a-scenario-with-a-long-name', 11)).toBe('a-sce…-name')
  expect(shortenMiddle('a-scenario-with-a-long-name', 11, '...')).toBe('a-sc...name')
  expect(shortenMiddle('検索とタグ付け', 9)).toBe('検索…付け')
  expect(shortenMiddle('short', 11)).toBe('short')
  expect(shortenMiddle('anything', 0)).toBe('')
  expect(shortenEnd('a long sentence', 7)).toBe('a long…')
})

test('padding counts columns, not characters', () => {
  expect(padRight('検索', 6)).toBe('検索  ')
  expect(padLeft('7', 3)).toBe('  7')
})

test('text is wrapped at spaces, and inside a word only when the word is wider than a line', () => {
  expect(wrapText('the quick brown fox', 10)).toEqual(['the quick', 'brown fox'])
  expect(wrapText('abcdefghijklm no', 5)).toEqual(['abcde', 'fghij', 'klm', 'no'])
  expect(wrapText('検索とタグ', 4)).toEqual(['検索', 'とタ', 'グ'])
  expect(wrapText('', 5)).toEqual([''])
  const note = '\u{1d158}\u{1d165}\u{1d16e}'
  expect(wrapText(note, 2).join('')).toBe(note)
  for (const line of wrapText(note, 2)) expect(displayWidth(line)).toBeLessThanOrEqual(2)
})

test('shortened and wrapped texts never exceed their width, and wrapping loses nothing', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 60 }).map((value) => value.replaceAll(/\s/g, '_'))
  fc.assert(
    fc.property(text, fc.integer({ min: 2, max: 40 }), (value, width) => {
      expect(displayWidth(shortenMiddle(value, width))).toBeLessThanOrEqual(width)
      expect(displayWidth(shortenEnd(value, width))).toBeLessThanOrEqual(width)
      const lines = wrapText(value, width)
      expect(lines.join('')).toBe(value)
      for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(width)
    }),
  )
})
