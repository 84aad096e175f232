import { expect, test } from 'vitest'
import { correctedRate, judgeAgreement, type LabelledScore } from './judge-agreement.ts'

const trials = (counts: readonly [number, number, number, number]): LabelledScore[] =>
  counts.flatMap((n, index) =>
    Array.from({ length: n }, () => ({
      isGood: index < 2,
      passed: index % 2 === 0,
      score: index % 2 === 0 ? 0.9 : 0.3,
    })),
  )

test('the textbook table has the textbook kappa', () => {
  // Cohen's kappa of 20, 5, 10, 15 is 0.4.
  const found = judgeAgreement(trials([20, 5, 10, 15]))
  expect(found).toMatchObject({
    labels: 50,
    confusion: { good_passed: 20, good_failed: 5, bad_passed: 10, bad_failed: 15 },
    agreement: { value: 0.7 },
    sensitivity: { value: 0.8 },
    specificity: { value: 0.6 },
  })
  expect(found.kappa?.value).toBeCloseTo(0.4, 10)
  expect(found.kappa?.low).toBeLessThan(0.2)
  expect(found.kappa?.high).toBeGreaterThan(0.55)
})

test('a judge that agrees always is not certain after a few labels, and one-sided labels say nothing', () => {
  const perfect = judgeAgreement(trials([4, 0, 0, 4])).kappa
  expect(perfect?.value).toBe(1)
  expect(perfect?.low).toBeLessThan(0.8)
  for (const oneSided of [
    [8, 0, 0, 0],
    [8, 3, 0, 0],
    [0, 0, 2, 5],
    [8, 0, 3, 0],
    [0, 4, 0, 1],
  ] as const)
    expect(judgeAgreement(trials(oneSided)).kappa).toBeNull()
  expect(judgeAgreement([]).best_threshold).toBeNull()
})

test('the best threshold agrees with most labels', () => {
  const scores = [0.2, 0.4, 0.6, 0.7, 0.8, 0.9]
  const found = judgeAgreement(scores.map((score) => ({ score, passed: score >= 0.5, isGood: score >= 0.7 })))
  expect(found.best_threshold).toEqual({ threshold: 0.7, agreement: 1 })
})

test('a threshold that nothing reaches is one of the choices', () => {
  const bad = (score: number): LabelledScore => ({ score, passed: true, isGood: false })
  expect(judgeAgreement([bad(0.8), bad(0.9)]).best_threshold).toEqual({ threshold: 1, agreement: 1 })
  expect(judgeAgreement([bad(1)]).best_threshold).toEqual({ threshold: 1, agreement: 0 })
})

test('a judge hardly better than a coin corrects nothing', () => {
  expect(correctedRate(5, 10, { good_passed: 5, good_failed: 5, bad_passed: 5, bad_failed: 5 })).toBeNull()
  expect(correctedRate(5, 10, { good_passed: 5, good_failed: 0, bad_passed: 0, bad_failed: 0 })).toBeNull()
})
