import { describe, expect, test } from 'vitest'
import { gantryTest } from '../support/gantry.ts'
import { agentScript, smallProject, smallScenario, type TestProject, writes } from '../support/project.ts'

/** `case` passes except at the attempts named here. */
function failingAt(...attempts: number[]): TestProject {
  return smallProject({
    files: {
      'scenarios/steady.yaml': smallScenario({ name: 'steady' }),
      'agents/worker.yaml': {
        ...agentScript([writes('done.txt')]),
        scripts: attempts.map((attempt) => ({ when: { case: 'case', attempt }, turns: [] })),
      },
    },
  })
}

describe('the statistics of --json', () => {
  test('count every verdict, with one denominator for all rates', async () => {
    using project = failingAt(2, 4)
    const { summary } = await gantryTest(project, ['--repeat', '5'])
    expect(summary).toMatchObject({
      verdict: 'fail',
      trials: 10,
      counts: { pass: 8, fail: 2, infra: 0, invalid: 0 },
      notRun: 0,
    })
    expect(summary.cases.map(({ passRate }) => passRate.n)).toEqual([5, 5])
    expect(summary.passRate).toMatchObject({ n: 10 })
  })

  test('give each case its exact interval', async () => {
    using project = failingAt(2, 4)
    const [flaky, steady] = (await gantryTest(project, ['--repeat', '5'])).summary.cases
    expect(flaky?.passRate.value).toBeCloseTo(0.6)
    expect(flaky?.passRate.low).toBeCloseTo(0.1466, 3)
    expect(flaky?.passRate.high).toBeCloseTo(0.9473, 3)
    expect(steady?.passRate).toMatchObject({ value: 1, high: 1 })
    expect(steady?.passRate.low).toBeCloseTo(0.4782, 3)
  })

  test('estimate pass@k and pass^k without bias', async () => {
    using project = failingAt(2, 4)
    const [flaky, steady] = (await gantryTest(project, ['--repeat', '5'])).summary.cases
    // Of 5 trials 3 passed: pass@k = 1 - C(2,k)/C(5,k), pass^k = C(3,k)/C(5,k).
    const rounded = (values: readonly number[] | undefined) =>
      values?.map((value) => Math.round(value * 1000) / 1000)
    expect(rounded(flaky?.passAtK)).toEqual([0.6, 0.9, 1, 1, 1])
    expect(rounded(flaky?.passHatK)).toEqual([0.6, 0.3, 0.1, 0, 0])
    expect(steady?.passHatK).toEqual([1, 1, 1, 1, 1])
  })

  test('mark a case with both outcomes as flaky', async () => {
    using project = failingAt(1)
    const { summary } = await gantryTest(project, ['--repeat', '2'])
    expect(summary.cases.map((entry) => [entry.case, entry.flaky])).toEqual([
      ['case', true],
      ['steady', false],
    ])
    expect(summary.flakeRate).toBe(0.5)
  })

  test('give the suite the mean of its cases, with an interval that a seed fixes', async () => {
    using project = failingAt(1, 2)
    const argv = ['--repeat', '4', '--no-cache', '--seed']
    const first = (await gantryTest(project, [...argv, '7'])).summary.passRate
    const again = (await gantryTest(project, [...argv, '7'])).summary.passRate
    expect(first.value).toBeCloseTo(0.75)
    expect(first.low).toBeLessThan(0.75)
    expect(first.high).toBeGreaterThan(0.75)
    expect(again).toEqual(first)
  })

  test('know nothing about flakiness from single trials', async () => {
    using project = failingAt(1)
    expect((await gantryTest(project)).summary.flakeRate).toBeNull()
  })

  test('show how the tool was used, per case', async () => {
    using project = smallProject({
      scenario: { target: { binary: './bin/tool' } },
      turns: [{ run: 'tool --help' }, { run: 'tool no' }, writes('done.txt')],
      files: { 'bin/tool': '#!/bin/sh\n[ "$1" = --help ]\n' },
    })
    const [entry] = (await gantryTest(project)).summary.cases
    expect(entry?.metrics).toEqual({
      commands: 2,
      errorRate: 0.5,
      firstTrySuccessRate: 0.5,
      helpInvocations: 1,
    })
  })
})
