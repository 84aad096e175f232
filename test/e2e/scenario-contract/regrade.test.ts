import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import type { Regrade } from '../../../src/core/regrade.ts'
import { type GantryResult, gantry, gantryTest, type RunDocument, startGantry } from '../support/gantry.ts'
import { smallProject, smallScenario, type TestProject } from '../support/project.ts'

type Regraded = RunDocument & GantryResult & { readonly regrade: Regrade }

async function regrade(project: TestProject, ...flags: string[]): Promise<Regraded> {
  const result = await gantry(project, ['runs', 'regrade', 'latest', ...flags, '--json'])
  if (result.stdout === '') throw new Error(result.stderr)
  return { ...(JSON.parse(result.stdout) as Regraded), ...result }
}

const gates = (...list: readonly Record<string, unknown>[]) => ({ evaluation: { gates: list } })
const sloppy = { type: 'file_exists', path: 'done.txt' }
const strict = { type: 'file_contains', path: 'done.txt', substring: 'all of it' }

function twoCases() {
  return smallProject({
    scenario: { name: 'a' },
    files: { 'scenarios/b.yaml': smallScenario({ name: 'b' }) },
  })
}

test('new gates grade the old work, without an agent, and say what changed', async () => {
  using project = twoCases()
  const first = await gantryTest(project)
  expect(first.code).toBe(0)
  project.write({
    'scenarios/case.yaml': smallScenario({ name: 'a', ...gates(sloppy, strict) }),
    // Nothing could run it now.
    'agents/worker.yaml': 'not a script',
  })
  const found = await regrade(project)
  expect(found.regrade).toMatchObject({
    run_id: first.run_id,
    trials: 2,
    changed: [
      {
        case: 'a',
        was: 'pass',
        is: 'fail',
        reason: expect.stringContaining('1 of 2 gates failed: file_contains'),
      },
    ],
    left_out: [],
  })
  expect(found.code).toBe(1)
  expect(found.run_id).not.toBe(first.run_id)
  // The case whose graders changed is another one now, and the other has the same trials.
  const compared = await gantry(project, ['compare', first.run_id, found.run_id])
  expect(compared.stderr).toMatch(/judge changed in between; both sides have the same trials/)
  expect(compared.code).toBe(2)
  await gantry(project, ['runs', 'bless', found.run_id, '--to', 'baseline.json'])
  const { cases } = JSON.parse(project.read('baseline.json')) as { cases: { caseHash: string | null }[] }
  expect(cases.map(({ caseHash }) => typeof caseHash)).toEqual(['string', 'string'])
  expect(found.summary).toMatchObject({ counts: { pass: 1, fail: 1 }, cached: 2, notRun: 0 })
  const trial = found.trials.find((each) => each.case === 'a')
  expect(trial?.gates.map(({ passed }) => passed)).toEqual([true, false])
  const events = readFileSync(join(trial?.dir ?? '', 'events.jsonl'), 'utf8')
  expect(events.match(/"event":"gate"/g)).toHaveLength(2)
  const shown = await gantry(project, ['runs', 'report', 'latest', '--reporter', 'console'])
  expect(shown.stdout).toContain('1 verdict changed')
  expect(shown.stdout).toMatch(/a \(worker\) +pass +fail/)
})

test('a regraded run can be graded again, from the cache too', async () => {
  using project = twoCases()
  await gantryTest(project)
  const cached = await gantryTest(project)
  expect(cached.summary.cached).toBe(2)
  project.write({ 'scenarios/case.yaml': smallScenario({ name: 'a', ...gates(strict) }) })
  expect((await regrade(project)).regrade.changed).toMatchObject([{ is: 'fail' }])
  project.write({ 'scenarios/case.yaml': smallScenario({ name: 'a', ...gates(sloppy) }) })
  expect((await regrade(project)).regrade.changed).toMatchObject([{ was: 'fail', is: 'pass' }])
})

test('what cannot be graded again is left out, with the reason', async () => {
  using project = smallProject({
    scenario: { name: 'a' },
    files: Object.fromEntries(
      ['b', 'c', 'd', 'e', 'f', 'g', 'h'].map((name) => [`scenarios/${name}.yaml`, smallScenario({ name })]),
    ),
  })
  const configured = smallScenario({ name: 'i', target: 'from_config' })
  const config = parse(project.read('gantry.yaml')) as Record<string, unknown>
  project.write({ 'scenarios/i.yaml': configured, 'gantry.yaml': { ...config, target: { binary: 'sh' } } })
  const { trials } = await gantryTest(project)
  const dirOf = (name: string): string => trials.find((each) => each.case === name)?.dir ?? ''
  rmSync(join(dirOf('b'), 'fixture'), { recursive: true })
  rmSync(project.path('scenarios/c.yaml'))
  project.write({
    'gantry.yaml': { ...config, target: { binary: 'cat' } },
    'scenarios/f.yaml': smallScenario({ name: 'f', setup: { commands: ['true'] } }),
    'scenarios/g.yaml': smallScenario({ name: 'g', target: { binary: 'cat' } }),
    'scenarios/h.yaml': smallScenario({ name: 'h', scripts: { post: [{ command: 'true' }] } }),
    'scenarios/d.yaml': smallScenario({ name: 'd', task: { prompt: 'Another task.' } }),
    'scenarios/e.yaml': smallScenario({
      name: 'e',
      ...gates({ type: 'workspace_delta', created: ['done.txt'] }),
    }),
  })
  const { regrade: found, summary, code } = await regrade(project)
  expect(found.left_out.map((each) => [each.case, each.reason])).toEqual([
    ['b', 'its workspace was removed'],
    ['c', 'the scenario is gone'],
    ['d', "its task changed, so the agent's work answers another question"],
    ['e', 'what the agent changed was not recorded for this gate'],
    ['f', "its setup changed, so the agent's work answers another question"],
    ['g', "its target changed, so the agent's work answers another question"],
    ['h', "its post scripts changed, so the agent's work answers another question"],
    ['i', "its target changed, so the agent's work answers another question"],
  ])
  expect(summary).toMatchObject({ verdict: 'partial', notRun: 8, counts: { pass: 1 } })
  expect(code).toBe(0)
})

test('a template that changed is another question, but its grading script may change', async () => {
  const graded = gates({ type: 'script', command: 'sh check.sh', description: 'checks' })
  using project = smallProject({
    scenario: { name: 'a', ...graded },
    files: {
      'fixtures/template/check.sh': 'true\n',
      'scenarios/b.yaml': smallScenario({ name: 'b', template_folder: 'other' }),
      'fixtures/other/AGENTS.md': 'Write done.txt.\n',
    },
  })
  await gantryTest(project)
  project.write({ 'fixtures/template/check.sh': 'false\n', 'fixtures/other/AGENTS.md': 'Write it now.\n' })
  const { regrade: found, trials } = await regrade(project)
  expect(found.changed).toMatchObject([{ case: 'a', was: 'pass', is: 'fail' }])
  expect(found.left_out).toMatchObject([
    { case: 'b', reason: expect.stringMatching(/^its template changed/) },
  ])
  expect(trials[0]?.warnings).toEqual(['check.sh, which grades it, has changed since'])
})

test('a trial whose agent could not work is left out, and an invalid one too', async () => {
  const error = '{"event":"error","reason":"auth","message":"no key"}'
  using project = smallProject({
    scenario: { name: 'a', task: { prompt: 'refused' } },
    config: {
      agents: {
        worker: {
          driver: 'command',
          output: 'events',
          command: [
            'sh',
            '-c',
            `case "$0" in refused) echo '${error}'; exit 1;; esac; touch done.txt`,
            '{prompt}',
          ],
        },
      },
    },
    files: {
      'scenarios/b.yaml': smallScenario({ name: 'b' }),
      'scenarios/c.yaml': smallScenario({ name: 'c', setup: { commands: ['false'] } }),
    },
  })
  const { trials } = await gantryTest(project, ['--infra-retries', '0', '--max-infra-rate', '1'])
  expect(trials.map((each) => [each.case, each.verdict]).sort()).toEqual([
    ['a', 'infra'],
    ['b', 'pass'],
    ['c', 'invalid'],
  ])
  const { regrade: found, summary } = await regrade(project)
  expect(found.left_out.map((each) => [each.case, each.reason]).sort()).toEqual([
    ['a', 'the agent could not work'],
    ['c', 'the agent did not run'],
  ])
  expect(summary).toMatchObject({ counts: { pass: 1, fail: 0, infra: 0, invalid: 0 }, notRun: 2 })
})

test('scripts that grade come from the template of now, and post scripts do not run again', async () => {
  using project = smallProject({
    scenario: {
      scripts: { post: [{ command: 'echo x >> runs.txt' }] },
      ...gates({ type: 'script', command: './check.sh', description: 'It is done.' }),
    },
    files: { 'fixtures/template/check.sh': '#!/bin/sh\ntest -f done.txt\n' },
  })
  expect((await gantryTest(project)).code).toBe(0)
  project.write({
    'fixtures/template/check.sh': '#!/bin/sh\ntest "$(wc -l < runs.txt)" -eq 1 && exit 7\nexit 0\n',
  })
  expect((await regrade(project)).regrade.changed).toMatchObject([{ was: 'pass', is: 'fail' }])
})

test('the answer of the judge stays until it is asked again', async () => {
  const answer = (score: number) => ({
    json: { scores: { complete: score }, confidence: 1, issues: [], highlights: [] },
  })
  const judged = (pass_threshold: number, enabled = true) => ({
    evaluation: { gates: [sloppy], judge: { enabled, rubric: 'rubrics/r.yaml', pass_threshold } },
  })
  using project = smallProject({
    scenario: judged(0.7),
    files: {
      'rubrics/r.yaml': { criteria: [{ id: 'complete', weight: 1, description: 'All of it is there.' }] },
      'judge.yaml': { answers: [answer(0.2)] },
    },
  })
  project.write({
    'scenarios/case.yaml': smallScenario({ evaluation: { ...judged(0.7).evaluation, gates: [strict] } }),
  })
  expect((await gantryTest(project, ['--judge-model', 'scripted:judge.yaml'])).trials[0]?.judge).toBeNull()
  project.write({ 'scenarios/case.yaml': smallScenario(judged(0.7)) })
  expect((await regrade(project)).regrade.left_out).toMatchObject([
    { reason: expect.stringContaining('the judge was never asked: add --judge') },
  ])
  expect((await gantryTest(project, ['--judge-model', 'scripted:judge.yaml'])).code).toBe(1)
  project.write({ 'judge.yaml': { answers: [answer(0.9)] } })
  const kept = await regrade(project)
  expect(kept.regrade.changed).toEqual([])
  expect(kept.trials[0]?.judge).toMatchObject({ weighted_score: 0.2 })
  project.write({ 'scenarios/case.yaml': smallScenario(judged(0.1)) })
  const lower = await regrade(project)
  expect(lower.regrade.changed).toMatchObject([{ was: 'fail', is: 'pass' }])
  expect(lower.trials[0]?.judge).toMatchObject({ weighted_score: 0.2, threshold: 0.1, passed: true })
  project.write({ 'scenarios/case.yaml': smallScenario(judged(0.7)) })
  expect((await regrade(project)).regrade.changed).toMatchObject([{ was: 'pass', is: 'fail' }])
  project.write({ 'scenarios/case.yaml': smallScenario(judged(0.7, false)) })
  const unjudged = await regrade(project)
  expect(unjudged.regrade.changed).toMatchObject([{ was: 'fail', is: 'pass' }])
  expect(unjudged.trials[0]?.judge).toBeNull()
  project.write({ 'scenarios/case.yaml': smallScenario(judged(0.7)) })
  const asked = await regrade(project, '--judge')
  expect(asked.trials[0]).toMatchObject({ verdict: 'pass', judge: { weighted_score: 0.9 } })
  project.write({
    'rubrics/r.yaml': { criteria: [{ id: 'complete', weight: 1, description: 'Half of it.' }] },
  })
  expect((await regrade(project)).regrade.left_out).toMatchObject([
    { reason: 'its rubric changed, and the judge was not asked again: add --judge' },
  ])
  await gantryTest(project, ['--judge-model', 'scripted:judge.yaml'])
  await gantryTest(project, ['--no-judge'])
  // Work that no judge scored is graded otherwise.
  const { code, stderr } = await gantry(project, ['compare', 'latest~1', 'latest'])
  expect([code, stderr]).toEqual([2, expect.stringContaining('changed in between')])
})

test('a run that only grades again cannot be resumed', async () => {
  using project = twoCases()
  const { run_id } = await gantryTest(project)
  await regrade(project)
  const { code, stderr } = await gantry(project, ['test', '--resume', 'latest'])
  expect(stderr).toContain(`gantry runs regrade ${run_id}`)
  expect(code).toBe(2)
})

test.each([
  [['--judge-model', 'scripted:x.yaml'], 'are for the judge'],
  [['--judge'], 'no judge model was given'],
])('%j is refused', async (flags, message) => {
  using project = twoCases()
  await gantryTest(project)
  const { code, stderr } = await gantry(project, ['runs', 'regrade', 'latest', ...flags])
  expect(stderr).toContain(message)
  expect(code).toBe(2)
})

test('a regrading that was killed harms nothing, and the run can be graded again', async () => {
  using project = twoCases()
  const first = await gantryTest(project)
  const gate = {
    type: 'script',
    command: `touch ${project.path('reached')}; [ -e ${project.path('free')} ] || sleep 15`,
    description: 'It waits.',
  }
  project.write({
    'scenarios/b.yaml': smallScenario({ name: 'b', ...gates(sloppy, { ...gate, timeout_secs: 90 }) }),
  })
  const { child, ended } = startGantry(project, ['runs', 'regrade', first.run_id])
  try {
    while (!existsSync(project.path('reached'))) await sleep(20)
  } finally {
    child.kill('SIGKILL')
    await ended
  }
  const { stderr, code } = await gantry(project, ['runs', 'regrade', 'latest'])
  expect(stderr).toContain(`gantry runs regrade ${first.run_id}`)
  expect(code).toBe(2)
  project.write({ free: '' })
  const again = await gantry(project, ['runs', 'regrade', first.run_id, '--json'])
  expect(again.code, again.stderr).toBe(0)
  expect(JSON.parse(again.stdout)).toMatchObject({
    regrade: { trials: 2, left_out: [] },
    summary: { notRun: 0 },
  })
  const old = await gantry(project, ['runs', 'report', first.run_id, '--reporter', 'json'])
  expect(JSON.parse(old.stdout)).toMatchObject({ summary: { counts: { pass: 2 }, notRun: 0 } })
})
