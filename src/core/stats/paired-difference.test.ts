import fc from 'fast-check'
import { expect, test } from 'vitest'
import { seededRandom } from '../random.ts'
import { pairedDifference, pairsNeeded } from './paired-difference.ts'

const pairsOf = (...differences: readonly number[]) => differences.map((after) => ({ before: 0, after }))

test('the difference is the mean of the pairs, inside its interval', () => {
  const found = pairedDifference(pairsOf(1, 0, 0, 1, 1, 0, 1, 1), { scale: 1 })
  expect(found).toMatchObject({ value: 0.625, n: 8 })
  expect(found.low).toBeLessThan(0.625)
  expect(found.high).toBeGreaterThan(0.625)
})

test('the same pairs give the same interval', () => {
  const pairs = pairsOf(0.2, -0.4, 0.9, 0.1)
  expect(pairedDifference(pairs, { scale: 1 })).toEqual(pairedDifference(pairs, { scale: 1 }))
})

test('without pairs the interval covers everything', () => {
  expect(pairedDifference([], { scale: 1 })).toEqual({
    value: null,
    low: -1,
    high: 1,
    n: 0,
    standardDeviation: 0,
  })
})

test('ties do not claim certainty, and more ties give a narrower interval', () => {
  const few = pairedDifference(pairsOf(0, 0, 0), { scale: 1 })
  expect(few.value).toBe(0)
  expect(few.high).toBeGreaterThan(0.5)
  expect(few.low).toBe(-few.high)
  const many = pairedDifference(pairsOf(...Array<number>(200).fill(0)), { scale: 1 })
  expect(many.high).toBeLessThan(0.02)
})

test('pairs with equal differences stay within the possible range', () => {
  const found = pairedDifference(pairsOf(1, 1), { scale: 1 })
  expect(found.high).toBe(1)
  expect(found.low).toBeLessThan(0.5)
})

test('the interval contains the true difference about as often as stated', () => {
  const random = seededRandom(7)
  const draw = () => (random() < 0.3 ? 1 : random() < 0.2 ? -1 : 0)
  const truth = 0.3 - 0.7 * 0.2
  let held = 0
  for (let round = 0; round < 200; round += 1) {
    const pairs = pairsOf(...Array.from({ length: 40 }, draw))
    const { low, high } = pairedDifference(pairs, { scale: 1, seed: round, resamples: 400 })
    if (low <= truth && truth <= high) held += 1
  }
  expect(held).toBeGreaterThan(178)
})

test('the interval contains the mean and is never reversed', () => {
  fc.assert(
    fc.property(
      fc.array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: 1, maxLength: 30 }),
      (differences) => {
        const { value, low, high } = pairedDifference(pairsOf(...differences), { scale: 1, resamples: 300 })
        expect(low).toBeLessThanOrEqual(high)
        expect(value).toBeGreaterThanOrEqual(Math.min(...differences) - 1e-12)
        expect(value).toBeLessThanOrEqual(Math.max(...differences) + 1e-12)
      },
    ),
  )
})

test('the required number of pairs makes the interval narrow enough', () => {
  const margin = 0.1
  const needed = pairsNeeded({ standardDeviation: 0 }, margin, 1)
  expect(pairedDifference(pairsOf(...Array<number>(needed).fill(0)), { scale: 1 }).high).toBeLessThanOrEqual(
    margin,
  )
  expect(pairedDifference(pairsOf(...Array<number>(needed - 1).fill(0)), { scale: 1 }).high).toBeGreaterThan(
    margin,
  )
  expect(pairsNeeded({ standardDeviation: 0.5 }, 0.05, 1)).toBe(385)
})
