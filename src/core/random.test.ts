import fc from 'fast-check'
import { expect, test } from 'vitest'
import { seededRandom } from './random.ts'

test('the same seed gives the same numbers, another seed others', () => {
  const draw = (seed: number): number[] => Array.from({ length: 5 }, seededRandom(seed))
  expect(draw(7)).toEqual(draw(7))
  expect(draw(7)).not.toEqual(draw(8))
})

test('numbers stay in [0, 1) for any seed', () => {
  fc.assert(
    fc.property(fc.integer(), (seed) => {
      const next = seededRandom(seed)
      return Array.from({ length: 50 }, next).every((value) => value >= 0 && value < 1)
    }),
  )
})

test('numbers fill the range evenly', () => {
  const next = seededRandom(1)
  const bins = new Array<number>(10).fill(0)
  for (let draws = 0; draws < 100_000; draws += 1) {
    const bin = Math.floor(next() * 10)
    bins[bin] = (bins[bin] ?? 0) + 1
  }
  for (const count of bins) expect(Math.abs(count - 10_000)).toBeLessThan(500)
})
