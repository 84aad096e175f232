import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createFixture } from 'fs-fixture'
import { expect, onTestFinished, test } from 'vitest'
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

interface RealTask {
  readonly files: Readonly<Record<string, string>>
  readonly answers: readonly object[]
  readonly sandbox: 'host' | 'bubblewrap'
  readonly here: boolean
  readonly onEvent?: (event: TaskEvent, repository: string) => void
}

/** Everything is real but the model, which is a script. */
async function runReal({ files, answers, sandbox, here, onEvent }: RealTask) {
  const fixture = await createFixture({
    ...Object.fromEntries(Object.entries(files).map(([path, text]) => [`repo/${path}`, text])),
    'model.yaml': JSON.stringify({ answers }),
    'home/keep': '',
  })
  onTestFinished(() => fixture.rm())
  const top = realpathSync(fixture.path)
  const repository = join(top, 'repo')
  const git = (...args: string[]) => execFileSync('git', args, { cwd: repository })
  git('init', '--quiet')
  git('add', '.')
  git('-c', 'user.name=a', '-c', 'user.email=a@example.invalid', 'commit', '--quiet', '-m', 'first')
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: join(top, 'home'),
    XDG_CACHE_HOME: join(top, 'cache'),
    GANTRY_GUARD_HOME: join(top, 'guard'),
    GANTRY_GUARD_RESIDENT: 'off',
  }
  const store = openStore({ env: {}, cwd: top, root: join(top, 'store') })
  const { signal } = new AbortController()
  const description = 'Fix the sum of two numbers.'
  const model = `scripted:${join(top, 'model.yaml')}`
  const start = await validateStart({
    ...{ repository, description, agent: 'builtin', model, sandbox, env, signal },
  })
  if (start.kind !== 'ready') throw new Error(JSON.stringify(start.problems))
  const redaction = createRedaction(start.project.config.redact, env, start.agent.env)
  const events: TaskEvent[] = []
  const end = await runTask(
    {
      taskId: 'task_20260101_000000_aaaaaa',
      ...{ repository, description, here, dryRun: false, resumed: false, taskRunId: null },
      ...{ agent: 'builtin', model: start.model, sandbox: start.engine.name, package: null },
      steps: start.agentFile.file.verification.steps,
    },
    {
      ...{ store, env, argv: [], redaction, signal },
      onChange: () => {},
      onEvent: (event) => {
        events.push(event)
        onEvent?.(event, repository)
      },
      open: openTaskTools({ start, store, env, argv: [], redaction }),
    },
  )
  const ran = (runId: string) =>
    readManifest(join(store.runsDir, runId)).commands_executed?.map(({ name }) => name)
  return { end, events, store, repository, ran }
}

test('real Scouts, builtin Editor and real Verifier complete a task with its initial agent.yaml', async () => {
  const { end, events, store, repository } = await runReal({
    ...{ files: { ...project, 'check.sh': adds }, answers, sandbox: 'host', here: true },
    onEvent: (event, repository) => {
      // The user changes it during the task.
      if (event.kind === 'milestone' && event.milestone === 'analyzed')
        writeFileSync(join(repository, 'agent.yaml'), 'verification: {}\n')
    },
  })
  expect(end).toMatchObject({ state: 'SUCCESS', attempts: 1 })
  expect(end.summary).toContain('The sign was wrong.')
  expect(readFileSync(join(repository, 'src/add.js'), 'utf8')).toContain('a + b')
  const [runId = ''] = end.runIds
  const manifest = readManifest(join(store.runsDir, runId))
  expect(manifest).toMatchObject({ kind: 'verify', status: 'pass', refers_to: [end.runId] })
  expect(manifest.commands_executed).toMatchObject([{ command: 'sh check.sh', exit_code: 0 }])
  const notes = events.flatMap((event) => (event.kind === 'note' ? [event.message] : []))
  expect(notes.join('\n')).toContain('agent.yaml has changed since the task began')
  expect(notes).toContainEqual(expect.stringMatching(/^refused: write agent\.yaml: .*must not change/))
  expect(end.summary).toContain('refused: write agent.yaml')
  // The user's change stays, the Editor's is refused.
  expect(readFileSync(join(repository, 'agent.yaml'), 'utf8')).toBe('verification: {}\n')
  const denied = events.flatMap((event) =>
    event.kind === 'agent' && event.event.is_error === true ? [String(event.event.output)] : [],
  )
  expect(denied).toEqual([expect.stringContaining('agent.yaml')])
  // Conversations are not stored.
  expect(events.some((event) => event.kind === 'agent' && event.event.event === 'message')).toBe(false)
})

test('a task whose only call was refused says so in its end', async () => {
  const shell = { name: 'run', input: { command: 'echo evil > agent.yaml' } }
  const { end } = await runReal({
    ...{ files: { ...project, 'check.sh': adds }, sandbox: 'host', here: true },
    answers: [...answers.slice(0, 2), { match: 'Change this repository', calls: [shell] }, { text: 'Done.' }],
  })
  expect(end.state).toBe('NO_CHANGE')
  expect(end.reason).toMatch(/^no file was changed; refused: run echo evil > agent\.yaml: .*must not change/)
})

const install =
  'mkdir -p node_modules/.bin ~/.local/bin /tmp/cache && cp check.sh node_modules/.bin/check && chmod +x node_modules/.bin/check && echo resolver > .pnp.cjs && cp node_modules/.bin/check ~/.local/bin/homemade && echo kept > /tmp/cache/note'

test('the Editor sees what setup installed, which the baseline keeps although it fails', async () => {
  const verification = {
    ...{ container_image: 'none', caches: [{ name: 'tools', path: '/tmp/cache' }] },
    setup: [{ name: 'install', command: install, network: 'none' }],
    steps: [{ name: 'check', command: 'check' }],
  }
  const looks =
    'rm node_modules/.bin/check; ls node_modules; cat .pnp.cjs /tmp/cache/note; command -v homemade; git status --short'
  const { end, events, ran, repository } = await runReal({
    files: {
      ...project,
      ...{ 'check.sh': `#!/bin/sh\n${adds}`, '.gitignore': 'node_modules\n' },
      'agent.yaml': JSON.stringify({ verification }),
    },
    answers: [
      // Both Scouts know what is installed.
      { match: '| .pnp.cjs\n| node_modules', times: 1, json: scoutA },
      { match: 'Installed by setup', times: 1, json: scoutB },
      {
        match: 'Change this repository',
        calls: [{ name: 'run', input: { command: looks } }, editAdd, addTest],
      },
      { match: 'You are a coding agent', text: 'The sign was wrong.' },
    ],
    ...{ sandbox: 'bubblewrap', here: false },
  })
  const seen = events.flatMap((event) =>
    event.kind === 'agent' && event.event.event === 'tool_result' ? [String(event.event.output)] : [],
  )
  expect(seen[0]?.split('\n').slice(0, 3)).toEqual(['resolver', 'kept', '/tmp/home/.local/bin/homemade'])
  expect(seen[0]).not.toContain('.pnp.cjs')
  // A package that was removed is restored.
  expect(end).toMatchObject({ state: 'SUCCESS', attempts: 1, weakened: [] })
  const baseline = events.find((event) => event.kind === 'baseline')
  expect(baseline).toMatchObject({ status: 'FAIL' })
  expect(ran(baseline?.run_id ?? '')).toEqual(['install', 'check'])
  expect(ran(end.runIds[0] ?? '')).toEqual(['check'])
  const edit = events.find((event) => event.kind === 'edit')
  expect(edit?.files).toEqual(['src/add.js', 'test/more.test.js'])
  expect(existsSync(join(repository, '.pnp.cjs'))).toBe(false)
})
