import fc from 'fast-check'
import { expect, test } from 'vitest'
import { wilsonRate } from './wilson.ts'

const percent = (value: number): number => Math.round(value * 100)

test.each([
  [3, 3, 44, 100],
  [10, 10, 72, 100],
  [20, 20, 84, 100],
  [0, 3, 0, 56],
  [5, 10, 24, 76],
])('%i of %i is %i to %i percent', (successes, n, low, high) => {
  const rate = wilsonRate(successes, n)
  expect([percent(rate.low), percent(rate.high)]).toEqual([low, high])
  expect(rate).toMatchObject({ value: successes / n, n })
})

test('without trials the share is unknown and the interval is 0 to 1', () => {
  expect(wilsonRate(0, 0)).toEqual({ value: null, low: 0, high: 1, n: 0 })
})

test('the interval contains the share, stays in 0..1 and narrows with more trials', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 10_000 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (n, share) => {
        const successes = Math.round(n * share)
        const rate = wilsonRate(successes, n)
        const more = wilsonRate(successes * 4, n * 4)
        expect(rate.low).toBeGreaterThanOrEqual(0)
        expect(rate.high).toBeLessThanOrEqual(1)
        expect(rate.low).toBeLessThanOrEqual(successes / n)
        expect(rate.high).toBeGreaterThanOrEqual(successes / n)
        expect(more.high - more.low).toBeLessThan(rate.high - rate.low)
      },
    ),
  )
})

test('passes and failures mirror each other', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 500 }), fc.nat(500), (n, raw) => {
      const successes = Math.min(raw, n)
      expect(wilsonRate(successes, n).low).toBeCloseTo(1 - wilsonRate(n - successes, n).high, 12)
    }),
  )
})
