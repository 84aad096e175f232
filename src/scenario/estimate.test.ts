import { expect, test } from 'vitest'
import { seededRandom } from '../core/random.ts'
import { compareCases } from '../core/stats/compare-cases.ts'
import type { CaseCount } from '../core/stats/exact-rate.ts'
import { sum } from '../core/sum.ts'
import { planPrecision } from './estimate.ts'

test.each([
  [1, 1, 95, 100],
  [3, 3, 47, 62],
  [8, 3, 40, 51],
  [8, 20, 27, 27],
  [20, 3, 22, 29],
  [20, 5, 19, 23],
  [50, 3, 13, 17],
  [100, 5, 7, 10],
])(
  '%i cases run %i times each measure a difference to ±%i points and find one of %i',
  (cases, runs, half, found) => {
    const precision = planPrecision({ cases, runs })
    expect(Math.round((precision?.halfWidth ?? 0) * 100)).toBe(half)
    expect(Math.round((precision?.detectable ?? 0) * 100)).toBe(found)
  },
)

test('the width of a plan is about that of the intervals which comparisons then have', () => {
  const random = seededRandom(7)
  const count = (): CaseCount => ({ passes: [1, 2, 3, 4, 5].filter(() => random() < 0.7).length, n: 5 })
  const widths = Array.from({ length: 20 }, () => {
    const pairs = Array.from({ length: 20 }, () => ({ before: count(), after: count() }))
    const { low, high } = compareCases(pairs)
    return (high - low) / 2
  })
  const planned = planPrecision({ cases: 20, runs: 5, betweenCaseSd: 0 })?.halfWidth ?? 0
  expect(Math.abs(planned / (sum(widths) / widths.length) - 1)).toBeLessThan(0.1)
})

test('more cases give more precision than more runs per case', () => {
  const cases = planPrecision({ cases: 40, runs: 3 })
  const runs = planPrecision({ cases: 20, runs: 6 })
  expect(cases?.halfWidth ?? 1).toBeLessThan(runs?.halfWidth ?? 0)
})

test('a plan without trials has no precision', () => {
  expect(planPrecision({ cases: 0, runs: 3 })).toBeNull()
})
