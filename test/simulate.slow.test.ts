import { expect, test } from 'vitest'
import {
  coverage,
  type Design,
  plannedDifference,
  ratioCoverage,
  untilDecided,
  verdicts,
} from '../scripts/simulate.ts'
import { neededTrials } from '../src/core/stats/compare-cases.ts'

/** A small part of `npm run simulate`, with room for chance: 200 rounds of a rate of 95% rarely give less than 91%. */
const designs: readonly Design[] = [
  { rate: 0.5, cases: 3, trials: 3, skew: 'even' },
  { rate: 0.9, cases: 20, trials: 3, skew: 'extreme' },
  { rate: 0.98, cases: 20, trials: 1, skew: 'equal' },
]

test.each(designs)(
  'intervals of a rate of $rate with $cases cases and $trials trials contain the truth',
  (design) => {
    const { these, like } = coverage(design, 200)
    expect(these).toBeGreaterThan(0.91)
    expect(like ?? 1).toBeGreaterThan(0.91)
  },
)

test('a comparison rarely finds what is not there, and finds what is there', () => {
  const design = { rate: 0.5, cases: 12, trials: 5, skew: 'even' } as const
  const none = verdicts(design, 0, 100)
  expect(none.better + none.worse).toBeLessThan(0.1)
  expect(none.covered).toBeGreaterThan(0.89)
  expect(verdicts(design, 0.4, 60).better).toBeGreaterThan(0.8)
  expect(verdicts(design, 0.05, 60).same).toBeLessThan(0.1)
})

test('a long run against a short one is no evidence', () => {
  const { better, worse } = verdicts({ rate: 0.9, cases: 6, trials: 20, after: 1, skew: 'equal' }, 0, 60)
  expect(better + worse).toBeLessThan(0.1)
})

test.each([
  { rate: 0.5, cases: 3, trials: 20, skew: 'equal' },
  { rate: 0.85, cases: 8, trials: 5, skew: 'equal' },
  { rate: 0.5, cases: 20, trials: 3, skew: 'even' },
] as const)('a plan of $cases cases finds what it promises in about 80%', (design) => {
  const { better } = verdicts(design, plannedDifference(design), 200)
  expect(better).toBeGreaterThan(0.73)
  expect(better).toBeLessThan(0.88)
})

test('the number of missing trials decides in about 80%', () => {
  const [cases, trials] = [20, 4]
  const pairs = Array.from({ length: cases }, () => ({
    before: { passes: 0.4 * trials, n: trials },
    after: { passes: 0.6 * trials, n: trials },
  }))
  const more = neededTrials(pairs, 0.05) ?? 0
  expect(more).toBeGreaterThan(0)
  const later = { rate: 0.5, cases, trials: trials + more, skew: 'equal' } as const
  const { better } = verdicts(later, 0.2, 200)
  expect(better).toBeGreaterThan(0.73)
  expect(better).toBeLessThan(0.88)
})

test('looking after every round does not find what is not there, and saves trials', () => {
  const design = { rate: 0.6, cases: 20, trials: 1, skew: 'even' } as const
  const none = untilDecided(design, 0, 20, 100)
  expect(none.better + none.worse).toBeLessThan(0.1)
  const some = untilDecided(design, 0.2, 20, 100)
  expect(some.better).toBeGreaterThan(0.9)
  expect(some.pairs).toBeLessThan(250)
})

test('the interval of a ratio of skewed amounts contains the truth', () => {
  expect(ratioCoverage({ cases: 20, spread: 1.2, noise: [0.5, 0.5] }, 100)).toBeGreaterThan(0.88)
})
