import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cutText } from './json.ts'

test('the pieces add up to the text, are few, and contain whole characters', () => {
  const text = fc.oneof(
    fc.string({ unit: fc.constantFrom('a', '😀', '\n', 'é'), maxLength: 600 }),
    fc.integer({ min: 0, max: 5_000 }).map((length) => '😀'.repeat(length)),
    fc.integer({ min: 0, max: 5_000 }).map((length) => `a${'😀'.repeat(length)}`),
  )
  fc.assert(
    fc.property(text, (whole) => {
      const pieces = cutText(whole)
      expect(pieces.join('')).toBe(whole)
      expect(pieces.length).toBeLessThanOrEqual(52)
      expect(pieces.every((piece) => piece !== '' && piece.isWellFormed())).toBe(true)
    }),
    { numRuns: 100 },
  )
})

test('a longer text comes in several pieces', () => {
  expect(cutText('word '.repeat(100)).length).toBeGreaterThan(5)
  expect(cutText('short')).toEqual(['short'])
  expect(cutText('')).toEqual([])
})
