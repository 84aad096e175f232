import fc from 'fast-check'
import { expect, test } from 'vitest'
import { krippendorffAlpha, pairwiseAgreement } from './agreement.ts'

const ratings = fc.array(fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 5 }), {
  maxLength: 12,
})

test('alpha of a published example with gaps is .811', () => {
  const items = [
    [1],
    [],
    [2, 2],
    [1, 1],
    [3, 3],
    [3, 3, 4],
    [4, 4, 4],
    [1, 3],
    [2, 2],
    [1, 1],
    [1, 1],
    [3, 3],
    [3, 3],
    [],
    [3, 4],
  ]
  expect(krippendorffAlpha(items)).toBeCloseTo(0.811, 3)
})

test('alpha is 1 for raters who agree, negative for raters who contradict, null without spread', () => {
  expect(
    krippendorffAlpha([
      [0, 0],
      [1, 1],
    ]),
  ).toBe(1)
  expect(
    krippendorffAlpha([
      [0, 1],
      [1, 0],
    ]),
  ).toBeLessThan(0)
  expect(
    krippendorffAlpha([
      [0.1, 0.1, 0.1],
      [0.1, 0.1],
    ]),
  ).toBeNull()
  expect(krippendorffAlpha([[1], []])).toBeNull()
})

test('alpha agrees with its definition over pairs', () => {
  fc.assert(
    fc.property(ratings, (items) => {
      const alpha = krippendorffAlpha(items)
      const rated = items.filter(({ length }) => length >= 2)
      const all = rated.flat()
      const observed =
        rated.reduce((sum, item) => sum + orderedPairs(item) / (item.length - 1), 0) / all.length
      const expected = orderedPairs(all) / (all.length * (all.length - 1))
      if (alpha === null || expected < 1e-9) return
      expect(alpha).toBeCloseTo(1 - observed / expected, 6)
    }),
  )
})

test('agreement is the mean nearness of pairs', () => {
  expect(
    pairwiseAgreement([
      [1, 1, 1],
      [0.5, 0.5, 0.5],
    ]),
  ).toBe(1)
  expect(pairwiseAgreement([[0, 1]])).toBe(0)
  expect(
    pairwiseAgreement([
      [0.8, 0.6],
      [1, 1],
    ]),
  ).toBeCloseTo(0.9, 12)
  expect(pairwiseAgreement([[0.8], [1]])).toBeNull()
})

test('agreement stays in 0..1 whatever the order of the raters', () => {
  fc.assert(
    fc.property(ratings, (items) => {
      const agreement = pairwiseAgreement(items)
      if (agreement === null) return
      expect(agreement).toBeGreaterThanOrEqual(-1e-12)
      expect(agreement).toBeLessThanOrEqual(1)
      expect(pairwiseAgreement(items.map((item) => item.toReversed()))).toBeCloseTo(agreement, 12)
    }),
  )
})

function orderedPairs(values: readonly number[]): number {
  return values.reduce((sum, a) => sum + values.reduce((inner, b) => inner + (a - b) ** 2, 0), 0)
}
