import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openRuns } from '../../../src/library/open-runs.ts'
import type { JudgeCalibration } from '../../../src/scenario/label-trials.ts'
import { gantry, gantryTest } from '../support/gantry.ts'
import { smallProject, smallScenario, type TestProject, writes } from '../support/project.ts'

const judge = ['--judge-model', 'scripted:judge.yaml']
const evaluation = {
  gates: [{ type: 'file_exists', path: 'done.txt' }],
  judge: { enabled: true, rubric: 'rubrics/r.yaml', pass_threshold: 0.7 },
}

/** Cases good1, good2, bad1, bad2; the judge passes good1, good2 and bad1. */
function judgedProject(): TestProject {
  const answer = (match: string, score: number) => ({
    match,
    json: { scores: { complete: score }, confidence: 1, issues: [], highlights: [] },
  })
  const names = { good1: 0.9, good2: 0.8, bad1: 0.75, bad2: 0.1 }
  return smallProject({
    scenario: { name: 'good1', task: { prompt: 'Task good1.' }, evaluation },
    turns: [writes('done.txt'), { say: 'All done.' }],
    files: {
      ...Object.fromEntries(
        Object.keys(names)
          .slice(1)
          .map((name) => [
            `scenarios/${name}.yaml`,
            smallScenario({ name, task: { prompt: `Task ${name}.` }, evaluation }),
          ]),
      ),
      'rubrics/r.yaml': { criteria: [{ id: 'complete', weight: 1, description: 'All of it is there.' }] },
      'judge.yaml': {
        answers: Object.entries(names).map(([name, score]) => answer(`Task ${name}.`, score)),
      },
    },
  })
}

async function calibrated(project: TestProject, ...runs: string[]): Promise<JudgeCalibration | undefined> {
  const { stdout, stderr, code } = await gantry(project, ['judge', 'calibrate', ...runs, '--json'])
  expect(code, stderr).toBe(0)
  return (JSON.parse(stdout) as { judges: JudgeCalibration[] }).judges[0]
}

test('labels measure the judge, survive a rerun of the same answer, and correct the pass rate', async () => {
  using project = judgedProject()
  const first = await gantryTest(project, judge)
  expect(first.summary.judge).toMatchObject({ labels: 0, kappa: null })
  for (const { id, case: name } of first.trials) {
    const { code } = await gantry(project, [
      'label',
      first.run_id,
      id,
      name.startsWith('good') ? 'pass' : 'fail',
    ])
    expect(code).toBe(0)
  }
  expect(await calibrated(project)).toMatchObject({
    model: 'scripted:judge.yaml',
    labels: 4,
    confusion: { good_passed: 2, good_failed: 0, bad_passed: 1, bad_failed: 1 },
    best_threshold: { threshold: 0.8, agreement: 1 },
    judged: 4,
    pass_rate: 0.75,
    corrected_pass_rate: { value: 0.5 },
  })
  // The same answers, taken from the cache and graded again, are no further evidence.
  const cached = await gantryTest(project, judge)
  const { stdout: regraded } = await gantry(project, ['runs', 'regrade', cached.run_id, '--json'])
  expect(JSON.parse(regraded)).toMatchObject({ summary: { judge: { labels: 4 } } })
  expect(await calibrated(project)).toMatchObject({ labels: 4, judged: 4 })
  expect(await calibrated(project, cached.run_id)).toMatchObject({ labels: 4, judged: 4 })
  await gantry(project, ['runs', 'regrade', first.run_id, '--judge'])
  expect(await calibrated(project)).toMatchObject({ labels: 4, judged: 8 })
  const again = await gantryTest(project, [...judge, '--no-cache'])
  expect(again.summary.judge).toMatchObject({ labels: 4 })
  expect(await calibrated(project, again.run_id)).toMatchObject({ labels: 4, judged: 4 })
  const { stdout } = await gantry(project, ['runs', 'report', again.run_id, '--reporter', 'md'])
  expect(stdout).toContain('uncalibrated judge: 4 of 30 labels')
})

test('reports and the calibration count the same labels, also of results that were judged later', async () => {
  using project = judgedProject()
  const unjudged = await gantryTest(project, ['--no-judge'])
  for (const { id } of unjudged.trials) await gantry(project, ['label', unjudged.run_id, id, 'pass'])
  const damaged = await gantryTest(project, [...judge, '--no-cache'])
  writeFileSync(join(damaged.run_dir, 'manifest.json'), '{')
  const { summary } = await gantryTest(project, judge)
  expect(summary.judge).toMatchObject({ labels: 4, kappa: null })
  expect(await calibrated(project)).toMatchObject({ labels: 4, kappa: null })
  const { stdout } = await gantry(project, ['judge', 'calibrate'])
  expect(stdout).toContain('uncalibrated judge: 4 of 30 labels')
})

test('a later label replaces an earlier one, and other work has other labels', async () => {
  using project = judgedProject()
  const { run_id, trials } = await gantryTest(project, [...judge, '--filter', 'good1'])
  const id = trials[0]?.id ?? ''
  await gantry(project, ['label', run_id, id, 'fail', '--note', 'first thought'])
  await gantry(project, ['label', run_id, id.slice(0, 4), 'pass'])
  expect(await calibrated(project)).toMatchObject({ labels: 1, confusion: { good_passed: 1 } })
  project.write({
    'agents/worker.yaml': {
      name: 'worker',
      version: '1',
      turns: [writes('done.txt', 'other'), { say: 'Done.' }],
    },
  })
  const other = await gantryTest(project, [...judge, '--filter', 'good1'])
  expect(await calibrated(project, other.run_id)).toMatchObject({ labels: 0, judged: 1 })
})

test.each([
  [
    'labels.CSV',
    (run: string) => `run,trial,label,note\n${run},0001,pass,"good, ""really"""\n${run},0002,fail,\n`,
  ],
  [
    'labels.jsonl.txt',
    (run: string) =>
      `${JSON.stringify({ run, trial: '0001', label: 'pass', note: 'good, "really"' })}\n${JSON.stringify({ run, trial: '0002', label: 'fail' })}\n`,
  ],
])('%s is imported', async (name, textOf) => {
  using project = judgedProject()
  const { run_id } = await gantryTest(project, judge)
  project.write({ [name]: textOf(run_id) })
  const { stdout, code } = await gantry(project, ['label', '--import', name, '--json'])
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject([{ label: 'pass', note: 'good, "really"' }, { label: 'fail' }])
  expect(readFileSync(project.path('labels.jsonl'), 'utf8').trim().split('\n').length).toBe(2)
})

test.each([
  [['label', 'latest', '0001', 'maybe'], 'pass or fail', 2],
  [['label', 'latest', 'nosuch', 'pass'], 'has no trial "nosuch"', 2],
  [['label', '--import', 'none.csv'], 'does not exist', 2],
  [['label', '--import', 'bad.csv'], 'bad.csv:3: a label needs', 2],
  [['label', '--import', 'unknown.csv'], 'has no trial "0099"', 2],
  [['label', '--import', 'headless.csv'], 'headless.csv has no labels', 2],
  [['judge', 'calibrate'], 'there are no labels', 2],
])('%j is refused, and no label is written', async (argv, message, expected) => {
  using project = judgedProject()
  await gantryTest(project, [...judge, '--filter', 'good1'])
  project.write({
    'headless.csv': 'latest,0001,pass\n',
    'bad.csv': 'run,trial,label\nlatest,0001,pass\nlatest,0001,good\n',
    'unknown.csv': 'run,trial,label\nlatest,0001,pass\nlatest,0099,pass\n',
  })
  const { code, stderr } = await gantry(project, argv)
  expect(stderr).toContain(message)
  expect(code).toBe(expected)
  expect(existsSync(project.path('labels.jsonl'))).toBe(false)
})

test('the name of a judge in the label file cannot write to the terminal', async () => {
  using project = judgedProject()
  const judge = { model: '\u001b[31mred', passed: true, score: 1 }
  project.write({
    'labels.jsonl': `${JSON.stringify({ content: '0123456789abcdef', case: 'a', label: 'pass', judge, at: '' })}\n`,
  })
  const { stdout } = await gantry(project, ['judge', 'calibrate'])
  expect(stdout).toMatch(/^red\n/)
})

test('a damaged label file is refused, gets no more labels, and costs no run its results', async () => {
  using project = judgedProject()
  project.write({ 'labels.jsonl': '{"content":"x"}\n' })
  expect((await gantryTest(project, [...judge, '--filter', 'good1'])).code).toBe(0)
  for (const argv of [
    ['judge', 'calibrate'],
    ['label', 'latest', '0001', 'pass'],
  ]) {
    const { code, stderr } = await gantry(project, argv)
    expect(stderr).toContain('labels.jsonl:1: not a label')
    expect(code).toBe(2)
  }
  expect(project.read('labels.jsonl')).toBe('{"content":"x"}\n')
})

test('a damaged record of a run that is named is bad input', async () => {
  using project = judgedProject()
  const { run_id, run_dir, trials } = await gantryTest(project, [...judge, '--filter', 'good1'])
  writeFileSync(join(run_dir, 'trials.jsonl'), '{"verdict":\n')
  writeFileSync(join(trials[0]?.dir ?? '', 'result.json'), '{')
  for (const argv of [
    ['judge', 'calibrate', run_id],
    ['label', run_id, '0001', 'pass'],
  ]) {
    const { code, stderr } = await gantry(project, argv)
    expect(stderr).toContain(`${run_id} cannot be used`)
    expect(code).toBe(2)
  }
})

test('a library labels, calibrates and compares as the commands do', async () => {
  using project = judgedProject()
  const { run_id, trials } = await gantryTest(project, judge)
  const runs = openRuns({ cwd: project.dir, env: { AGENT_ARTIFACT_DIR: project.store } })
  const given = trials.map(({ id, case: name }) => ({
    run: run_id,
    trial: id,
    label: name.startsWith('good') ? ('pass' as const) : ('fail' as const),
  }))
  await expect(runs.label([...given, { run: run_id, trial: 'nosuch', label: 'pass' }])).rejects.toThrow(
    'nosuch',
  )
  expect(existsSync(project.path('labels.jsonl'))).toBe(false)
  expect((await runs.label(given)).length).toBe(4)
  expect(await runs.calibrate()).toEqual([await calibrated(project)])
  await gantryTest(project, [...judge, '--no-cache'])
  const { stdout } = await gantry(project, ['compare', 'latest~1', 'latest', '--margin', '10', '--json'])
  expect(await runs.compare('latest~1', 'latest', { margin: 0.1 })).toEqual(JSON.parse(stdout))
  await expect(runs.compare('latest', 'latest')).rejects.toThrow('the same results')
})
