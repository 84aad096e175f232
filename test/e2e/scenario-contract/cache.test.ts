import { describe, expect, test } from 'vitest'
import { gantry, gantryTest, onlyTrial } from '../support/gantry.ts'
import { agentScript, smallProject, smallScenario, type TestProject, writes } from '../support/project.ts'
import { trialText } from '../support/trial-files.ts'

const gates = [
  { type: 'file_exists', path: 'done.txt' },
  { type: 'script', command: 'sh scripts/check.sh', description: 'd' },
]
const judge = { enabled: true, rubric: 'rubrics/r.yaml', pass_threshold: 0.1, always: true }
const answers = (count: number) =>
  Array.from({ length: count }, () => ({
    json: { scores: { a: 1 }, confidence: 1, issues: [], highlights: [] },
  }))
const rubric = (description: string) => ({ criteria: [{ id: 'a', weight: 1, description }] })
const scenario = (changes: Record<string, unknown> = {}) =>
  smallScenario({
    target: { binary: './bin/tool', env: { LEVEL: `$\{LEVEL}` } },
    evaluation: { gates, judge },
    ...changes,
  })

/** Two agents that differ in nothing but their name, and everything else that could matter. */
function cachedProject(): TestProject {
  const worker = { driver: 'scripted', script: 'agents/worker.yaml' }
  return smallProject({
    config: { agents: { worker, twin: worker, sh: { driver: 'command', command: ['sh', './agent.sh'] } } },
    files: {
      'agent.sh': 'touch done.txt\n',
      'bin/tool': '#!/bin/sh\necho 1.0\n',
      'scenarios/case.yaml': scenario(),
      'rubrics/r.yaml': rubric('d'),
      'judge.yaml': { answers: answers(1) },
      'other-judge.yaml': { answers: answers(1) },
      'fixtures/template/scripts/check.sh': 'test -e done.txt\n',
      'fixtures/template/initial-state/seed': 'seed\n',
    },
  })
}

const base = ['--agent', 'worker', '--judge-model', 'scripted:judge.yaml']
const env = { LEVEL: '1' }

async function isHit(project: TestProject, argv: string[] = base, vars = env): Promise<boolean> {
  return onlyTrial(await gantryTest(project, argv, { env: vars })).cachedFrom !== null
}

describe('the cache', () => {
  test('answers the same question again, and says from which run', async () => {
    using project = cachedProject()
    const first = await gantryTest(project, base, { env })
    const again = await gantryTest(project, base, { env })
    expect(onlyTrial(again)).toMatchObject({
      cachedFrom: first.run_id,
      verdict: 'pass',
      gates: [{ passed: true }, {}],
    })
    expect(again.summary).toMatchObject({ cached: 1, counts: { pass: 1 } })
    expect(onlyTrial(again).dir).not.toBe(onlyTrial(first).dir)
  })

  test('brings the report and the logs along, and names where they are from', async () => {
    using project = cachedProject()
    const first = await gantryTest(project, base, { env })
    const trial = onlyTrial(await gantryTest(project, base, { env }))
    expect(trialText(trial, 'events.jsonl')).toContain('"event":"complete"')
    expect(trialText(trial, 'metrics.json')).toContain('"outcome"')
    expect(trialText(trial, 'evaluation.md')).toContain(first.run_id)
  })

  test('keeps failures too', async () => {
    using project = cachedProject()
    project.write({ 'agents/worker.yaml': agentScript([]) })
    expect(await isHit(project)).toBe(false)
    expect(onlyTrial(await gantryTest(project, base, { env }))).toMatchObject({
      verdict: 'fail',
      cachedFrom: expect.any(String),
    })
  })

  test('has an entry per repetition: each is a sample of its own', async () => {
    using project = cachedProject()
    project.write({ 'judge.yaml': { answers: answers(3) } })
    await gantryTest(project, base, { env })
    const { trials } = await gantryTest(project, [...base, '--repeat', '3'], { env })
    expect(trials.map(({ cachedFrom }) => cachedFrom !== null)).toEqual([true, false, false])
    expect(new Set(trials.map(({ cacheKey }) => cacheKey)).size).toBe(3)
  })

  test.each([
    ['--no-cache', () => {}, ['--no-cache']],
    [
      'cost.cache: false',
      (project: TestProject) =>
        project.write({ 'scenarios/case.yaml': scenario({ cost: { cache: false } }) }),
      [],
    ],
  ])('is neither read nor written with %s', async (_what, change, flags) => {
    using project = cachedProject()
    change(project)
    const argv = [...base, ...flags]
    expect(await isHit(project, argv)).toBe(false)
    expect(await isHit(project, argv)).toBe(false)
    if (flags.length > 0) expect(await isHit(project)).toBe(false)
  })

  test('is not misled by a store whose run directory is gone', async () => {
    using project = cachedProject()
    await gantryTest(project, base, { env })
    await gantry(project, ['runs', 'clean', '--all', '--yes'])
    expect(await isHit(project)).toBeTypeOf('boolean')
  })
})

describe('a single change of what could matter misses', () => {
  test.each<[string, (project: TestProject) => void, { argv?: string[]; vars?: typeof env }?]>([
    [
      'the prompt',
      (p) => p.write({ 'scenarios/case.yaml': scenario({ task: { prompt: 'Write done.txt!' } }) }),
    ],
    [
      'a gate',
      (p) =>
        p.write({ 'scenarios/case.yaml': scenario({ evaluation: { gates: gates.slice(0, 1), judge } }) }),
    ],
    [
      'a comment in the scenario',
      (p) => p.write({ 'scenarios/case.yaml': `# more\n${p.read('scenarios/case.yaml')}` }),
    ],
    ['AGENTS.md', (p) => p.write({ 'fixtures/template/AGENTS.md': 'Write done.txt, please.\n' })],
    ['a new template file', (p) => p.write({ 'fixtures/template/more.md': '' })],
    [
      'the mode of a template file',
      (p) => p.write({ 'fixtures/template/scripts/check.sh': '#!/bin/sh\ntest -e done.txt\n' }),
    ],
    [
      'a gate script in the template',
      (p) => p.write({ 'fixtures/template/scripts/check.sh': 'test -e done.txt && true\n' }),
    ],
    ['a file of initial-state', (p) => p.write({ 'fixtures/template/initial-state/seed': 'other\n' })],
    ['the rubric', (p) => p.write({ 'rubrics/r.yaml': rubric('another') })],
    [
      'the agent’s script',
      (p) => p.write({ 'agents/worker.yaml': agentScript([writes('done.txt', 'other')]) }),
    ],
    ['the tool’s program', (p) => p.write({ 'bin/tool': '#!/bin/sh\necho 1.1\n' })],
    ['the agent’s name', () => {}, { argv: ['--agent', 'twin', '--judge-model', 'scripted:judge.yaml'] }],
    ['the model', () => {}, { argv: [...base, '--model', 'other'] }],
    [
      'the judge’s model',
      () => {},
      { argv: ['--agent', 'worker', '--judge-model', 'scripted:other-judge.yaml'] },
    ],
    ['the judge left out', () => {}, { argv: ['--agent', 'worker', '--no-judge'] }],
    ['the time limit', () => {}, { argv: [...base, '--timeout', '77s'] }],
    ['the value of a variable in target.env', () => {}, { vars: { LEVEL: '2' } }],
    [
      'another tool',
      (p) => p.write({ 'next/tool': '#!/bin/sh\necho 2.0\n' }),
      { argv: [...base, '--target-binary', 'next/tool'] },
    ],
  ])('%s', async (_what, change, { argv = base, vars = env } = {}) => {
    using project = cachedProject()
    expect(await isHit(project)).toBe(false)
    expect(await isHit(project)).toBe(true)
    change(project)
    expect(await isHit(project, argv, vars)).toBe(false)
  })

  test('the program a command agent is given', async () => {
    using project = cachedProject()
    const argv = ['--agent', 'sh', '--no-judge']
    expect(await isHit(project, argv)).toBe(false)
    expect(await isHit(project, argv)).toBe(true)
    project.write({ 'agent.sh': 'touch done.txt # better\n' })
    expect(await isHit(project, argv)).toBe(false)
  })
})

test('what does not matter hits: another directory of the caller, another concurrency, another reporter', async () => {
  using project = cachedProject()
  expect(await isHit(project)).toBe(false)
  expect(await isHit(project, [...base, '-j', '1', '--reporter', 'md:report.md'])).toBe(true)
})

test('trials that did not really happen are never cached', async () => {
  using infra = smallProject({ turns: [{ infra: { reason: 'auth' } }] })
  await gantryTest(infra, ['--infra-retries', '0'])
  infra.write({ 'fixtures/template/AGENTS.md': 'Write done.txt.\n' })
  expect(onlyTrial(await gantryTest(infra, ['--infra-retries', '0']))).toMatchObject({ cachedFrom: null })
  using invalid = smallProject({ scenario: { setup: { commands: ['test -e /nonexistent'] } } })
  await gantryTest(invalid)
  expect(onlyTrial(await gantryTest(invalid))).toMatchObject({ verdict: 'invalid', cachedFrom: null })
})
