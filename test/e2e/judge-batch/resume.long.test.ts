import { readFileSync, statSync } from 'node:fs'
import { expect, test } from 'vitest'
import { linesOf, onlyRun, runPath, runTests, until } from '../robustness/lab.ts'
import { gantryTest, type RunDocument, startGantry } from '../support/gantry.ts'
import type { TestProject } from '../support/project.ts'
import { anthropic } from './anthropic.ts'
import { agentUsd, attempts, expectWhole, judged, judgedProject, sorted, withJudge } from './lab.ts'

/** Bytes of finished trials in the run's log. */
const finished = (project: TestProject): number =>
  statSync(runPath(project, onlyRun(project), 'trials.jsonl'), { throwIfNoEntry: false })?.size ?? 0

test('kill -9 while a batch is in progress: its answers are found, nothing is paid twice', async () => {
  // A script that says something else each time must not change what the judge was asked.
  using project = judgedProject({ scenario: { scripts: { post: [{ command: 'date +%N >> done.txt' }] } } })
  const server = await anthropic()
  server.isEnding = false
  const { child, ended } = startGantry(project, judged(60), { env: server.env })
  await until('a run waits for the batch', () => server.polls > 1)
  child.kill('SIGKILL')
  await ended
  server.isEnding = true
  // And once more while the answers are being handed out.
  const again = startGantry(project, ['test', '--resume', onlyRun(project)], { env: server.env })
  await until('a trial is finished', () => finished(project) > 0 || again.child.exitCode !== null)
  again.child.kill('SIGKILL')
  await again.ended
  await expectWhole(project, server, 60)
})

test('kill -9 while a batch is being handed in: it is found by looking for it', async () => {
  using project = judgedProject()
  const server = await anthropic()
  server.isAnswering = false
  const { child, ended } = startGantry(project, judged(10), { env: server.env })
  await until('the batch is there', () => server.batches.length === 1)
  child.kill('SIGKILL')
  await ended
  server.isAnswering = true
  await expectWhole(project, server, 10)
})

test('Ctrl-C while a batch is in progress ends the run and not the batch', async () => {
  using project = judgedProject()
  const server = await anthropic()
  server.isEnding = false
  const { child, ended } = startGantry(project, [...judged(10), '--json'], { env: server.env })
  await until('a run waits for the batch', () => server.polls > 1)
  child.kill('SIGINT')
  const { code, stdout } = await ended
  expect(code).toBe(130)
  const { summary } = JSON.parse(stdout) as RunDocument
  expect(summary.notRun).toBe(10)
  // The agents are paid although nothing can be said of their work yet.
  expect(summary.costUsd).toBeCloseTo(10 * agentUsd, 9)
  expect(readFileSync(runPath(project, onlyRun(project), 'batches.jsonl'), 'utf8')).toContain('msgbatch_1')
  server.isEnding = true
  await expectWhole(project, server, 10)
})

test('the cap holds; what is set aside for the judge and not needed is spent on others; the rest can be resumed', async () => {
  using project = judgedProject({ costUsd: 0 })
  const server = await anthropic()
  const capped = await runTests(
    project,
    [...withJudge, '--repeat', '16', '-j', '1', '--judge-batch', 'always', '--max-cost-usd', '0.1'],
    { env: server.env },
  )
  const { counts, costUsd, notRun } = capped.summary
  expect(server.batches).toHaveLength(1)
  expect(server.batches[0]?.length).toBeGreaterThan(0)
  expect(server.ordinary.length).toBeGreaterThan(0)
  expect(costUsd).toBeLessThanOrEqual(0.1)
  expect(notRun).toBeGreaterThan(0)
  expect(counts).toMatchObject({ pass: 16 - notRun, infra: 0 })
  const resumed = await gantryTest(project, ['--resume', capped.run_id, '--max-cost-usd', '10'], {
    env: server.env,
  })
  expect(resumed.summary.counts).toMatchObject({ pass: 16 })
  expect(sorted([...server.batches.flat(), ...server.ordinary])).toEqual(attempts(16))
  expect(sorted(linesOf(project.path('starts')).map(Number))).toEqual(attempts(16))
})
