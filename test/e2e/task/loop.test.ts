import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { git } from '../plan/lab.ts'
import { gantry } from '../support/gantry.ts'
import {
  again,
  makeRepository,
  manifestOf,
  only,
  phases,
  runPath,
  runsOf,
  snapshots,
  sum,
  taskReport,
  taskRun,
  tested,
} from './lab.ts'
import { openModel } from './model.ts'

test.concurrent('right at once: two Scouts, one edit, one verification in a sandbox, and papers that say so', async () => {
  const model = await openModel({ edits: () => [sum('+'), tested()] })
  const project = makeRepository()
  const run = await taskRun(project, model)
  expect(run.code, run.stdout + run.stderr).toBe(0)
  expect(run.end).toMatchObject({ state: 'SUCCESS', attempts: 1, replans: 0, report: null })
  expect(model.answered).toEqual(['scout_a', 'scout_b', 'editor', 'editor'])
  expect(phases(run)).toEqual(['ANALYZING', 'IMPLEMENTING', 'VERIFYING', 'COMPLETED'])
  expect(only(run, 'milestone').map(({ milestone }) => milestone)).toEqual([
    ...[
      'queued',
      'started',
      'baseline',
      'analyzing',
      'scout_a',
      'scout_b',
      'analyzed',
      'implementing',
      'implemented',
    ],
    ...['verifying', 'verified', 'succeeded'],
  ])
  const [runId = ''] = run.end.run_ids
  expect(manifestOf(project, runId)).toMatchObject({
    kind: 'verify',
    status: 'pass',
    commands_executed: [{ name: 'step 1', command: 'sh check.sh', exit_code: 0 }],
    details: { tree_unchanged: true, sandbox: { engine: 'bubblewrap' } },
  })
  expect(readFileSync(runPath(project, runId, 'logs', 'combined.log'), 'utf8')).toContain('1 passed')
  expect(run.end.summary).toContain(runId)
  expect(snapshots(project)).toEqual(['context_001.md', 'context_002.md'])
  // Only the user commits.
  expect(git(project, 'log', '--format=%s').trim()).toBe('Start')
  expect(
    git(project, 'status', '--porcelain')
      .trim()
      .split('\n')
      .map((line) => line.trim()),
  ).toEqual(['M src/add.js', '?? test/more.test.js'])
})

test.concurrent('red, then debugged with what Scout B reads in the log, then green', async () => {
  const model = await openModel({ edits: (number) => (number === 1 ? [sum('*'), tested()] : [sum('+')]) })
  const project = makeRepository()
  const run = await taskRun(project, model)
  expect(run.end).toMatchObject({ state: 'SUCCESS', attempts: 2, replans: 0 })
  expect(only(run, 'verifier_result')).toMatchObject([
    { status: 'FAIL', attempt: 1, failure: 'AssertionError: expected 3 but got -1' },
    { status: 'PASS', attempt: 2, failure: null },
  ])
  const asked = model.prompts.find(({ role }) => role === 'diagnosis')
  expect(asked?.text).toContain('AssertionError: expected 3 but got -1')
  expect(snapshots(project)).toHaveLength(2)
  expect(existsSync(project.path('test/more.test.js'))).toBe(true)
})

test.concurrent('three failures in a row force another strategy: exactly three snapshots, and old ways are refused', async () => {
  const first = 'Implement the smallest safe slice: mend the sign (src/add.js).'
  const model = await openModel({
    edits: (number) => [sum(['*', '/', '%', '+'][number - 1] ?? '+'), ...(number === 1 ? [tested()] : [])],
    strategies: (number) => (number === 1 ? first : 'Write the sum with a plus sign.'),
  })
  const project = makeRepository()
  const run = await taskRun(project, model)
  expect(run.end, run.stdout).toMatchObject({ state: 'SUCCESS', attempts: 4, replans: 1 })
  expect(only(run, 'snapshot').map(({ milestone }) => milestone)).toEqual([
    'task_start',
    'replan',
    'task_success',
  ])
  expect(snapshots(project)).toHaveLength(3)
  expect(only(run, 'replan')).toMatchObject([{ attempt: 3, strategy: 'Write the sum with a plus sign.' }])
  const questions = model.prompts.filter(({ role }) => role === 'strategy')
  expect(questions[0]?.text).toContain(first)
  expect(questions[1]?.text).toContain('Refused just now')
  const second = readFileSync(
    runPath(project, only(run, 'task_started')[0]?.run_id ?? '', 'reports', 'context_002.md'),
    'utf8',
  )
  expect(second).toContain('Write the sum with a plus sign.')
})

test.concurrent('an impossible task stops after 12 verifications and keeps them, until a retry from its report succeeds', async () => {
  const signs = ['*', '/', '%', '**', '&', '|', '^', '<<', '>>', '>>>', '??', '&&']
  const model = await openModel({
    edits: (number) => [sum(signs[number - 1] ?? '+'), ...(number === 1 ? [tested()] : [])],
  })
  const project = makeRepository()
  const run = await taskRun(project, model, ['Fix the sum.\n\nConstraints:\n- keep the name add'])
  expect(run.code).toBe(1)
  expect(run.end).toMatchObject({ state: 'STUCK', attempts: 12, replans: 3, summary: null })
  expect(new Set(run.end.run_ids).size).toBe(12)
  expect(only(run, 'replan').map(({ attempt }) => attempt)).toEqual([3, 6, 9])
  // The hard stop wins: the third failure in a row of the last strategy asks for no other.
  expect(model.count('strategy')).toBe(3)
  expect(phases(run).at(-1)).toBe('STUCK')
  const report = await taskReport(project, run.end.task_id)
  for (const id of run.end.run_ids) expect(report).toContain(`- ${id}`)
  expect(hypothesesIn(report).length).toBeGreaterThanOrEqual(3)
  expect(new Set(hypothesesIn(report)).size).toBe(hypothesesIn(report).length)
  for (const words of ['keep the name add', '- src/add.js', 'expected 3 but got -1'])
    expect(report).toContain(words)
  const clean = () => gantry(project, ['runs', 'clean', '--all'])
  await clean()
  expect(runsOf(project)).toEqual(expect.arrayContaining([...run.end.run_ids]))

  const before = model.prompts.length
  const retried = await again('retry', project, model, run.end.task_id, ['--sandbox', 'host'])
  expect(retried.end, retried.stdout).toMatchObject({ state: 'SUCCESS', attempts: 1 })
  const shown = await gantry(project, ['task', 'show', retried.end.task_id, '--json'])
  expect(JSON.parse(shown.stdout)).toMatchObject({ task: { options: { sandbox: 'host' } } })
  const prompt = model.prompts.slice(before).find(({ role }) => role === 'editor')
  expect(prompt?.text).toContain('Report of an earlier attempt that got stuck')
  expect(prompt?.text).toContain('keep the name add')
  await clean()
  expect(runsOf(project).filter((id) => run.end.run_ids.includes(id))).toEqual([])
})

function hypothesesIn(report: string): readonly string[] {
  const [, section = ''] = report.split('## Hypotheses')
  return [...(section.split('\n## ')[0] ?? '').matchAll(/^\d+\. \*\*(.+)\*\*$/gm)].map(
    ([, title = '']) => title,
  )
}

test.concurrent('a generated file that the change makes stale: the Editor is asked once to bring it up to date', async () => {
  const generator =
    "import { readFileSync, writeFileSync } from 'node:fs'\nwriteFileSync('src/names.js', `export const names = ${readFileSync('names.json', 'utf8').trim()}\\n`)\n"
  const files = {
    'generate.js': generator,
    'names.json': '["a"]',
    'src/names.js': 'export const names = ["a"]\n',
    'package.json': '{ "type": "module" }',
    'test/names.test.js':
      "import assert from 'node:assert'\nimport { test } from 'node:test'\nimport { names } from '../src/names.js'\ntest('names', () => assert.ok(names.includes('a')))\n",
  }
  const run = async (turns: readonly (readonly Record<string, unknown>[])[]) => {
    const model = await openModel({ edits: (number) => turns[number - 1] ?? [] })
    const steps = ['node generate.js', 'node --test']
    const project = makeRepository({ bare: true, files, steps, verification: { workspace: 'overlay' } })
    return { ...(await taskRun(project, model, ['Add a second name.'])), project, model }
  }
  const named = { write: { path: 'names.json', content: '["a","b"]' } }
  const good = await run([[named], [{ run: 'node generate.js' }]])
  expect(good.end).toMatchObject({ state: 'SUCCESS', attempts: 2 })
  expect(good.project.read('src/names.js')).toContain('["a","b"]')
  expect(good.model.prompts.at(-1)?.text).toContain('- "src/names.js"')
  const bad = await run([[named]])
  expect(bad.end).toMatchObject({ state: 'WEAKENED', attempts: 2, weakened: [{ where: 'src/names.js' }] })
})
