import fc from 'fast-check'
import { expect, test } from 'vitest'
import { exactRate, rateForCasesLikeThese, rateOnTheseCases } from './exact-rate.ts'

const percent = (value: number): number => Math.round(value * 100)

// As R's binom.test gives them.
test.each([
  [3, 3, 29, 100],
  [10, 10, 69, 100],
  [20, 20, 83, 100],
  [0, 3, 0, 71],
  [5, 10, 19, 81],
  [80, 80, 95, 100],
])('%i of %i is %i to %i percent', (passes, n, low, high) => {
  const rate = exactRate(passes, n)
  expect([percent(rate.low), percent(rate.high)]).toEqual([low, high])
  expect(rate).toMatchObject({ value: passes / n, n })
})

test('without trials the share is unknown and the interval is 0 to 1', () => {
  const unknown = { value: null, low: 0, high: 1, n: 0 }
  expect(exactRate(0, 0)).toEqual(unknown)
  expect(rateOnTheseCases([])).toEqual(unknown)
  expect(rateOnTheseCases([{ passes: 0, n: 0 }])).toEqual(unknown)
})

const design = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 30 })

test('one more pass in the same design never lowers a bound', () => {
  fc.assert(
    fc.property(
      design,
      fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })),
      fc.nat(),
      (sizes, shares, at) => {
        const counts = sizes.map((n) => ({ n, passes: Math.round(n * (shares.next().value ?? 0)) }))
        const better = counts.map(({ n, passes }, index) => ({
          n,
          passes: index === at % counts.length ? Math.min(n, passes + 1) : passes,
        }))
        for (const rate of [rateOnTheseCases, rateForCasesLikeThese]) {
          const [now, then] = [rate(better), rate(counts)]
          if (now === null || then === null) continue
          expect(now.low).toBeGreaterThanOrEqual(then.low - 1e-9)
          expect(now.high).toBeGreaterThanOrEqual(then.high - 1e-9)
        }
      },
    ),
  )
})

test('the interval contains the value, and passes and failures mirror each other', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 5_000 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (n, share) => {
        const passes = Math.round(n * share)
        const rate = exactRate(passes, n)
        expect(rate.low).toBeLessThanOrEqual(passes / n + 1e-9)
        expect(rate.high).toBeGreaterThanOrEqual(passes / n - 1e-9)
        expect(rate.low).toBeCloseTo(1 - exactRate(n - passes, n).high, 9)
      },
    ),
  )
})

test('every case has the same weight, and few trials of one case widen the interval', () => {
  const rate = rateOnTheseCases([
    { passes: 100, n: 100 },
    { passes: 0, n: 1 },
  ])
  expect(rate).toMatchObject({ value: 0.5, n: 101 })
  expect(rate.high - rate.low).toBeGreaterThan(0.8)
})

test('four cases with 80 of 80 passes are narrow on these cases, and say nothing about others', () => {
  const cases = Array.from({ length: 4 }, () => ({ passes: 20, n: 20 }))
  expect(percent(rateOnTheseCases(cases).low)).toBe(95)
  expect(rateForCasesLikeThese(cases)).toBeNull()
  const ten = Array.from({ length: 10 }, () => ({ passes: 20, n: 20 }))
  expect(rateForCasesLikeThese(ten)).toEqual(exactRate(10, 10))
})

test('a few cases with one trial each make the rate as uncertain as they are', () => {
  const sure = Array.from({ length: 45 }, () => ({ passes: 20, n: 20 }))
  const unsure = Array.from({ length: 5 }, (_, index) => ({ passes: index === 0 ? 1 : 0, n: 1 }))
  // Of the five one may have passed by chance: the true rate may as well be 95%.
  const { low, high } = rateOnTheseCases([...sure, ...unsure])
  expect(low).toBeLessThan(0.9)
  expect(high).toBeGreaterThan(0.95)
})
