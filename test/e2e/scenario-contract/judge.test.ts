import { describe, expect, test } from 'vitest'
import { gantry, gantryTest, onlyTrial } from '../support/gantry.ts'
import { type SmallProject, smallProject, type TestProject, writes } from '../support/project.ts'
import { trialEvents, trialText } from '../support/trial-files.ts'

const gates = [{ type: 'file_exists', path: 'done.txt' }]
const rubric = {
  criteria: [
    { id: 'complete', weight: 0.75, description: 'Everything that was asked is there.' },
    { id: 'form', weight: 0.25, description: 'It is well formed.' },
  ],
}
const answer = (complete: number, form: number, rest: Record<string, unknown> = {}) => ({
  json: { scores: { complete, form }, confidence: 0.8, issues: ['no heading'], highlights: ['complete'] },
  ...rest,
})

function judged(
  judge: Record<string, unknown>,
  answers: unknown[],
  { scenario, ...rest }: SmallProject = {},
): TestProject {
  return smallProject({
    ...rest,
    scenario: {
      evaluation: {
        gates,
        judge: { enabled: true, rubric: 'rubrics/r.yaml', pass_threshold: 0.7, ...judge },
      },
      ...scenario,
    },
    files: { 'rubrics/r.yaml': rubric, 'judge.yaml': { answers }, ...rest.files },
  })
}

const withJudge = ['--judge-model', 'scripted:judge.yaml']

describe('the judge decides by its weighted score', () => {
  test('at the threshold it passes, and the parts are reported', async () => {
    using project = judged({ pass_threshold: 0.8 }, [answer(0.9, 0.5)])
    const trial = onlyTrial(await gantryTest(project, withJudge))
    expect(trial.verdict).toBe('pass')
    expect(trial.judge).toMatchObject({
      model: 'scripted:judge.yaml',
      passed: true,
      threshold: 0.8,
      weighted_score: 0.8,
      scores: { complete: 0.9, form: 0.5 },
      confidence: 0.8,
      issues: ['no heading'],
      highlights: ['complete'],
      agreement: null,
    })
    const document = trialText(trial, 'evaluation.md')
    for (const part of ['## Judge Score', '**4/5**', '## Judge Feedback', 'no heading', 'form'])
      expect(document).toContain(part)
  })

  test('below the threshold the trial fails although every gate passed', async () => {
    using project = judged({}, [answer(0.5, 0.5)])
    const run = await gantryTest(project, withJudge)
    expect(onlyTrial(run)).toMatchObject({ verdict: 'fail', gates: [{ passed: true }] })
    expect(onlyTrial(run).reason).toContain('the judge gave 0.50, below the threshold of 0.70')
    expect(run.code).toBe(1)
  })

  test('several samples are aggregated as the scenario says, with their agreement', async () => {
    const answers = [answer(1, 1), answer(0.6, 0.6), answer(0.2, 0.2)]
    for (const [aggregate, score] of [
      ['mean', 0.6],
      ['median', 0.6],
      ['min', 0.2],
    ] as const) {
      using project = judged({ samples: 3, aggregate, pass_threshold: 0.5 }, answers)
      const { judge } = onlyTrial(await gantryTest(project, withJudge))
      expect(judge?.weighted_score).toBeCloseTo(score)
      expect(judge?.samples).toHaveLength(3)
      expect(judge?.agreement).toBeGreaterThanOrEqual(0)
    }
  })

  test('it gets the prompt, the criteria, the gates, the files and the transcript, not only their paths', async () => {
    const facts = [
      'Write done.txt.',
      'Everything that was asked is there.',
      'file_exists',
      'content of mine',
      'I am done',
    ]
    using project = judged({}, [answer(1, 1, { match: 'content of mine' })], {
      turns: [writes('done.txt', 'content of mine'), { say: 'I am done' }],
    })
    for (const fact of facts) {
      project.write({ 'judge.yaml': { answers: [answer(1, 1, { match: fact })] } })
      const trial = onlyTrial(await gantryTest(project, [...withJudge, '--no-cache']))
      expect(trial.verdict, fact).toBe('pass')
    }
  })
})

describe('when the judge is asked', () => {
  test('not when a gate failed', async () => {
    using project = judged({}, [answer(1, 1)], { turns: [] })
    const trial = onlyTrial(await gantryTest(project, withJudge))
    expect(trial).toMatchObject({ verdict: 'fail', judge: null })
    expect(trialEvents(trial, 'judge')).toEqual([])
  })

  test('also then with `always`, and the trial still fails', async () => {
    using project = judged({ always: true }, [answer(1, 1)], { turns: [] })
    const trial = onlyTrial(await gantryTest(project, withJudge))
    expect(trial).toMatchObject({ verdict: 'fail', judge: { passed: true } })
  })

  test('after the evaluators', async () => {
    using project = judged({}, [answer(1, 1)], {
      scenario: { scripts: { evaluators: [{ name: 'e', command: "echo '{}'" }] } },
    })
    const kinds = trialEvents(onlyTrial(await gantryTest(project, withJudge))).map(({ event }) => event)
    expect(kinds.filter((kind) => ['gate', 'evaluator', 'judge'].includes(kind))).toEqual([
      'gate',
      'evaluator',
      'judge',
    ])
  })

  test('never with --no-judge or `enabled: false`, and then no model is needed', async () => {
    using project = judged({}, [])
    project.write({ 'judge.yaml': 'not: a script' })
    expect(onlyTrial(await gantryTest(project, ['--no-judge']))).toMatchObject({
      verdict: 'pass',
      judge: null,
    })
    using disabled = judged({ enabled: false }, [answer(0, 0)])
    expect(onlyTrial(await gantryTest(disabled))).toMatchObject({ verdict: 'pass', judge: null })
  })
})

describe('which model judges', () => {
  const scores = (project: TestProject, argv: string[], env: Record<string, string> = {}) =>
    gantryTest(project, [...argv, '--no-cache'], { env }).then((run) => onlyTrial(run).judge?.model)

  test('the flag wins over GANTRY_JUDGE_MODEL, and that over LLM_TOOL_TEST_JUDGE', async () => {
    using project = judged({}, [answer(1, 1)])
    for (const name of ['a', 'b', 'c']) project.write({ [`${name}.yaml`]: { answers: [answer(1, 1)] } })
    const env = { GANTRY_JUDGE_MODEL: 'scripted:b.yaml', LLM_TOOL_TEST_JUDGE: 'scripted:c.yaml' }
    expect(await scores(project, ['--judge-model', 'scripted:a.yaml'], env)).toBe('scripted:a.yaml')
    expect(await scores(project, [], env)).toBe('scripted:b.yaml')
    expect(await scores(project, [], { LLM_TOOL_TEST_JUDGE: 'scripted:c.yaml' })).toBe('scripted:c.yaml')
  })

  test('none named is an error before the agent runs, with the place in the file', async () => {
    using project = judged({}, [answer(1, 1)])
    const { code, stderr } = await gantry(project, ['test'])
    expect(code).toBe(2)
    expect(stderr).toMatch(/case\.yaml:\d+:\d+: .*none was given/)
  })
})

describe('a rubric', () => {
  test.each<[string, unknown, RegExp]>([
    ['that is missing', null, /rubric 'rubrics\/other.yaml' does not exist/],
    ['whose weights miss 1', { criteria: [{ id: 'a', weight: 0.5, description: 'd' }] }, /sum to 0\.5/],
    ['with an unknown key', { ...rubric, critera: [] }, /critera/],
    ['without criteria', { criteria: [] }, /criteria/],
  ])('%s is refused before the run', async (_what, content, message) => {
    using project = judged({ rubric: 'rubrics/other.yaml' }, [answer(1, 1)])
    if (content !== null) project.write({ 'rubrics/other.yaml': content })
    const { code, stderr } = await gantry(project, ['test', ...withJudge])
    expect(code).toBe(2)
    expect(stderr).toMatch(message)
  })

  test('whose weights sum to .99 is accepted', async () => {
    const thirds = ['a', 'b', 'c'].map((id) => ({ id, weight: 0.33, description: 'd' }))
    using project = judged({}, [
      { json: { scores: { a: 1, b: 1, c: 1 }, confidence: 1, issues: [], highlights: [] } },
    ])
    project.write({ 'rubrics/r.yaml': { criteria: thirds } })
    expect(onlyTrial(await gantryTest(project, withJudge)).verdict).toBe('pass')
  })
})

describe('a judge that does not answer', () => {
  const unusable = Array.from({ length: 40 }, () => ({ text: 'I would rather not say.' }))

  test('makes the trial infra, never a failure of the agent', async () => {
    using project = judged({}, unusable)
    const run = await gantryTest(project, withJudge)
    expect(onlyTrial(run)).toMatchObject({ verdict: 'infra', gates: [{ passed: true }] })
    expect(onlyTrial(run).reason).toContain('the judge scripted:judge.yaml gave no usable answer')
    expect(run.code).toBe(3)
  })

  test('does not make the agent work, and be paid, again', async () => {
    using project = judged({}, unusable, {
      config: {
        agents: {
          sh: { driver: 'command', command: ['sh', '-c', 'touch done.txt; echo x >> "$0"', './paid'] },
        },
      },
      files: { paid: '' },
    })
    await gantryTest(project, withJudge)
    expect(project.read('paid')).toBe('x\n')
  })
})

test('a judge that the budget of the run refuses leaves the trial open, and --resume asks only the judge', async () => {
  using project = judged({}, [answer(1, 1)], {
    turns: [{ run: 'echo x >> "$STARTS"' }, { usage: { cost_usd: 0.9 } }, writes('done.txt')],
    config: { models: { 'scripted:judge.yaml': { input_usd_per_mtok: 50, output_usd_per_mtok: 500 } } },
    scenario: { target: { binary: 'sh', env: { STARTS: `$\{STARTS}` } } },
  })
  const env = { STARTS: project.path('starts') }
  const run = await gantryTest(project, [...withJudge, '--max-cost-usd', '1'], { env })
  expect(run.summary).toMatchObject({ notRun: 1, costUsd: 0.9 })
  const { stdout } = await gantry(project, ['runs', 'report', run.run_id])
  expect(stdout.replaceAll(/\s+/g, ' ')).toMatch(
    /the agent is done, but .* the budget of \$1\.00 does not allow a call/,
  )
  const again = await gantryTest(project, ['--resume', run.run_id, '--max-cost-usd', '1000'], { env })
  expect(again.summary).toMatchObject({ counts: { pass: 1 }, notRun: 0 })
  expect(project.read('starts')).toBe('x\n')
})
