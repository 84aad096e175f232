import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  failedJudgement,
  type SampleTrial,
  sampleEvaluation,
  sampleJudgement,
} from '../../../../test/support/plugin-samples.ts'
import { arms } from '../../contract.ts'
import { createEvaluationFold } from './create-evaluation-fold.ts'

const trial: fc.Arbitrary<SampleTrial> = fc
  .record({
    scenario: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
    arm: fc.constantFrom(...arms),
    rep: fc.integer({ min: 1, max: 9 }),
    calls: fc.array(fc.constantFrom('demo:greet', 'demo:farewell', 'other:greet', 'x:y'), { maxLength: 3 }),
    cost_usd: fc.option(fc.double({ min: 0, max: 1, noNaN: true })),
    quality: fc.option(fc.integer({ min: 1, max: 10 })),
    ending: fc.constantFrom('exited', 'crashed'),
  })
  .map(({ scenario, arm, rep, calls, cost_usd, quality, ending }) => ({
    scenario,
    arm,
    rep,
    calls,
    // The expectation of a scenario is the same in every trial.
    more: { expected_trigger: scenario < 'd', scenario_type: scenario < 'd' ? 'direct' : 'negative' },
    execution: { cost_usd, ending },
    judgement: quality === null ? failedJudgement() : sampleJudgement({ quality_score: quality }),
  }))

const prices = { 'claude-sonnet-4-5': { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 } }

function summarize(trials: readonly SampleTrial[]) {
  const fold = createEvaluationFold({ plugin: 'demo', prices })
  for (const one of trials) {
    const { evaluation, execution } = sampleEvaluation(one)
    fold.add(evaluation, execution)
  }
  return fold.finish()
}

test('the order in which trials end does not matter', () => {
  fc.assert(
    fc.property(
      fc
        .array(trial, { maxLength: 25 })
        .chain((trials) =>
          fc.tuple(fc.constant(trials), fc.shuffledSubarray(trials, { minLength: trials.length })),
        ),
      ([trials, shuffled]) => {
        expect(summarize(shuffled)).toEqual(summarize(trials))
      },
    ),
    { numRuns: 60 },
  )
})

test('counts add up, and rates stay in their range', () => {
  fc.assert(
    fc.property(fc.array(trial, { maxLength: 25 }), (trials) => {
      const summary = summarize(trials)
      expect(summary.trials).toBe(trials.length)
      const perArm = Object.values(summary.by_arm).map(({ total_trials }) => total_trials)
      expect(perArm.reduce((sum, count) => sum + count, 0)).toBe(trials.length)
      for (const metrics of Object.values(summary.by_arm)) {
        const fired = metrics.confusion.flatMap((row) => row.fired.map(({ count }) => count))
        expect(fired.reduce((sum, count) => sum + count, 0)).toBe(metrics.trigger_trials)
        for (const one of Object.values(metrics.by_component)) {
          const { true_positives, true_negatives, false_positives, false_negatives, trials_count } = one
          expect(true_positives + true_negatives + false_positives + false_negatives).toBe(trials_count)
          for (const { low, high, value } of [one.precision, one.recall, one.f1, one.accuracy]) {
            expect(low).toBeGreaterThanOrEqual(0)
            expect(high).toBeLessThanOrEqual(1)
            if (value !== null) expect(low <= value + 1e-9 && value <= high + 1e-9).toBe(true)
          }
        }
      }
    }),
    { numRuns: 60 },
  )
})
