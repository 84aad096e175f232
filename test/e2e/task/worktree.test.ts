import { existsSync, readdirSync, readFileSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { commitAll, git } from '../plan/lab.ts'
import {
  letGo,
  makeRepository,
  only,
  runPath,
  sum,
  task,
  taskRun,
  tasks,
  tested,
  waitingRun,
  waitingStep,
  write,
} from './lab.ts'
import { openModel } from './model.ts'

const right = { edits: () => [sum('+'), tested()] }

/** What belongs to the user: the tree, and everything of git but what every git command writes. */
function userState(project: { readonly dir: string }): unknown {
  const files = (directory: string): readonly string[] =>
    readdirSync(directory, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .filter((path) => !path.endsWith('.git/index'))
      .sort()
  return files(project.dir).map((path) => [path, readFileSync(path, 'latin1')])
}

test.concurrent('a task leaves everything of the user alone; its change is applied, undone and committed when asked', async () => {
  const source = (first: string, sign: string): string =>
    `${first}\n// two\n// three\nexport const add = (a, b) => a ${sign} b\n`
  const project = makeRepository({ files: { 'src/add.js': source('// one', '-') } })
  const model = await openModel({ edits: () => [write('src/add.js', source('// one', '+')), tested()] })
  project.write({ 'src/other.js': 'mine\n' })
  const before = userState(project)
  const run = await taskRun(project, model, [], {}, [])
  expect(run.end, run.stdout).toMatchObject({ state: 'SUCCESS', attempts: 1 })
  expect(userState(project)).toEqual(before)
  expect(
    only(run, 'note')
      .map(({ message }) => message)
      .join('\n'),
  ).toContain('without 1 file that you have not committed (src/other.js)')
  const id = run.end.task_id
  const runId = only(run, 'task_started')[0]?.run_id ?? ''
  expect(existsSync(runPath(project, runId, 'workspace'))).toBe(false)

  // Other changes of the user stay, also in the same file.
  project.write({ 'src/add.js': source('// mine', '-') })
  const applied = await task(project, null, ['apply', id])
  expect(applied.code, applied.stderr).toBe(0)
  expect(project.read('src/add.js')).toBe(source('// mine', '+'))
  expect(existsSync(project.path('test/more.test.js'))).toBe(true)
  expect((await task(project, null, ['apply', id])).code).toBe(0)
  const undone = await task(project, null, ['undo', id])
  expect(undone.code, undone.stderr).toBe(0)
  expect(project.read('src/add.js')).toBe(source('// mine', '-'))
  expect(existsSync(project.path('test/more.test.js'))).toBe(false)

  project.write({ 'src/add.js': 'export const add = (one, two) => one - two\n' })
  const conflict = await task(project, null, ['apply', id])
  expect(conflict.code).toBe(2)
  expect(conflict.stderr).toContain('src/add.js')
  expect(conflict.stderr).toContain('gantry task commit')
  expect(existsSync(project.path('test/more.test.js'))).toBe(false)

  const state = userState(project)
  const identity = { GIT_AUTHOR_NAME: 'By Variable', GIT_AUTHOR_EMAIL: 'v@example.invalid' }
  const committed = await task(project, null, ['commit', id, '--json'], { env: identity })
  expect(committed.code, committed.stderr).toBe(0)
  const { branch, body } = JSON.parse(committed.stdout)
  expect(branch).toBe(`gantry/${id}`)
  expect(body).toMatch(/^## Task\n/)
  expect(body).toContain(run.end.run_ids[0])
  expect(git(project, 'show', `${branch}:src/add.js`)).toContain('a + b')
  expect(git(project, 'log', '-1', '--format=%B', branch)).toContain(`Gantry-Task: ${id}`)
  expect(git(project, 'log', '-1', '--format=%an', branch)).toBe('By Variable\n')
  expect(git(project, 'rev-parse', `${branch}^`)).toBe(git(project, 'rev-parse', 'HEAD'))
  expect((userState(project) as [string, string][]).filter(([path]) => !path.includes('/.git/'))).toEqual(
    (state as [string, string][]).filter(([path]) => !path.includes('/.git/')),
  )
  expect((await task(project, null, ['commit', id])).code).toBe(2)
  const logs = await task(project, null, ['logs', id])
  for (const words of ['Change applied', 'Change undone', 'Change committed'])
    expect(logs.stdout).toContain(words)
})

test.concurrent('--apply writes the verified change into the tree, and --with-changes starts from what is there', async () => {
  const project = makeRepository({
    files: { 'check.sh': 'grep -q "a + b" src/add.js && test -e new.txt && echo "1 passed"\n' },
  })
  const model = await openModel(right)
  project.write({ 'new.txt': 'mine\n', 'src/add.js': '// dirty\nexport const add = (a, b) => a - b\n' })
  const fix = write('src/add.js', '// dirty\nexport const add = (a, b) => a + b\n')
  const dirty = await openModel({ edits: () => [fix, tested()] })
  const run = await taskRun(project, dirty, ['--with-changes'])
  expect(run.end, run.stdout).toMatchObject({ state: 'SUCCESS' })
  expect(only(run, 'change')).toMatchObject([{ what: 'applied' }])
  expect(project.read('src/add.js')).toBe('// dirty\nexport const add = (a, b) => a + b\n')
  expect(project.read('new.txt')).toBe('mine\n')
  expect(model.asked).toEqual([])
})

test.concurrent('installed packages, git history and the path of the repository are those of the user in the tree of a task', async () => {
  const check = `node -e "require('chk')" && git describe --tags && grep -q "a + b" "$OWN/src/add.js" && echo "1 passed"`
  const project = makeRepository({ bare: true, steps: ['sh check.sh'] })
  project.write({
    '.gitignore': 'node_modules\n',
    'src/add.js': 'export const add = (a, b) => a - b\n',
    'test/add.test.js': '',
    'check.sh': check.replace('$OWN', project.dir),
    'node_modules/chk/index.js': '',
  })
  commitAll(project)
  git(project, 'tag', 'v1')
  const model = await openModel(right)
  const run = await taskRun(project, model, [], {}, [])
  expect(run.end, run.stdout).toMatchObject({ state: 'SUCCESS', attempts: 1 })
  expect(run.end.summary).not.toContain('node_modules')
})

test.concurrent('a file that git stores through a filter is in the tree of a task as it is on disk', async () => {
  const check = 'grep -q whole data.bin && grep -q "a + b" src/add.js && echo "1 passed"\n'
  const project = makeRepository({ git: false, files: { 'check.sh': check, 'data.bin': 'whole\n' } })
  project.write({ '.gitattributes': '*.bin filter=pointer\n' })
  git(project, 'init', '--quiet')
  git(project, 'config', 'filter.pointer.clean', 'echo pointer')
  commitAll(project)
  expect(git(project, 'show', 'HEAD:data.bin')).toBe('pointer\n')
  // As after a clone: the index does not know yet that nothing has changed.
  utimesSync(project.path('data.bin'), 1, 1)
  const model = await openModel(right)
  const run = await taskRun(project, model, [], {}, [])
  expect(run.end, run.stdout).toMatchObject({ state: 'SUCCESS', attempts: 1 })
  expect(run.stdout).not.toContain('have not committed')
  expect((await task(project, null, ['show', 'latest'])).stdout).toContain('Apply it with: gantry task apply')
})

test.concurrent('what the user does meanwhile in the tree, the configuration, hooks and remotes stays, and is not the Editor’s', async () => {
  const project = makeRepository({ steps: [waitingStep, 'sh check.sh'] })
  const model = await openModel(right)
  const running = taskRun(project, model, [], {}, [])
  const verification = await waitingRun(project)
  git(project, 'remote', 'add', 'mine', 'https://example.invalid/x.git')
  git(project, 'config', 'user.name', 'me')
  project.write({
    '.git/hooks/pre-commit': '#!/bin/sh\nexit 0\n',
    'agent.yaml.bak': '',
    'src/add.js': 'broken',
  })
  const before = userState(project)
  letGo(project, verification)
  const run = await running
  expect(run.end, run.stdout).toMatchObject({ state: 'SUCCESS', attempts: 1 })
  expect(userState(project)).toEqual(before)
  expect(JSON.stringify(only(run, 'note'))).not.toContain('put back')
})

test.concurrent('several tasks of one repository run side by side', async () => {
  const project = makeRepository({ steps: [waitingStep, 'sh check.sh'] })
  const model = await openModel(right)
  const first = taskRun(project, model, ['Fix the first sum.'], {}, [])
  const one = await waitingRun(project)
  const second = taskRun(project, model, ['Fix the second sum.'], {}, [])
  const two = await waitingRun(project, () => false, [one])
  expect((await tasks(project)).map(({ state }) => state)).toEqual(['RUNNING', 'RUNNING'])
  letGo(project, two)
  expect((await second).end.state).toBe('SUCCESS')
  letGo(project, one)
  expect((await first).end.state).toBe('SUCCESS')
})

test.concurrent('a message from another terminal reaches the Editor, and the answers of the Scouts are in the log', async () => {
  const project = makeRepository({ steps: [waitingStep, 'sh check.sh'] })
  const model = await openModel({ edits: (number) => [sum('+'), tested(number)] })
  const running = taskRun(project, model, [], {}, [])
  const first = await waitingRun(project)
  const told = await task(project, null, ['tell', 'latest', 'Name', 'the', 'operands.'])
  expect(told.code, told.stderr).toBe(0)
  letGo(project, first)
  letGo(project, await waitingRun(project, () => false, [first]))
  const run = await running
  expect(run.end, run.stdout).toMatchObject({ state: 'SUCCESS', attempts: 2 })
  expect(model.prompts.filter(({ role }) => role === 'editor').at(-1)?.text).toContain('- Name the operands.')
  const log = readFileSync(
    runPath(project, only(run, 'task_started')[0]?.run_id ?? '', 'logs', 'task.jsonl'),
    'utf8',
  )
  expect(log).toContain('"answer":"{')
  expect(log).toContain('mend the sign')
})
