import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { PairTranscript, StoredPair } from '../../../src/scenario/judged-pairs.ts'
import type { JudgeCalibration } from '../../../src/scenario/label-trials.ts'
import { gantry, gantryTest } from '../support/gantry.ts'
import { smallProject, smallScenario, type TestProject } from '../support/project.ts'

const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
const judge = ['--judge-model', 'scripted:judge.yaml']
const arms = ['--arms', 'base,docs']

/** Which of the marks comes first in the question decides who is shown first. */
const answers = {
  docsWin: [
    {
      match: 'Answer B. What the agent said at the end:\n<<<data-1-block\n| ripe',
      json: { winner: 'B', reason: 'ripe' },
    },
    { match: 'ripe', json: { winner: 'A', reason: 'ripe' } },
  ],
  firstWins: [{ match: 'Compare the answers', json: { winner: 'A', reason: 'the first one' } }],
}

function project(
  given: readonly unknown[],
  { judge: more = {}, gates = [{ type: 'file_exists', path: 'done.txt' }] as readonly unknown[] } = {},
): TestProject {
  const evaluation = {
    gates,
    judge: { enabled: true, mode: 'pairwise', rubric: 'rubrics/r.yaml', ...more },
  }
  const priced = given.map((answer) => ({ ...(answer as object), usage: { output_tokens: 1000 } }))
  return smallProject({
    scenario: { name: 'z', evaluation },
    config: {
      agents: {
        worker: {
          driver: 'command',
          command: ['sh', '-c', 'pwd > done.txt; if [ -n "$DOCS" ]; then echo ripe; else echo raw; fi'],
        },
      },
      arms: { base: { agent: 'worker' }, docs: { agent: 'worker', env: { DOCS: '1' } } },
      models: { 'judge.yaml': { input_usd_per_mtok: 0, output_usd_per_mtok: 1 } },
    },
    files: {
      ...Object.fromEntries(
        names.map((name) => [`scenarios/${name}.yaml`, smallScenario({ name, evaluation })]),
      ),
      'rubrics/r.yaml': { criteria: [{ id: 'taste', weight: 1, description: 'It tastes good.' }] },
      'judge.yaml': { answers: priced },
    },
  })
}

function pairsOf(runDir: string): (StoredPair & PairTranscript)[] {
  const trials = join(runDir, 'trials')
  return readdirSync(trials)
    .map((name) => join(trials, name, 'pairwise.json'))
    .filter((path) => existsSync(path))
    .map((path) => JSON.parse(readFileSync(path, 'utf8')) as StoredPair & PairTranscript)
}

test('a judge compares the answers of two arms in both orders, blind, and its preference is in every report', async () => {
  using place = project(answers.docsWin)
  const found = await gantryTest(place, [...arms, ...judge])
  expect(found.code, found.stderr).toBe(0)
  expect(found.comparisons).toMatchObject([
    {
      verdict: 'inconclusive',
      preference: {
        model: 'scripted:judge.yaml',
        pairs: 8,
        wins: 8,
        losses: 0,
        ties: 0,
        win_rate: { value: 1 },
        unit: 'cases',
        order_effect: { value: 0, n: 8 },
        longer_wins: { value: 1, n: 8 },
        cost_usd: 0.016,
        not_judged: [],
      },
    },
  ])
  expect(found.trials.every(({ verdict }) => verdict === 'pass')).toBe(true)
  expect(found.summary.costUsd).toBeCloseTo(0.016)
  const pairs = pairsOf(found.run_dir)
  expect(pairs.length).toBe(8)
  expect(pairs[0]).toMatchObject({
    agents: ['base', 'docs'],
    orders: ['after', 'after'],
    samples: [
      { shown_first: 'before', winner: 'after', reason: 'ripe' },
      { shown_first: 'after', winner: 'after' },
    ],
  })
  expect(pairs[0]?.question.prompt).toContain('It tastes good.')
  expect(pairs[0]?.question.prompt).not.toContain('-docs-')
  for (const reporter of ['console', 'md', 'html']) {
    const { stdout } = await gantry(place, ['runs', 'report', 'latest', '--reporter', reporter])
    expect(stdout).toContain('The judge scripted:judge.yaml prefers B (docs)')
    expect(stdout).toContain('B won 8, A won 0, 0 ties')
  }
  const turned = await gantry(place, ['compare', 'latest:docs', 'latest:base', '--json'])
  expect(JSON.parse(turned.stdout)).toMatchObject({
    preference: { wins: 0, losses: 8, win_rate: { value: 0 } },
  })
})

test('a judge that takes the first answer gives ties, and calibrate says so', async () => {
  using place = project(answers.firstWins)
  const { comparisons } = await gantryTest(place, [...arms, ...judge, '--repeat', '2'])
  expect(comparisons?.[0]?.preference).toMatchObject({
    pairs: 16,
    ties: 16,
    order_effect: { value: 1, n: 16 },
    first_preferred: { value: 1, n: 16 },
    longer_wins: { value: null, n: 0 },
  })
  const { stdout } = await gantry(place, ['judge', 'calibrate'])
  expect(stdout).toMatch(/compared +16 pairs/)
  expect(stdout).toMatch(/order decides +in 100% .* of 16 pairs; the first answer gained in 100%/)
  expect(stdout).not.toContain('kappa')
})

test('labels say whether the better answer wins', async () => {
  using place = project(answers.docsWin)
  const { trials, run_id } = await gantryTest(place, [...arms, ...judge])
  const rows = trials.map(({ id, agent }) => `${run_id},${id},${agent === 'docs' ? 'pass' : 'fail'}`)
  place.write({ 'labels.csv': `run,trial,label\n${rows.join('\n')}\n` })
  expect((await gantry(place, ['label', '--import', 'labels.csv'])).code).toBe(0)
  const { stdout } = await gantry(place, ['judge', 'calibrate', '--json'])
  const { judges } = JSON.parse(stdout) as { judges: JudgeCalibration[] }
  expect(judges).toMatchObject([{ pairwise: { pairs: 8, prefers_good: { value: 1, n: 8 } }, judged: 0 }])
})

test('only work that passed its gates is compared, unless the judge is always asked', async () => {
  const gates = [{ type: 'command_succeeds', command: 'test "$(pwd | grep -c docs)" = 0' }]
  using strict = project(answers.docsWin, { gates })
  const left = await gantryTest(strict, [...arms, ...judge])
  expect(left.comparisons?.[0]?.preference).toMatchObject({
    pairs: 0,
    win_rate: { value: null },
    not_judged: [{ reason: 'a gate failed', pairs: 8 }],
  })
  using always = project(answers.docsWin, { gates, judge: { always: true } })
  const all = await gantryTest(always, [...arms, ...judge])
  expect(all.comparisons?.[0]?.preference).toMatchObject({ pairs: 8, wins: 8 })
})

test('agents without arms are compared too, and failures keep their exit code', async () => {
  using place = project(answers.docsWin, { gates: [], judge: { samples: 1 } })
  place.write({
    'gantry.yaml': {
      agents: {
        raw: { driver: 'command', command: ['sh', '-c', 'echo raw'] },
        ripe: { driver: 'command', command: ['sh', '-c', 'echo ripe'] },
      },
    },
  })
  const found = await gantryTest(place, ['--agent', 'raw,ripe', '--filter', 'a', ...judge])
  expect(found.comparisons).toMatchObject([
    { before: { name: 'raw' }, after: { name: 'ripe' }, preference: { pairs: 1, wins: 1, unit: 'trials' } },
  ])
  place.write({
    'scenarios/a.yaml': smallScenario({
      name: 'a',
      evaluation: {
        gates: [{ type: 'file_exists', path: 'none' }],
        judge: { enabled: true, mode: 'pairwise', rubric: 'rubrics/r.yaml' },
      },
    }),
  })
  expect((await gantryTest(place, ['--agent', 'raw,ripe', '--filter', 'a', ...judge])).code).toBe(1)
  const alone = await gantry(place, ['test', '--agent', 'raw', '--filter', 'b'])
  expect(alone.stdout).toContain("the judge of 'b' compares two arms or agents, and this run has one")
  expect(alone.code).toBe(0)
})

test('the plan says what the pairs can cost, and the budget stops them; a resumed run asks only for the rest', async () => {
  using place = project(answers.docsWin)
  const { stdout } = await gantry(place, ['test', ...arms, ...judge, '--plan'])
  expect(stdout).toMatch(
    /pairs +at most 16 calls to scripted:judge.yaml that compare two answers, for at most \$/,
  )
  expect(stdout).toContain('between two arms, paired by case')
  const cut = await gantryTest(place, [...arms, ...judge, '--max-cost-usd', '0.02', '--concurrency', '1'])
  const [left] = cut.comparisons ?? []
  expect(left?.preference?.not_judged).toMatchObject([{ reason: expect.stringContaining('budget') }])
  const paid = left?.preference?.pairs ?? 0
  expect(paid).toBeLessThan(8)
  const whole = await gantryTest(place, ['--resume', cut.run_id, '--max-cost-usd', '9'])
  expect(whole.comparisons?.[0]?.preference).toMatchObject({ pairs: 8, cost_usd: 0.016, not_judged: [] })
  expect(whole.summary.costUsd).toBeCloseTo(0.016)
})

test('the same answers of a later run are not paid again, and regrade asks when it is told to', async () => {
  using place = project(answers.docsWin)
  const first = await gantryTest(place, [...arms, ...judge, '--filter', 'a'])
  const again = await gantryTest(place, [...arms, ...judge, '--filter', 'a'])
  expect(again.summary.cached).toBe(2)
  expect(again.comparisons?.[0]?.preference).toMatchObject({ pairs: 1, wins: 1, cost_usd: 0 })
  rmSync(join(first.run_dir, 'trials', first.trials[0]?.id ?? '', 'fixture'), { recursive: true })
  const gone = await gantryTest(place, [...arms, ...judge, '--filter', 'a'])
  expect(gone.comparisons?.[0]?.preference?.not_judged).toEqual([
    { reason: 'a workspace was removed', pairs: 1 },
  ])
  const fresh = await gantryTest(place, [...arms, ...judge, '--filter', 'a', '--no-cache'])
  place.write({ 'judge.yaml': { answers: answers.firstWins } })
  expect((await gantry(place, ['runs', 'regrade', fresh.run_id])).code).toBe(0)
  const kept = await gantry(place, ['compare', 'latest:base', 'latest:docs', '--json'])
  expect(JSON.parse(kept.stdout)).toMatchObject({ preference: { wins: 1 } })
  expect((await gantry(place, ['runs', 'regrade', fresh.run_id, '--judge'])).code).toBe(0)
  const asked = await gantry(place, ['compare', 'latest:base', 'latest:docs', '--json'])
  expect(JSON.parse(asked.stdout)).toMatchObject({ preference: { wins: 0, ties: 1 } })
})

test('the merge of shards has the preferences of all of them', async () => {
  using place = project(answers.docsWin)
  for (const index of [1, 2]) {
    const flags = [...arms, ...judge, '--shard', `${index}/2`, '--reporter', `blob:shard-${index}.blob`]
    expect((await gantry(place, ['test', ...flags])).code).toBe(0)
  }
  const merged = await gantry(place, ['runs', 'merge', 'shard-1.blob', 'shard-2.blob', '--json'])
  expect(merged.code, merged.stderr).toBe(0)
  expect(JSON.parse(merged.stdout)).toMatchObject({
    summary: { costUsd: 0.016 },
    comparisons: [{ preference: { pairs: 8, wins: 8, cost_usd: 0.016 } }],
  })
})
