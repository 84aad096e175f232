import fc from 'fast-check'
import { expect, test } from 'vitest'
import { seededRandom } from '../random.ts'
import { compareCases } from './compare-cases.ts'
import type { CasePair } from './exact-rate.ts'
import { correctedRate } from './judge-agreement.ts'

const pair = (before: number, after: number, n: number): CasePair => ({
  before: { passes: before, n },
  after: { passes: after, n },
})

test('p and interval never contradict, whatever the cases', () => {
  const one = fc.integer({ min: 1, max: 6 }).chain((n) => fc.tuple(fc.nat(n), fc.nat(n), fc.constant(n)))
  fc.assert(
    fc.property(fc.array(one, { minLength: 1, maxLength: 40 }), (cases) => {
      const { value, low, high, p } = compareCases(cases.map(([before, after, n]) => pair(before, after, n)))
      expect(low > 0 || high < 0).toBe(p < 0.05)
      expect(low).toBeLessThanOrEqual(value ?? 0)
      expect(high).toBeGreaterThanOrEqual(value ?? 0)
      expect(Math.abs(low)).toBeLessThanOrEqual(1)
      expect(Math.abs(high)).toBeLessThanOrEqual(1)
    }),
    { numRuns: 60 },
  )
})

test('swapping the sides changes nothing but the sign', () => {
  const side = fc
    .integer({ min: 1, max: 17 })
    .chain((n) => fc.record({ passes: fc.nat(n), n: fc.constant(n) }))
  fc.assert(
    fc.property(
      fc.array(fc.record({ before: side, after: side }), { minLength: 1, maxLength: 12 }),
      (cases) => {
        const there = compareCases(cases)
        const back = compareCases(cases.map(({ before, after }) => ({ before: after, after: before })))
        expect(back.p).toBeCloseTo(there.p, 9)
        if (there.value !== 0) expect([back.low, back.high]).toEqual([-there.high, -there.low])
      },
    ),
    { numRuns: 60 },
  )
})

test('the corrected rate contains the truth in about 95 of 100 simulated suites', () => {
  const random = seededRandom(7)
  const [truth, sensitivity, specificity] = [0.6, 0.85, 0.8]
  const judged = (isGood: boolean): boolean => random() < (isGood ? sensitivity : 1 - specificity)
  let [inside, outsideRaw] = [0, 0]
  const rounds = 200
  for (let round = 0; round < rounds; round += 1) {
    const confusion = { good_passed: 0, good_failed: 0, bad_passed: 0, bad_failed: 0 }
    for (let label = 0; label < 80; label += 1) {
      const isGood = random() < truth
      confusion[`${isGood ? 'good' : 'bad'}_${judged(isGood) ? 'passed' : 'failed'}`] += 1
    }
    const passes = Array.from({ length: 200 }, () => judged(random() < truth)).filter(Boolean).length
    const found = correctedRate(passes, 200, confusion, round)
    if (found !== null && found.low <= truth && truth <= found.high) inside += 1
    if (Math.abs(passes / 200 - truth) > 0.05) outsideRaw += 1
  }
  expect(inside / rounds).toBeGreaterThanOrEqual(0.92)
  expect(outsideRaw).toBeGreaterThan(0)
})
