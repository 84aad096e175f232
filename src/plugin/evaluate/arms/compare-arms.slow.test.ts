import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Arm } from '../../contract.ts'
import type { ArmScenario } from './compare-arms.ts'
import { compareArms } from './compare-arms.ts'

function scenario(arm: Arm, index: number, more: Partial<ArmScenario> = {}): ArmScenario {
  return {
    scenario_id: `s${String(index).padStart(4, '0')}`,
    arm,
    component: 'skill:greet',
    expected_trigger: true,
    trials: 1,
    triggered: null,
    instead: {},
    accuracy: null,
    grader_score: null,
    quality: null,
    cost_usd: null,
    turns: null,
    duration_ms: null,
    ...more,
  }
}

function both(
  arms: readonly [Arm, Arm],
  count: number,
  of: (index: number) => readonly [Partial<ArmScenario>, Partial<ArmScenario>],
): ArmScenario[] {
  return Array.from({ length: count }, (_, index) => {
    const [before, after] = of(index)
    return [scenario(arms[0], index, before), scenario(arms[1], index, after)]
  }).flat()
}

test('a plugin that helps in most cases is better, by its graders', () => {
  const found = compareArms(
    both(['without', 'alone'], 20, (index) => [{ grader_score: 0 }, { grader_score: index < 15 ? 1 : 0 }]),
  )
  expect(found.differences).toMatchObject([
    { kind: 'alone-without', decided_by: 'grader_score', verdict: 'better' },
  ])
  const [measure] = found.differences[0]?.measures ?? []
  expect(measure).toMatchObject({
    pairs: 20,
    before: 0,
    after: 0.75,
    difference: 0.75,
    scenarios_better: 15,
    scenarios_worse: 0,
    scenarios_tied: 5,
    further_scenarios: null,
  })
  expect(measure?.p).toBeCloseTo(2 / 2 ** 15, 12)
  expect(measure?.low).toBeGreaterThan(0.35)
})

test('a plugin that harms is worse', () => {
  const found = compareArms(
    both(['without', 'alone'], 20, (index) => [{ grader_score: 1 }, { grader_score: index < 12 ? 0 : 1 }]),
  )
  expect(found.differences[0]?.verdict).toBe('worse')
})

test('five improved cases are not enough, and the number of missing ones is reported', () => {
  const found = compareArms(both(['without', 'alone'], 5, () => [{ grader_score: 0 }, { grader_score: 1 }]))
  expect(found.differences[0]).toMatchObject({ verdict: 'inconclusive' })
  expect(found.differences[0]?.measures[0]?.further_scenarios).toBe(1)
})

test('same needs enough cases', () => {
  const tied = (count: number) =>
    compareArms(both(['alone', 'crowd'], count, () => [{ accuracy: 1 }, { accuracy: 1 }])).differences[0]
  expect(tied(10)).toMatchObject({ verdict: 'inconclusive', decided_by: 'accuracy' })
  const further = tied(10)?.measures[0]?.further_scenarios ?? 0
  expect(tied(10 + further)?.verdict).toBe('same')
  expect(tied(9 + further)?.verdict).toBe('inconclusive')
})

test('lower is better for money, turns and time', () => {
  const found = compareArms(
    both(['without', 'alone'], 12, (index) => [
      { cost_usd: 1 + index / 100, turns: 4, duration_ms: 1_000 },
      { cost_usd: 0.5, turns: 8, duration_ms: 1_000 },
    ]),
  )
  const verdicts = found.differences[0]?.measures.map(({ measure, verdict }) => `${measure} ${verdict}`)
  expect(verdicts).toEqual(['cost_usd better', 'turns worse', 'duration_ms inconclusive'])
})

test('the purpose of the plugin decides, not its cost; without either nothing is claimed', () => {
  const found = compareArms(both(['without', 'alone'], 12, () => [{ cost_usd: 2 }, { cost_usd: 1 }]))
  expect(found.differences[0]).toMatchObject({ decided_by: null, verdict: 'inconclusive' })
  expect(found.differences[0]?.reason).toContain('add graders to a case')
})

test('only scenarios and measures of both arms are compared', () => {
  const found = compareArms([
    ...both(['alone', 'crowd'], 3, () => [{ accuracy: 1, quality: 9 }, { accuracy: 0 }]),
    scenario('alone', 90, { accuracy: 1 }),
    scenario('crowd', 91, { accuracy: 1 }),
    scenario('crowd', 0, { trials: 0, accuracy: 1 }),
  ])
  expect(found.differences[0]?.measures).toMatchObject([{ measure: 'accuracy', pairs: 3, difference: -1 }])
  expect(found.arms).toMatchObject([
    { arm: 'alone', scenarios: 4, trials: 4, means: { accuracy: 1, quality: 9 } },
    { arm: 'crowd', scenarios: 4, means: { accuracy: 0.25, quality: null } },
  ])
})

test('a component loses in the crowd what others take from it', () => {
  const found = compareArms([
    ...both(['alone', 'crowd'], 3, (index) => [
      { triggered: 1, trials: 4 },
      { triggered: index === 0 ? 1 : 0.25, trials: 4, instead: index === 0 ? {} : { 'other/skill:x': 3 } },
    ]),
    ...both(['alone', 'crowd'], 2, () => [{ triggered: 0 }, { triggered: 1 }]).map((one) => ({
      ...one,
      scenario_id: `f${one.scenario_id}`,
      component: 'skill:farewell',
    })),
    // Where it fires in neither arm, nothing is lost.
    ...both(['alone', 'crowd'], 1, () => [{ triggered: 0 }, { triggered: 0 }]).map((one) => ({
      ...one,
      scenario_id: `q${one.scenario_id}`,
    })),
    // A scenario in which it should stay quiet has nothing to lose.
    ...both(['alone', 'crowd'], 1, () => [{ triggered: 1 }, { triggered: 0 }]).map((one) => ({
      ...one,
      scenario_id: `n${one.scenario_id}`,
      expected_trigger: false,
    })),
  ])
  expect(found.crowd_losses).toMatchObject([
    {
      component: 'skill:greet',
      scenarios: 4,
      fired_alone: { value: 0.75 },
      fired_in_crowd: { value: 0.375 },
      lost: ['s0001', 's0002'],
      gained: [],
      taken_by: [{ component: 'other/skill:x', count: 6 }],
    },
    { component: 'skill:farewell', lost: [], gained: ['fs0000', 'fs0001'] },
  ])
})

test('a single arm is compared with nothing', () => {
  expect(compareArms([scenario('alone', 1, { accuracy: 1 })])).toMatchObject({
    differences: [],
    crowd_losses: [],
  })
})

test('a difference needs an interval without zero and agreeing signs', () => {
  const share = fc.constantFrom(0, 0.5, 1)
  fc.assert(
    fc.property(fc.array(fc.tuple(share, share), { minLength: 1, maxLength: 25 }), (pairs) => {
      const scenarios = both(['alone', 'crowd'], pairs.length, (index) => {
        const [before = 0, after = 0] = pairs[index] ?? []
        return [{ accuracy: before }, { accuracy: after }]
      })
      const found = compareArms(scenarios)
      expect(compareArms(scenarios.toReversed())).toEqual(found)
      const [measure] = found.differences[0]?.measures ?? []
      if (measure?.verdict === 'better' || measure?.verdict === 'worse') {
        expect(measure.p).toBeLessThanOrEqual(0.05)
        expect(measure.low > 0 || measure.high < 0).toBe(true)
      }
      expect(measure?.further_scenarios === null).toBe(measure?.verdict !== 'inconclusive')
    }),
    { numRuns: 40 },
  )
})

test('two comparisons share the error: what is just clear alone is open with a second one', () => {
  // Six of six: p is .031 alone, and .062 as one of two.
  const first = both(['without', 'alone'], 6, () => [{ grader_score: 0 }, { grader_score: 1 }])
  expect(compareArms(first).differences).toMatchObject([{ verdict: 'better' }])
  const crowd = Array.from({ length: 6 }, (_, index) => scenario('crowd', index, { grader_score: 0 }))
  const [helps, costs] = compareArms([...first, ...crowd]).differences
  expect([helps?.verdict, costs?.verdict]).toEqual(['inconclusive', 'inconclusive'])
  expect(helps?.measures[0]?.p).toBeCloseTo(0.0625, 5)
  expect(helps?.measures[0]?.low).toBe(0)
})
