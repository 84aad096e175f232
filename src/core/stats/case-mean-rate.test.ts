import fc from 'fast-check'
import { expect, test } from 'vitest'
import { seededRandom } from '../random.ts'
import { caseMeanRate } from './case-mean-rate.ts'
import { wilsonRate } from './wilson.ts'

const caseMeans = fc.array(
  fc.integer({ min: 1, max: 10 }).chain((n) => fc.nat(n).map((passes) => ({ mean: passes / n, n }))),
  { minLength: 1, maxLength: 30 },
)

test('every case has the same weight, regardless of its number of trials', () => {
  const rate = caseMeanRate([
    { mean: 1, n: 100 },
    { mean: 0, n: 1 },
  ])
  expect(rate).toMatchObject({ value: 0.5, n: 101 })
})

test('a single case has the Wilson interval of its trials', () => {
  expect(caseMeanRate([{ mean: 0.9, n: 10 }])).toEqual(wilsonRate(9, 10))
})

test('cases that all passed do not claim certainty', () => {
  const rate = caseMeanRate(Array.from({ length: 3 }, () => ({ mean: 1, n: 5 })))
  expect(rate).toMatchObject({ value: 1, high: 1, n: 15 })
  expect(rate.low).toBeCloseTo(wilsonRate(3, 3).low, 12)
})

test('without cases the rate is unknown', () => {
  expect(caseMeanRate([])).toEqual({ value: null, low: 0, high: 1, n: 0 })
})

test('the interval is reproducible, contains the mean and stays in range', () => {
  fc.assert(
    fc.property(caseMeans, (cases) => {
      const rate = caseMeanRate(cases, { resamples: 400 })
      expect(caseMeanRate(cases, { resamples: 400 })).toEqual(rate)
      expect(rate.low).toBeGreaterThanOrEqual(0)
      expect(rate.high).toBeLessThanOrEqual(1)
      expect(rate.low).toBeLessThanOrEqual((rate.value ?? 0) + 1e-9)
      expect(rate.high).toBeGreaterThanOrEqual((rate.value ?? 0) - 1e-9)
    }),
    { numRuns: 50 },
  )
})

test('about 95 of 100 intervals contain the true rate', () => {
  const random = seededRandom(42)
  let held = 0
  for (let suite = 0; suite < 300; suite += 1) {
    const cases = Array.from({ length: 40 }, () => {
      const chance = 0.4 + random() * 0.6
      const passes = Array.from({ length: 3 }, () => (random() < chance ? 1 : 0)).reduce<number>(
        (a, b) => a + b,
        0,
      )
      return { mean: passes / 3, n: 3 }
    })
    const { low, high } = caseMeanRate(cases, { resamples: 500, seed: suite })
    if (low <= 0.7 && 0.7 <= high) held += 1
  }
  expect(held / 300).toBeGreaterThan(0.9)
  expect(held / 300).toBeLessThan(0.99)
})
