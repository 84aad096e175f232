import { expect, test } from 'vitest'
import {
  compareCases,
  compareMeans,
  holm,
  neededPairs,
  neededTrials,
  ratioOf,
  verdictOf,
} from './compare-cases.ts'
import type { CasePair } from './exact-rate.ts'
import { fisherTest } from './trial-swaps.ts'

const pair = (before: number, after: number, n = 1): CasePair => ({
  before: { passes: before, n },
  after: { passes: after, n },
})
const times = <T>(count: number, value: T): readonly T[] => Array.from({ length: count }, () => value)

test('one trial per case: p is that of the exact test on the discordant pairs', () => {
  const flips = (up: number, down: number, tied: number) =>
    compareCases([...times(up, pair(0, 1)), ...times(down, pair(1, 0)), ...times(tied, pair(1, 1))])
  expect(flips(8, 2, 10).p).toBeCloseTo(0.109375, 9)
  expect(flips(6, 0, 0).p).toBeCloseTo(0.03125, 9)
  expect(flips(0, 9, 20).p).toBeCloseTo(2 / 2 ** 9, 9)
  expect(flips(8, 2, 10)).toMatchObject({ value: 0.3, unit: 'cases' })
  expect(flips(0, 0, 20)).toMatchObject({ value: 0, p: 1 })
})

test('a single case is decided by its trials, as Fisher does', () => {
  const found = compareCases([pair(20, 13, 20)])
  expect(found).toMatchObject({ value: -0.35, unit: 'trials' })
  expect(found.p).toBeCloseTo(fisherTest(pair(20, 13, 20)), 4)
  expect(fisherTest(pair(20, 13, 20))).toBeCloseTo(0.0083, 4)
  expect(verdictOf(found, 0.05)).toBe('worse')
  expect(verdictOf(compareCases([pair(2, 1, 2)]), 0.05)).toBe('inconclusive')
  const allPassed = compareCases([pair(3, 3, 3)])
  expect([allPassed.low, allPassed.high].map((bound) => bound.toFixed(9))).toEqual(
    [0.025 ** (1 / 3) - 1, 1 - 0.025 ** (1 / 3)].map((bound) => bound.toFixed(9)),
  )
})

test('a difference beyond any doubt has an interval as narrow as its mirror image', () => {
  const { low, high, p } = compareMeans([...times(99, -1), -0.5])
  expect(p).toBeLessThan(1e-25)
  expect([compareMeans([...times(99, 1), 0.5]).low, compareMeans([...times(99, 1), 0.5]).high]).toEqual([
    -high,
    -low,
  ])
})

test('differences without a common unit are drawn, the same for the same seed', () => {
  const differences = Array.from({ length: 40 }, (_, index) => Math.sin(index * 7.3) / 2 + 0.2)
  expect(compareMeans(differences, 5)).toEqual(compareMeans(differences, 5))
  expect(compareMeans(differences, 5).p).toBeCloseTo(compareMeans(differences, 6).p, 1)
})

test('few differences without a common unit are exact, whatever the seed', () => {
  const share = (passes: number, n: number) => passes / n
  const before = [share(5, 7), share(3, 9), share(2, 7), share(1, 8), share(1, 10), 0, share(3, 10)]
  const after = [1, share(7, 10), share(9, 10), 0, share(9, 10), share(1, 8), share(4, 7)]
  const differences = after.map((each, index) => each - (before[index] ?? 0))
  for (const seed of [1, 3, 12]) expect(compareMeans(differences, seed).p).toBe(6 / 128)
})

test('drawn chances are never 0, and a sum as large counts', () => {
  // Not a multiple of any common unit.
  const step = Math.SQRT1_2
  expect(compareMeans(times(40, step)).p).toBeCloseTo(2 / 10_001, 6)
  expect(compareMeans([...times(7, step), -step]).p).toBeCloseTo((2 * 9) / 2 ** 8, 1)
  expect(compareMeans([...times(7, step), -step]).p).toBeGreaterThan(0.05)
})

test('same needs the whole interval within the margin, and enough pairs', () => {
  const tied = (count: number) => verdictOf(compareMeans(times(count, 0)), 0.05)
  const needed = neededPairs(times(10, 0), 0.05) ?? 0
  expect(neededPairs(times(10, 0), 0)).toBeNull()
  expect([tied(10), tied(9 + needed), tied(10 + needed)]).toEqual(['inconclusive', 'inconclusive', 'same'])
  expect(verdictOf({ low: 0.01, high: 0.04 }, 0.05)).toBe('same')
  expect(verdictOf({ low: 0.01, high: 0.2 }, 0.05)).toBe('better')
  expect(verdictOf({ low: -0.01, high: 0.06 }, 0.05)).toBe('inconclusive')
  expect(verdictOf({ low: -0.06, high: 0.01 }, 0.05)).toBe('inconclusive')
})

test('the number of missing trials is large enough to decide, and null when only more cases would', () => {
  const undecided = times(10, pair(2, 3, 5))
  const more = neededTrials(undecided, 0.05) ?? 0
  expect(more).toBeGreaterThan(0)
  const later = times(10, pair(2 * (1 + more / 5), 3 * (1 + more / 5), 5 + more))
  expect(verdictOf(compareCases(later), 0.05)).toBe('better')
  expect(neededTrials([...times(5, pair(0, 20, 20)), ...times(5, pair(20, 0, 20))], 0)).toBeNull()
})

test('ratios are of the totals, and their interval contains them', () => {
  const found = ratioOf(
    Array.from({ length: 30 }, (_, index) => ({ before: 1 + index, after: 2 * (1 + index) })),
  )
  expect(found).toMatchObject({ ratio: 2, low: 2, high: 2 })
  expect(ratioOf([{ before: 1, after: 3 }])).toEqual({ ratio: 3, low: null, high: null })
  expect(ratioOf([{ before: 0, after: 3 }])).toBeNull()
})

test("Holm's adjustment keeps the order and never lowers a p", () => {
  expect(holm([0.01, 0.04, 0.03])).toEqual([0.03, 0.06, 0.06])
  expect(holm([])).toEqual([])
})

test('an interval around no difference is as wide as the differences vary', () => {
  const differences = Array.from(
    { length: 120 },
    (_, index) => ((index % 5) + 1) * (index % 2 === 0 ? 0.1 : -0.1),
  )
  const { low, high } = compareMeans(
    differences.map((each) => each - differences.reduce((a, b) => a + b) / 120),
  )
  expect(high - low).toBeGreaterThan(0.1)
})

test('few cases that never change are the same, as far as these cases go, after the number of trials that was named', () => {
  const [few, margin] = [times(8, pair(2, 2, 2)), 0.05]
  expect(verdictOf(compareCases(few, 1, margin), margin)).toBe('inconclusive')
  const n = 2 + (neededTrials(few, margin) ?? 0)
  const later = compareCases(times(8, pair(n, n, n)), 1, margin)
  expect([verdictOf(later, margin), later.unit]).toEqual(['same', 'trials'])
})

test('a side with many trials is no evidence against one with a single trial', () => {
  const cases = times(8, { before: { passes: 19, n: 20 }, after: { passes: 1, n: 1 } })
  const { low, high, p } = compareCases(cases)
  expect(p).toBeGreaterThan(0.3)
  expect(low).toBeLessThan(0)
  expect(high).toBeGreaterThan(0.05)
})

test('a ratio of amounts that few cases have has no interval, and one with an empty subset no upper bound', () => {
  const errors = (before: readonly number[], after: readonly number[]) =>
    ratioOf(before.map((each, index) => ({ before: each, after: after[index] ?? 0 })))
  expect(errors([1, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0])).toEqual({ ratio: 0, low: null, high: null })
  expect(errors([1, 0, 0, 0, 0, 0, 0], [1, 1, 1, 1, 1, 1, 1])).toEqual({ ratio: 7, low: null, high: null })
})
