import { expect, test } from 'vitest'
import { planPrecision } from './estimate.ts'

test.each([
  [1, 1, 127, 100],
  [3, 3, 42, 62],
  [10, 3, 25, 44],
  [20, 3, 18, 29],
  [20, 5, 14, 23],
  [50, 3, 11, 17],
  [100, 5, 6, 10],
])(
  '%i cases run %i times each measure a difference to ±%i points and find one of %i',
  (cases, runs, half, found) => {
    const precision = planPrecision({ cases, runs })
    expect(Math.round((precision?.halfWidth ?? 0) * 100)).toBe(half)
    expect(Math.round((precision?.detectable ?? 0) * 100)).toBe(found)
  },
)

test('more cases give more precision than more runs per case', () => {
  const cases = planPrecision({ cases: 40, runs: 3 })
  const runs = planPrecision({ cases: 20, runs: 6 })
  expect(cases?.halfWidth ?? 1).toBeLessThan(runs?.halfWidth ?? 0)
})

test('a plan without trials has no precision', () => {
  expect(planPrecision({ cases: 0, runs: 3 })).toBeNull()
})
