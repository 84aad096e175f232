import { describe, expect, test } from 'vitest'
import { gantry, gantryTest, onlyTrial } from '../support/gantry.ts'
import { smallProject, type TestProject } from '../support/project.ts'
import { trialJson, trialText } from '../support/trial-files.ts'

const passing = { type: 'command_succeeds', command: 'true' }
const failing = { type: 'command_succeeds', command: 'false' }

interface Setup {
  readonly gates: readonly Record<string, unknown>[]
  readonly composite?: Record<string, unknown>
  readonly judgeScore?: number
  readonly runs?: readonly string[]
}

function scored({ gates, composite, judgeScore, runs = ['tool ok'] }: Setup): TestProject {
  const judge = { enabled: true, rubric: 'r.yaml', pass_threshold: 0.5, always: true }
  return smallProject({
    scenario: {
      target: { binary: './bin/tool' },
      evaluation: {
        gates,
        ...(composite !== undefined && { composite }),
        ...(judgeScore !== undefined && { judge }),
      },
    },
    turns: runs.map((run) => ({ run })),
    files: {
      'bin/tool': '#!/bin/sh\n[ "$1" = ok ]\n',
      'scenarios/r.yaml': { criteria: [{ id: 'a', weight: 1, description: 'd' }] },
      'judge.yaml': {
        answers: [{ json: { scores: { a: judgeScore ?? 0 }, confidence: 1, issues: [], highlights: [] } }],
      },
    },
  })
}

const withJudge = ['--judge-model', 'scripted:judge.yaml']

describe('the composite score', () => {
  test('is .55 judge, .35 gates and .10 first tries', async () => {
    using project = scored({
      gates: [passing, failing],
      composite: {},
      judgeScore: 0.8,
      runs: ['tool ok', 'tool no'],
    })
    const trial = onlyTrial(await gantryTest(project, withJudge))
    expect(trial.score).toBeCloseTo(0.55 * 0.8 + 0.35 * 0.5 + 0.1 * 0.5)
    expect(trial.tier).toBe('Acceptable')
    expect(trialJson(trial, 'metrics.json')).toMatchObject({
      composite_score: trial.score,
      tier: 'Acceptable',
    })
    expect(trialText(trial, 'evaluation.md')).toContain('Composite score')
  })

  test('takes the weights of the scenario', async () => {
    const composite = { judge_weight: 0, gate_weight: 0.5, interaction_weight: 0.5 }
    using project = scored({ gates: [passing], composite, runs: ['tool no', 'tool ok'] })
    expect(onlyTrial(await gantryTest(project)).score).toBeCloseTo(0.75)
  })

  test('leaves the weight of an absent judge out', async () => {
    using project = scored({ gates: [passing], composite: {} })
    expect(onlyTrial(await gantryTest(project))).toMatchObject({ score: 1, tier: 'Excellent' })
  })

  test('is nowhere when the scenario configures none', async () => {
    using project = scored({ gates: [passing] })
    const trial = onlyTrial(await gantryTest(project))
    expect(trial).toMatchObject({ score: null, tier: null })
    expect(trialJson(trial, 'metrics.json')).not.toHaveProperty('composite_score')
    expect(trialText(trial, 'evaluation.md')).not.toMatch(/composite/i)
    const { stdout } = await gantry(project, ['test', '--no-cache'])
    expect(stdout).not.toMatch(/composite|Excellent|Poor/)
  })

  test.each([
    [1, 'Excellent'],
    [0.9, 'Excellent'],
    [0.89, 'Good'],
    [0.7, 'Good'],
    [0.69, 'Acceptable'],
    [0.5, 'Acceptable'],
    [0.49, 'Poor'],
  ])('%d is %s', async (judgeScore, tier) => {
    const composite = { judge_weight: 1, gate_weight: 0, interaction_weight: 0 }
    using project = scored({ gates: [passing], composite, judgeScore })
    expect(onlyTrial(await gantryTest(project, withJudge)).tier).toBe(tier)
  })

  test('never decides: a poor score passes and an excellent one fails', async () => {
    using poor = scored({
      gates: [passing],
      composite: { judge_weight: 0, gate_weight: 0.1, interaction_weight: 0.9 },
      runs: ['tool no'],
    })
    expect(onlyTrial(await gantryTest(poor))).toMatchObject({ verdict: 'pass', tier: 'Poor' })
    const composite = { judge_weight: 1, gate_weight: 0, interaction_weight: 0 }
    using excellent = scored({ gates: [failing], composite, judgeScore: 1 })
    expect(onlyTrial(await gantryTest(excellent, withJudge))).toMatchObject({
      verdict: 'fail',
      tier: 'Excellent',
    })
  })
})

describe('the outcome', () => {
  test('is a pass only when every gate passes, and says what was proven', async () => {
    using all = scored({ gates: [passing, passing] })
    expect(onlyTrial(await gantryTest(all))).toMatchObject({ verdict: 'pass', reason: 'all 2 gates passed' })
    using one = scored({ gates: [passing, failing, passing] })
    const trial = onlyTrial(await gantryTest(one))
    expect(trial.verdict).toBe('fail')
    expect(trial.reason).toMatch(/^1 of 3 gates failed: command_succeeds: /)
  })

  test('does not follow from how the tool was used', async () => {
    using project = scored({ gates: [passing], runs: ['tool no', 'tool no', 'tool no'] })
    expect(onlyTrial(await gantryTest(project))).toMatchObject({
      verdict: 'pass',
      metrics: { error_rate: 1 },
    })
  })

  test('does not follow from what the agent claims', async () => {
    using project = smallProject({
      turns: [{ lie: { claim: 'test -e done.txt' } }, { say: 'Done, all gates pass.' }],
    })
    expect(onlyTrial(await gantryTest(project)).verdict).toBe('fail')
  })
})
