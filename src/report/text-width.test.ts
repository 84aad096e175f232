import fc from 'fast-check'
import { expect, test } from 'vitest'
import { displayWidth, padLeft, padRight, shortenEnd, shortenMiddle, wrapText } from './text-width.ts'

test('wide characters, emoji, marks and escape codes are measured as a terminal shows them', () => {
  expect(displayWidth('plain')).toBe(5)
  expect(displayWidth('検索')).toBe(4)
  expect(displayWidth('한국어')).toBe(6)
  expect(displayWidth('ﾊﾝｶｸ')).toBe(4)
  expect(displayWidth('👩‍👩‍👧‍👦')).toBe(2)
  expect(displayWidth('✓ ✗')).toBe(3)
  expect(displayWidth('⚠️')).toBe(2)
  expect(displayWidth('🇩🇪')).toBe(2)
  expect(displayWidth('e\u0301')).toBe(1)
  expect(displayWidth('\u001b[31mred\u001b[39m')).toBe(3)
})

test('long names give way in the middle, because they differ at their ends', () => {
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

test('text is wrapped at blanks, and inside a word only when it is wider than a line', () => {
  expect(wrapText('the quick brown fox', 10)).toEqual(['the quick', 'brown fox'])
  expect(wrapText('abcdefghijklm no', 5)).toEqual(['abcde', 'fghij', 'klm', 'no'])
  expect(wrapText('検索とタグ', 4)).toEqual(['検索', 'とタ', 'グ'])
  expect(wrapText('', 5)).toEqual([''])
})

test('what is shortened or wrapped never exceeds its width and wrapping loses nothing', () => {
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
