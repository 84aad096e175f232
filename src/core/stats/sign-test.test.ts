import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Pair, signTest } from './sign-test.ts'

const pairs = (better: number, worse: number, tied = 0): Pair[] => [
  ...Array.from({ length: better }, () => ({ before: 0, after: 1 })),
  ...Array.from({ length: worse }, () => ({ before: 1, after: 0 })),
  ...Array.from({ length: tied }, () => ({ before: 1, after: 1 })),
]

test('five changed cases are needed one-sided, six two-sided', () => {
  expect(signTest(pairs(0, 4)).pWorse).toBeCloseTo(0.0625, 12)
  expect(signTest(pairs(0, 5)).pWorse).toBeCloseTo(0.03125, 12)
  expect(signTest(pairs(0, 5)).pTwoSided).toBeCloseTo(0.0625, 12)
  expect(signTest(pairs(0, 6)).pTwoSided).toBeCloseTo(0.03125, 12)
})

test('eight against two is the textbook .109', () => {
  expect(signTest(pairs(8, 2)).pTwoSided).toBeCloseTo(0.109375, 10)
})

test('ties are counted but do not change the p-value', () => {
  const { tied, ...rest } = signTest(pairs(7, 2, 1_000))
  expect(tied).toBe(1_000)
  expect(rest).toEqual({ ...rest, pTwoSided: signTest(pairs(7, 2)).pTwoSided })
  expect(signTest([])).toMatchObject({ pTwoSided: 1, pWorse: 1, pBetter: 1 })
})

test('better and worse mirror each other, and a tail with its complement is 1', () => {
  fc.assert(
    fc.property(fc.nat(60), fc.nat(60), (better, worse) => {
      const there = signTest(pairs(better, worse))
      const back = signTest(pairs(worse, better))
      expect(there.pWorse).toBeCloseTo(back.pBetter, 12)
      expect(there.pTwoSided).toBeLessThanOrEqual(1)
      if (worse > 0) expect(there.pWorse + signTest(pairs(better + 1, worse - 1)).pBetter).toBeCloseTo(1, 9)
    }),
  )
})

test('ten thousand changed cases do not underflow', () => {
  expect(signTest(pairs(5_000, 5_000)).pTwoSided).toBe(1)
  expect(signTest(pairs(4_900, 5_100)).pTwoSided).toBeCloseTo(0.0466, 3)
  expect(signTest(pairs(0, 10_000)).pWorse).toBe(0)
})
