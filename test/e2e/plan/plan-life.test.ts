import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { gantry, startGantry } from '../support/gantry.ts'
import type { TestProject } from '../support/project.ts'
import {
  boxes,
  does,
  examplePlan,
  git,
  iterationRecord,
  only,
  planOf,
  planRun,
  readEvents,
  runDir,
  smallPlan,
  writes,
} from './lab.ts'

test('--commit makes one commit per verified task, with only that task in it', async () => {
  const sly = { run: 'echo x > ignored.log; git add -A -f .harness || true' }
  using project = smallPlan(
    {
      scripts: [
        does('First thing', [sly, writes('done/first')]),
        does('Second thing', [writes('done/second')]),
      ],
      turns: [],
    },
    { '.gitignore': 'ignored.log\n' },
  )
  const run = await planRun(project, ['--agent', 'worker', '--commit'])
  expect(run.code, run.stdout + run.stderr).toBe(0)
  const log = git(project, 'log', '--format=%s', '--reverse').trim().split('\n')
  expect(log.slice(1)).toEqual(['First thing', 'Second thing'])
  const files = git(project, 'show', '--name-only', '--format=', 'HEAD~1').trim().split('\n')
  expect(files.sort()).toEqual(['IMPLEMENTATION_PLAN.md', 'done/first'])
  expect(only(run, 'task_done').map(({ commit }) => commit)).toEqual(
    git(project, 'log', '--format=%H', '--reverse', '-2').trim().split('\n'),
  )
  expect(git(project, 'status', '--porcelain')).toBe('')
})

test('if an agent commits by itself, only the box is left to commit', async () => {
  using project = smallPlan(
    { turns: [writes('done/first'), { run: 'git add -A && git commit -qm "My own words"' }] },
    { 'IMPLEMENTATION_PLAN.md': planOf(['First thing']) },
  )
  const run = await planRun(project, ['--agent', 'worker', '--commit'])
  expect(run.code, run.stdout + run.stderr).toBe(0)
  expect(git(project, 'log', '--format=%s', '-2').trim().split('\n')).toEqual(['First thing', 'My own words'])
  expect(git(project, 'show', '--name-only', '--format=', 'HEAD').trim()).toBe('IMPLEMENTATION_PLAN.md')
})

test('--commit refuses a dirty tree and a directory without git, before anything is done', async () => {
  using project = examplePlan()
  project.write({ 'notes.txt': 'mine\n' })
  const result = await gantry(project, ['plan', 'run', '--agent', 'worker', '--commit'])
  expect(result.code).toBe(2)
  expect(result.stderr).toMatch(/needs a clean tree.*notes\.txt/)
  expect(existsSync(project.store)).toBe(false)
})

test('a repository hook that refuses the commit stops the run, and the work can be resumed', async () => {
  using project = smallPlan(
    { turns: [writes('done/first')] },
    { 'IMPLEMENTATION_PLAN.md': planOf(['First thing']) },
  )
  mkdirSync(project.path('.git/hooks'), { recursive: true })
  const hook = project.path('.git/hooks/pre-commit')
  writeFileSync(hook, '#!/bin/sh\necho "no commits on Sundays" >&2\nexit 1\n', { mode: 0o755 })
  const run = await planRun(project, ['--agent', 'worker', '--commit'])
  expect(run.code).toBe(3)
  expect(run.end.reason).toContain('no commits on Sundays')
  writeFileSync(hook, '#!/bin/sh\nexit 0\n')
  const again = await planRun(project, ['--resume', 'latest'])
  expect(again.code, again.stdout + again.stderr).toBe(0)
  // The task was already verified, so it was not done again.
  expect(again.end.iterations).toBe(1)
  expect(git(project, 'log', '--format=%s', '-1').trim()).toBe('First thing')
})

test('earlier attempts count when a run is resumed', async () => {
  using project = smallPlan({ turns: [writes('done/first', 'no\n'), { run: 'date +%N >> done/first' }] })
  const first = await planRun(project, ['--agent', 'worker', '--max-iterations', '2'])
  expect(first.code).toBe(4)
  const same = await planRun(project, ['--resume', 'latest'])
  expect([same.code, same.end.iterations]).toEqual([4, 2])
  const second = await planRun(project, ['--resume', 'latest', '--max-iterations', '10'])
  expect(second.code).toBe(1)
  expect(second.end.iterations).toBe(3)
  expect(second.end.reason).toMatch(/given up after 3 attempts/)
  expect(only(second, 'iteration_started')).toMatchObject([{ iteration: 3, attempt: 3 }])
  const prompts = readFileSync(join(runDir(project), 'trials/iteration-003/prompt.md'), 'utf8')
  expect(prompts).toContain('not yes: done/first')
})

const tickAndHang = {
  scripts: [
    does('First thing', [
      writes('done/first'),
      { run: "sed -i 's/- \\[ \\]/- [x]/' IMPLEMENTATION_PLAN.md; echo $$ > pid" },
      { hang: true },
    ]),
  ],
}

test('Ctrl-C: exit 130, boxes as before, and the run can be resumed', async () => {
  using project = smallPlan(tickAndHang, { '.gitignore': 'pid\n' })
  const before = project.read('IMPLEMENTATION_PLAN.md')
  const { child, ended } = startGantry(project, ['plan', 'run', '--agent', 'worker', '--json'])
  await until(() => existsSync(project.path('pid')))
  child.kill('SIGINT')
  const result = await ended
  expect(result.code, result.stdout + result.stderr).toBe(130)
  expect(readEvents(result).end).toMatchObject({ state: 'interrupted', done: 0 })
  expect(project.read('IMPLEMENTATION_PLAN.md')).toBe(before)
  expect(JSON.parse(readFileSync(join(runDir(project), 'manifest.json'), 'utf8')).status).toBe('interrupted')
  expect(iterationRecord(project, 1)).toMatchObject({ verdict: 'infra', reason: 'it was interrupted' })
  project.write({
    'agents/worker.yaml': {
      name: 'worker',
      turns: [writes('done/second'), { run: 'date +%N >> done/second; echo yes >> done/second' }],
    },
  })
  const again = await planRun(project, ['--resume', 'latest'])
  expect(again.code, again.stdout).toBe(0)
  // The interrupted iteration does not count as an attempt.
  expect(only(again, 'iteration_started')[0]).toMatchObject({ iteration: 2, attempt: 1 })
})

test('kill -9: on resume, boxes ticked by an unverified agent are opened again', async () => {
  using project = smallPlan(tickAndHang, { '.gitignore': 'pid\n' })
  const { child, ended } = startGantry(project, ['plan', 'run', '--agent', 'worker', '--json'])
  await until(() => existsSync(project.path('pid')) && boxes(project) === 'xx')
  child.kill('SIGKILL')
  await ended
  expect(boxes(project)).toBe('xx')
  project.write({
    'agents/worker.yaml': {
      name: 'worker',
      turns: [{ run: 'date +%N >> done/second; echo yes >> done/second' }],
    },
  })
  const again = await planRun(project, ['--resume', 'latest'])
  expect(again.code, again.stdout + again.stderr).toBe(0)
  expect(again.end).toMatchObject({ done: 2, iterations: 2, unmetered: 3 })
  expect(only(again, 'plan_started')).toMatchObject([{ open: 2, resumed: true }])
  expect(iterationRecord(project, 1)).toMatchObject({ verdict: 'infra' })
})

test('two runs cannot work in one tree at once', async () => {
  using project = smallPlan(tickAndHang, { '.gitignore': 'pid\n' })
  const { child, ended } = startGantry(project, ['plan', 'run', '--agent', 'worker'])
  await until(() => existsSync(project.path('pid')))
  const second = await gantry(project, ['plan', 'run', '--agent', 'worker'])
  expect(second.code).toBe(3)
  expect(second.stderr).toMatch(/another plan run is active in/)
  child.kill('SIGINT')
  await ended
})

// A fake Claude Code: it shows which hooks it would have found, and does a little work.
const standIn = `#!/bin/sh
if [ "$1" = --version ]; then echo '2.1.325 (Claude Code)'; exit 0; fi
cat > /dev/null
cp .claude/settings.local.json seen.json
env | grep -E '^(HARNESS_|GANTRY_GUARD_HOME|HOME)' | sort > seen.env
echo yes > done/$(date +%N)
if [ -e hang ]; then echo $$ > pid; sleep 300; fi
echo '{"type":"result","subtype":"success","is_error":false,"result":"done","total_cost_usd":0.01,"num_turns":1,"session_id":"s","usage":{"input_tokens":1,"output_tokens":1}}'
`
function hooked(files: Record<string, unknown> = {}): TestProject {
  return smallPlan(
    { turns: [] },
    {
      'gantry.yaml': { agents: { claude: { driver: 'claude-code', binary: './claude.sh' } } },
      'claude.sh': standIn,
      'IMPLEMENTATION_PLAN.md': planOf(['First thing']),
      '.gitignore': 'seen.*\npid\nhang\n',
      ...files,
    },
  )
}

test('a command-line agent has the guard in its hooks for the duration of the run, and not afterwards', async () => {
  using project = hooked()
  const run = await planRun(project, ['--agent', 'claude', '--commit'])
  expect(run.code, run.stdout + run.stderr).toBe(0)
  const seen = JSON.parse(project.read('seen.json'))
  expect(Object.keys(seen.hooks)).toEqual(
    expect.arrayContaining(['PreToolUse', 'PostToolUse', 'Stop', 'SessionStart']),
  )
  expect(only(run, 'plan_started')[0]?.guard).toMatch(/settings\.local\.json for the duration of the run$/)
  expect(existsSync(project.path('.claude'))).toBe(false)
  expect(git(project, 'show', '--name-only', '--format=', 'HEAD')).not.toContain('.claude')
  const env = project.read('seen.env')
  expect(env).toContain('HARNESS_REQUIRE_PLAN_CHECK=false')
  expect(env).toContain(`HOME=${project.home}`)
  expect(env).toContain(`GANTRY_GUARD_HOME=${project.home}/.local/state/gantry/guard`)
  // The fake agent runs no hooks, and that is reported.
  expect(
    only(run, 'note')
      .map(({ message }) => message)
      .join(),
  ).toMatch(/The guard received no events from claude/)
  expect(existsSync(join(runDir(project), 'temporary-guard.json'))).toBe(false)
})

test('existing settings are restored byte for byte, and their copy is in no commit', async () => {
  const settings = '{\n  "permissions": { "allow": ["Bash(ls)"] }\n}\n'
  using project = hooked({ '.claude/settings.local.json': settings })
  const run = await planRun(project, ['--agent', 'claude', '--commit'])
  expect(run.code, run.stdout + run.stderr).toBe(0)
  expect(JSON.parse(project.read('seen.json'))).toMatchObject({
    permissions: { allow: ['Bash(ls)'] },
    hooks: {},
  })
  expect(project.read('.claude/settings.local.json')).toBe(settings)
  expect(readdirSync(project.path('.claude'))).toEqual(['settings.local.json'])
  expect(git(project, 'show', '--name-only', '--format=', 'HEAD')).not.toContain('.claude')
})

test('a guard installed by a person stays', async () => {
  using project = hooked()
  await gantry(project, ['guard', 'install', '--agent', 'claude-code'])
  const before = project.read('.claude/settings.local.json')
  const run = await planRun(project, ['--agent', 'claude'])
  expect(run.code, run.stdout + run.stderr).toBe(0)
  expect(only(run, 'plan_started')[0]?.guard).toMatch(/^installed in .*settings\.local\.json$/)
  expect(project.read('.claude/settings.local.json')).toBe(before)
})

test.each([
  ['after Ctrl-C at once', 'SIGINT', true],
  ['after kill -9 with the next run', 'SIGKILL', false],
] as const)('hooks are removed %s', async (_, signal, isGone) => {
  using project = hooked({ hang: 'x' })
  const { child, ended } = startGantry(project, ['plan', 'run', '--agent', 'claude'])
  await until(() => existsSync(project.path('pid')))
  child.kill(signal)
  await ended
  expect(existsSync(project.path('.claude/settings.local.json'))).toBe(!isGone)
  if (isGone) return
  project.write({
    'gantry.yaml': { agents: { worker: { driver: 'scripted', script: 'agents/worker.yaml' } } },
    'agents/worker.yaml': { name: 'worker', turns: [writes('done/first')] },
  })
  const run = await planRun(project, ['--agent', 'worker'])
  expect(
    only(run, 'note')
      .map(({ message }) => message)
      .join(),
  ).toMatch(/Removed hooks that a killed run left in .*settings\.local\.json/)
  expect(existsSync(project.path('.claude'))).toBe(false)
})

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await sleep(20)
}
