import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, renameSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { everythingIn } from '../boundary/lab.ts'
import { git } from '../plan/lab.ts'
import { makeRepository, only, snapshots, sum, task, taskRun, tasks, tested, write } from './lab.ts'
import { openModel } from './model.ts'

const right = { edits: () => [sum('+'), tested()] }

test.concurrent('a store inside the repository is not part of the work', async () => {
  const project = makeRepository()
  const model = await openModel(right)
  const env = { AGENT_ARTIFACT_DIR: project.path('.artifacts') }
  const dry = await taskRun(project, model, ['--dry-run'], { env })
  expect(dry.end, JSON.stringify(dry.end)).toMatchObject({ state: 'SUCCESS' })
  expect(only(dry, 'diff').at(-1)?.files).toEqual(['src/add.js', 'test/more.test.js'])
  const run = await taskRun(project, model, [], { env })
  expect(run.end, JSON.stringify(run.end)).toMatchObject({ state: 'SUCCESS', attempts: 1 })
  expect(run.end.summary).not.toContain('.artifacts')
})

test.concurrent('a repository without a commit, and a linked working tree, are repositories', async () => {
  const unborn = makeRepository({ git: false })
  git(unborn, 'init', '--quiet')
  const model = await openModel(right)
  expect((await taskRun(unborn, model)).end).toMatchObject({ state: 'SUCCESS' })
  const project = makeRepository()
  git(project, 'worktree', 'add', '--quiet', '../linked')
  const cwd = join(project.dir, '../linked')
  expect((await taskRun(project, model, [], { cwd })).end).toMatchObject({ state: 'SUCCESS' })
  expect(project.read('src/add.js')).toContain('a - b')
  expect(project.read('../linked/src/add.js')).toContain('a + b')
})

test.concurrent('pipes, circular links and links out of the repository do no harm', async () => {
  const project = makeRepository()
  spawnSync('mkfifo', [project.path('pipe')])
  symlinkSync('loop', project.path('loop'))
  symlinkSync('/etc/hostname', project.path('out'))
  const model = await openModel(right)
  expect((await taskRun(project, model, ['--dry-run'])).end).toMatchObject({ state: 'SUCCESS' })
  expect((await taskRun(project, model)).end).toMatchObject({ state: 'SUCCESS' })
  for (const name of ['pipe', 'loop', 'out']) expect(readdirSync(project.dir)).toContain(name)
})

test.concurrent('a path with quotes, spaces, an umlaut and a line end is a path', async () => {
  const project = makeRepository()
  const cwd = join(project.dir, '../it\'s "odd" ü\nx')
  renameSync(project.dir, cwd)
  const model = await openModel(right)
  const run = await taskRun(project, model, [], { cwd })
  expect(run.end).toMatchObject({ state: 'SUCCESS' })
  const listed = await task(project, null, ['list'], { cwd })
  expect(listed.stdout.trimEnd().split('\n')).toHaveLength(2)
})

test.concurrent('a repository with an agent directory of its own works, and nothing of Gantry is in the tree', async () => {
  const project = makeRepository({ files: { 'agent/main.js': 'export const main = 1\n', agent2: '' } })
  const model = await openModel({
    edits: () => [sum('+'), tested(), write('agent/main.js', 'export const main = 2\n')],
  })
  const run = await taskRun(project, model)
  expect(run.end).toMatchObject({ state: 'SUCCESS' })
  expect(run.end.summary).toContain('agent/main.js (modified)')
  const { stdout } = await task(project, null, ['show', run.end.task_id, '--diff'])
  expect(stdout).toContain('+export const main = 2')
  expect(readdirSync(project.dir).sort()).toEqual([
    '.git',
    'a.txt',
    'agent',
    'agent.yaml',
    'agent2',
    'check.sh',
    'package.json',
    'src',
    'test',
  ])
})

test.concurrent('a task for one package leaves the others alone', async () => {
  const project = makeRepository({ top: { monorepo: { package: 'src' } } })
  const model = await openModel({
    edits: () => [sum('+'), write('check.sh', 'true\n'), { run: 'echo x > README.md' }],
  })
  const before = project.read('check.sh')
  const run = await taskRun(project, model)
  expect(run.end).toMatchObject({ state: 'SUCCESS' })
  expect(project.read('check.sh')).toBe(before)
  expect(existsSync(project.path('README.md'))).toBe(false)
  expect(snapshots(project)).toHaveLength(2)
  expect(await tasks(project)).toHaveLength(1)
})

test.concurrent('a secret in the text of a task, in what the Editor runs or in what it writes is kept nowhere', async () => {
  const project = makeRepository({ steps: ['sh check.sh', 'env'] })
  const secret = `ghp_${'abcdefghijklmnopqrstuvwxyz0123456789'}`
  const model = await openModel({
    edits: () => [
      sum('+'),
      tested(),
      write('src/token.txt', `${secret}\n`),
      { run: `cat src/token.txt; env; echo "$ANTHROPIC_API_KEY"` },
    ],
  })
  const run = await taskRun(project, model, [`Fix the sum with the token ${secret}, please.`])
  expect(run.end, JSON.stringify(run.end)).toMatchObject({ state: 'SUCCESS' })
  expect(run.stderr).toContain('looks like a secret')
  const kept = everythingIn(project.store) + run.stdout
  for (const hidden of [secret, model.env.ANTHROPIC_API_KEY ?? 'none'])
    expect(kept.includes(hidden)).toBe(false)
  expect(model.prompts.every(({ role, text }) => role === 'editor' || !text.includes(secret))).toBe(true)
})
