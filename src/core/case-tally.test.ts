import fc from 'fast-check'
import { expect, test } from 'vitest'
import { passAtK, passHatK } from './case-tally.ts'

const trials = fc
  .integer({ min: 1, max: 12 })
  .chain((n) => fc.record({ n: fc.constant(n), passes: fc.nat(n), k: fc.integer({ min: 1, max: n }) }))

test('9 of 10 with three tries is .700, not .729', () => {
  expect(passHatK(10, 9, 3)).toBeCloseTo(0.7, 12)
})

test('one failure in ten lowers the estimate for three tries', () => {
  expect(passAtK(10, 1, 3)).toBeCloseTo(0.3, 12)
  expect(passAtK(10, 8, 3)).toBe(1)
})

test('a k outside 1..n has no estimate', () => {
  expect([passAtK(3, 3, 4), passHatK(3, 3, 0), passHatK(0, 0, 1)]).toEqual([null, null, null])
})

test('both agree with counting every choice of k trials', () => {
  fc.assert(
    fc.property(trials, ({ n, passes, k }) => {
      const choices = chooseIndexes(n, k)
      const anyPass = choices.filter((choice) => choice.some((index) => index < passes)).length
      const allPass = choices.filter((choice) => choice.every((index) => index < passes)).length
      expect(passAtK(n, passes, k)).toBeCloseTo(anyPass / choices.length, 10)
      expect(passHatK(n, passes, k)).toBeCloseTo(allPass / choices.length, 10)
    }),
  )
})

test('for one try both are the pass rate', () => {
  fc.assert(
    fc.property(trials, ({ n, passes }) => {
      expect(passAtK(n, passes, 1)).toBeCloseTo(passes / n, 12)
      expect(passHatK(n, passes, 1)).toBeCloseTo(passes / n, 12)
    }),
  )
})

test('ten thousand trials stay finite and in range', () => {
  for (const k of [1, 10, 5_000, 10_000])
    for (const passes of [0, 1, 5_000, 9_999, 10_000])
      for (const value of [passAtK(10_000, passes, k), passHatK(10_000, passes, k)]) {
        expect(value).toBeGreaterThanOrEqual(0)
        expect(value).toBeLessThanOrEqual(1)
      }
  expect(passHatK(10_000, 10_000, 10_000)).toBe(1)
})

function chooseIndexes(n: number, k: number): number[][] {
  if (k === 0) return [[]]
  if (n < k) return []
  return [...chooseIndexes(n - 1, k), ...chooseIndexes(n - 1, k - 1).map((rest) => [...rest, n - 1])]
}
