import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compositeScore, scoreTier } from './score.ts'

const perfect = { judgeScore: 1, gatesPassed: 3, gatesTotal: 3, firstTrySuccessRate: 1 }

test('the parts weigh 55, 35 and 10', () => {
  expect(compositeScore(perfect)).toBe(1)
  expect(compositeScore({ ...perfect, judgeScore: 0 })).toBe(0.45)
  expect(compositeScore({ ...perfect, gatesPassed: 0 })).toBe(0.65)
  expect(compositeScore({ ...perfect, firstTrySuccessRate: 0 })).toBe(0.9)
})

test('what was not measured is left out, and the other weights keep their proportion', () => {
  expect(compositeScore({ ...perfect, judgeScore: null })).toBe(1)
  expect(compositeScore({ ...perfect, gatesPassed: 0, gatesTotal: 0 })).toBe(1)
  expect(compositeScore({ ...perfect, judgeScore: null, firstTrySuccessRate: 0 })).toBeCloseTo(35 / 45)
  expect(
    compositeScore({ ...perfect, judgeScore: null, firstTrySuccessRate: null, gatesPassed: 2 }),
  ).toBeCloseTo(2 / 3)
})

test('without any measurement there is no score', () => {
  const nothing = { judgeScore: null, gatesPassed: 0, gatesTotal: 0, firstTrySuccessRate: null }
  expect(compositeScore(nothing)).toBeNull()
})

test('weights of the case replace the defaults', () => {
  expect(compositeScore({ ...perfect, judgeScore: null }, { judge: 0, gates: 0.5, interaction: 0.5 })).toBe(1)
})

test('the score stays in 0..1 for any weights and parts', () => {
  const number = fc.double({ noNaN: false })
  fc.assert(
    fc.property(
      number,
      number,
      number,
      number,
      number,
      fc.nat(5),
      fc.nat(5),
      (judge, first, a, b, c, passed, total) => {
        const score = compositeScore(
          { judgeScore: judge, gatesPassed: passed, gatesTotal: total, firstTrySuccessRate: first },
          { judge: a, gates: b, interaction: c },
        )
        expect(score ?? 0).toBeGreaterThanOrEqual(0)
        expect(score ?? 0).toBeLessThanOrEqual(1)
      },
    ),
  )
})

test.each([
  [1, 'Excellent'],
  [0.9, 'Excellent'],
  [0.899, 'Good'],
  [0.7, 'Good'],
  [0.699, 'Acceptable'],
  [0.5, 'Acceptable'],
  [0.499, 'Poor'],
  [0, 'Poor'],
])('%f is %s', (score, tier) => {
  expect(scoreTier(score)).toBe(tier)
})
