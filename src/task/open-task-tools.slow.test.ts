import { execFileSync } from 'node:child_process'
import { readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createFixture } from 'fs-fixture'
import { expect, test } from 'vitest'
import { adds, project, scoutA, scoutB } from '../../test/support/task-lab.ts'
import { createRedaction } from '../core/redaction.ts'
import { readManifest } from '../store/manifest.ts'
import { openStore } from '../store/open-store.ts'
import type { TaskEvent } from './contract.ts'
import { openTaskTools } from './open-task-tools.ts'
import { runTask } from './run-task.ts'
import { validateStart } from './validate-start.ts'

const editAdd = {
  name: 'write',
  input: { path: 'src/add.js', content: 'export const add = (a, b) => a + b\n' },
}
const addTest = {
  name: 'write',
  input: { path: 'test/more.test.js', content: "import test from 'node:test'\ntest('more', () => {})\n" },
}
const answers = [
  { match: 'You are Scout A', json: scoutA },
  { match: 'You are Scout B', json: scoutB },
  {
    match: 'Change this repository',
    calls: [editAdd, addTest, { name: 'write', input: { path: 'agent.yaml', content: 'x' } }],
  },
  { match: 'You are a coding agent', text: 'The sign was wrong.' },
]

test('real Scouts, builtin Editor and real Verifier complete a task with its initial agent.yaml', async () => {
  const files = { ...project, 'check.sh': adds }
  await using fixture = await createFixture({
    ...Object.fromEntries(Object.entries(files).map(([path, text]) => [`repo/${path}`, text])),
    'model.yaml': JSON.stringify({ answers }),
    'home/keep': '',
  })
  const top = realpathSync(fixture.path)
  const repository = join(top, 'repo')
  execFileSync('git', ['init', '--quiet'], { cwd: repository })
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: join(top, 'home'),
    GANTRY_GUARD_HOME: join(top, 'guard'),
    GANTRY_GUARD_RESIDENT: 'off',
  }
  const store = openStore({ env: {}, cwd: top, root: join(top, 'store') })
  const { signal } = new AbortController()
  const start = await validateStart({
    repository,
    description: 'Fix the sum of two numbers.',
    agent: 'builtin',
    model: `scripted:${join(top, 'model.yaml')}`,
    sandbox: 'host',
    env,
    signal,
  })
  if (start.kind !== 'ready') throw new Error(JSON.stringify(start.problems))
  const redaction = createRedaction(start.project.config.redact, env, start.agent.env)
  const events: TaskEvent[] = []
  const end = await runTask(
    {
      taskId: 'task_20260101_000000_aaaaaa',
      repository,
      description: 'Fix the sum of two numbers.',
      dryRun: false,
      here: true,
      resumed: false,
      taskRunId: null,
      agent: 'builtin',
      model: start.model,
      sandbox: start.engine.name,
      package: null,
      steps: start.agentFile.file.verification.steps,
    },
    {
      store,
      env,
      argv: [],
      redaction,
      signal,
      onChange: () => {},
      onEvent: (event) => {
        events.push(event)
        // The user changes it during the task.
        if (event.kind === 'milestone' && event.milestone === 'analyzed')
          writeFileSync(join(repository, 'agent.yaml'), 'verification: {}\n')
      },
      open: openTaskTools({ start, store, env, argv: [], redaction }),
    },
  )
  expect(end).toMatchObject({ state: 'SUCCESS', attempts: 1 })
  expect(end.summary).toContain('The sign was wrong.')
  expect(readFileSync(join(repository, 'src/add.js'), 'utf8')).toContain('a + b')
  const [runId = ''] = end.runIds
  const manifest = readManifest(join(store.runsDir, runId))
  expect(manifest).toMatchObject({ kind: 'verify', status: 'pass', refers_to: [end.runId] })
  expect(manifest.commands_executed).toMatchObject([{ command: 'sh check.sh', exit_code: 0 }])
  const notes = events.flatMap((event) => (event.kind === 'note' ? [event.message] : []))
  expect(notes.join('\n')).toContain('agent.yaml has changed since the task began')
  // The user's change stays, the Editor's is refused.
  expect(readFileSync(join(repository, 'agent.yaml'), 'utf8')).toBe('verification: {}\n')
  const denied = events.flatMap((event) =>
    event.kind === 'agent' && event.event.is_error === true ? [String(event.event.output)] : [],
  )
  expect(denied).toEqual([expect.stringContaining('agent.yaml')])
  // Conversations are not stored.
  expect(events.some((event) => event.kind === 'agent' && event.event.event === 'message')).toBe(false)
})
