import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { linesOf, runShell, until } from '../robustness/lab.ts'
import { gantry, gantryTest, type RunDocument, startGantry } from '../support/gantry.ts'
import { smallProject } from '../support/project.ts'
import { anthropic, scoreOf } from './anthropic.ts'
import {
  agentUsd,
  attempts,
  batchedUsd,
  expectWhole,
  judged,
  judgedProject,
  ordinaryUsd,
  sorted,
  withJudge,
} from './lab.ts'

const sixty = [...withJudge, '--repeat', '60', '-j', '2']
const ten = [...withJudge, '--repeat', '10', '-j', '4', '--judge-batch', 'always']

test('sixty judge calls go out as one batch, at half the price, and every trial gets its own answer', async () => {
  using project = judgedProject()
  const server = await anthropic()
  // Those that wait keep no file open: there are not two for each of them.
  const { stdout } = await runShell(
    project,
    `ulimit -n 90; $GANTRY test ${sixty.join(' ')} --json`,
    server.env,
  )
  const run = JSON.parse(stdout) as RunDocument
  expect(run.summary.counts).toMatchObject({ pass: 60 })
  expect(server.batches.map(sorted)).toEqual([attempts(60)])
  expect(server.ordinary).toEqual([])
  for (const { attempt, judge, costUsd } of run.trials) {
    expect(judge).toMatchObject({ weighted_score: scoreOf(attempt), costUsd: batchedUsd })
    expect(costUsd).toBeCloseTo(agentUsd + batchedUsd, 9)
  }
  expect(readFileSync(join(run.run_dir, 'batches.jsonl'), 'utf8')).toContain('msgbatch_1')
})

test('forty-nine are asked one by one', async () => {
  using project = judgedProject()
  const server = await anthropic()
  const run = await gantryTest(project, [...withJudge, '--repeat', '49', '-j', '4'], { env: server.env })
  expect(run.summary.counts).toMatchObject({ pass: 49 })
  expect(server.batches).toEqual([])
  expect(sorted(server.ordinary)).toEqual(attempts(49))
  expect(run.trials[0]?.judge?.costUsd).toBe(ordinaryUsd)
})

test('several samples of a trial count each, and no more agents work at a time than allowed', async () => {
  using project = judgedProject({
    judge: { samples: 5 },
    agent:
      'mkdir -p "$PLACE/busy/$GANTRY_ATTEMPT"; ls "$PLACE/busy" | wc -l >> "$PLACE/most"; sleep 0.05; rmdir "$PLACE/busy/$GANTRY_ATTEMPT"',
  })
  const server = await anthropic()
  const run = await gantryTest(project, [...withJudge, '--repeat', '12', '-j', '2'], { env: server.env })
  expect(run.summary.counts).toMatchObject({ pass: 12 })
  expect(server.batches.map(sorted)).toEqual([attempts(12).flatMap((attempt) => Array(5).fill(attempt))])
  expect(server.ordinary).toEqual([])
  expect(Math.max(...linesOf(project.path('most')).map(Number))).toBe(2)
})

test('--judge-batch never asks one by one, always from one call up; the flag wins over the environment', async () => {
  using project = judgedProject()
  const server = await anthropic()
  const env = { ...server.env, GANTRY_JUDGE_BATCH: 'never' }
  const two = [...withJudge, '--repeat', '2']
  await gantryTest(project, two, { env })
  expect([server.batches.length, server.ordinary.length]).toEqual([0, 2])
  const run = await gantryTest(project, [...two, '--judge-batch', 'always'], { env })
  expect(run.summary.counts).toMatchObject({ pass: 2 })
  expect([server.batches.length, server.ordinary.length]).toEqual([1, 2])
})

test('a judge without batches and an invalid value are refused before anything runs', async () => {
  using project = smallProject({
    scenario: {
      evaluation: { gates: [], judge: { enabled: true, rubric: 'rubric.yaml', pass_threshold: 0 } },
    },
    files: {
      'rubric.yaml': { criteria: [{ id: 'complete', weight: 1, description: 'All is there.' }] },
      'judge.yaml': { answers: [{ text: 'no' }] },
    },
  })
  const scripted = ['test', '--judge-model', 'scripted:judge.yaml']
  const always = await gantry(project, [...scripted, '--judge-batch', 'always'])
  expect(always).toMatchObject({ code: 2, stdout: '' })
  expect(always.stderr).toContain("the judge 'scripted:judge.yaml' does not support batches")
  const often = await gantry(project, scripted, { env: { GANTRY_JUDGE_BATCH: 'often' } })
  expect(often).toMatchObject({ code: 2, stdout: '' })
  expect(often.stderr).toContain("GANTRY_JUDGE_BATCH is 'often'")
  const sometimes = await gantry(project, [...scripted, '--judge-batch', 'sometimes'])
  expect(sometimes).toMatchObject({ code: 2, stdout: '' })
})

test('calls that a batch does not answer are sent one by one', async () => {
  using project = judgedProject()
  const server = await anthropic({
    result: (attempt) => {
      if (attempt === 3) return { type: 'expired' }
      if (attempt === 4) return { type: 'canceled' }
      if (attempt > 6) return null
      const type = attempt === 5 ? 'api_error' : 'invalid_request_error'
      return { type: 'errored', error: { type: 'error', error: { type, message: 'no' } } }
    },
  })
  const run = await gantryTest(project, ten, { env: server.env })
  expect(run.summary.counts).toMatchObject({ pass: 10 })
  expect(server.batches).toHaveLength(1)
  expect(sorted(server.ordinary)).toEqual([1, 2, 3, 4, 5, 6])
  const costs = run.trials.map(({ judge }) => judge?.costUsd)
  expect(costs.filter((cost) => cost === ordinaryUsd)).toHaveLength(6)
  expect(costs.filter((cost) => cost === batchedUsd)).toHaveLength(4)
})

test('a server without batches is asked one by one', async () => {
  using project = judgedProject()
  const server = await anthropic({ refuses: 404 })
  const run = await gantryTest(project, ten, { env: server.env })
  expect(run.summary.counts).toMatchObject({ pass: 10 })
  expect(sorted(server.ordinary)).toEqual(attempts(10))
})

test('the console shows what the run waits for', async () => {
  using project = judgedProject()
  const server = await anthropic()
  const { stdout, stderr } = await gantry(
    project,
    ['test', ...withJudge, '--repeat', '2', '--judge-batch', 'always'],
    { env: server.env },
  )
  expect(stdout + stderr).toContain('2 judge calls wait in a batch (msgbatch_1)')
})

test('--plan shows whether the judge uses batches', async () => {
  using project = judgedProject()
  const { env } = await anthropic()
  const plan = async (...argv: string[]): Promise<string> =>
    (await gantry(project, ['test', '--plan', ...withJudge, ...argv], { env })).stdout
  expect(await plan('--repeat', '50')).toMatch(
    /judge +at most 50 calls to anthropic:claude-sonnet-5-5, in batches at half the price/,
  )
  expect(await plan('--repeat', '49')).toMatch(/judge +at most 49 calls to anthropic:claude-sonnet-5-5\n/)
  expect(await plan('--repeat', '1', '--judge-batch', 'always')).toMatch(/judge +at most 1 call .*in batches/)
})

test('a run killed while its batch is in progress finds the answers, and pays nothing twice', async () => {
  using project = judgedProject()
  const server = await anthropic()
  server.isEnding = false
  const { child, ended } = startGantry(project, judged(3), { env: server.env })
  await until('somebody waits for the batch', () => server.polls > 1)
  child.kill('SIGKILL')
  await ended
  server.isEnding = true
  await expectWhole(project, server, 3)
})
