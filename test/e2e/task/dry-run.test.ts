import { readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { commitAll, git } from '../plan/lab.ts'
import { again, makeRepository, only, runPath, snapshots, sum, task, taskRun, tested, write } from './lab.ts'
import { openModel } from './model.ts'
import { treeOf } from './tree-of.ts'

test.concurrent('a dry run proposes a diff that git accepts, changes nothing and is verified; apply applies it and verifies', async () => {
  const model = await openModel({
    edits: () => [sum('+'), tested(), { run: 'rm old.txt' }, write('Ünï cödé/ä b.txt', 'no end of line')],
  })
  const project = makeRepository({ files: { 'old.txt': 'goes\n', 'dirty.txt': 'committed\n' } })
  // What is not committed is part of what is there.
  project.write({ 'dirty.txt': 'not committed\n', 'new.txt': 'new\n' })
  const before = treeOf(project.dir)
  const dry = await taskRun(project, model, ['--dry-run'])
  expect(dry.code, dry.stderr).toBe(0)
  expect(treeOf(project.dir)).toEqual(before)
  expect(dry.end).toMatchObject({ state: 'SUCCESS', attempts: 1 })
  expect(dry.end.reason).toBe('the proposal is ready, and every step of its verification passed')
  expect(only(dry, 'verifier_result')).toMatchObject([{ status: 'PASS' }])
  expect(only(dry, 'milestone').at(-1)).toMatchObject({ milestone: 'proposed' })
  const shown = await task(project, null, ['show', dry.end.task_id, '--diff'])
  for (const line of ['--- a/src/add.js', '+++ b/src/add.js', '+++ /dev/null', '--- /dev/null'])
    expect(shown.stdout).toContain(line)

  // The same diff, by git alone, on a copy.
  const copy = makeRepository({ files: { 'old.txt': 'goes\n', 'dirty.txt': 'committed\n' } })
  writeFileSync(copy.path('../proposal.patch'), shown.stdout)
  git(copy, 'apply', '../proposal.patch')
  expect(copy.read('src/add.js')).toContain('a + b')
  expect(copy.read('Ünï cödé/ä b.txt')).toBe('no end of line')

  const asked = model.answered.length
  const applied = await again('apply', project, model, dry.end.task_id)
  expect(applied.code, applied.stdout).toBe(0)
  expect(applied.end).toMatchObject({ state: 'SUCCESS', attempts: 1 })
  expect(model.answered.length).toBe(asked)
  expect(project.read('src/add.js')).toBe(copy.read('src/add.js'))
  expect(project.read('Ünï cödé/ä b.txt')).toBe('no end of line')
  expect(project.read('dirty.txt')).toBe('not committed\n')
  expect(git(project, 'status', '--porcelain')).toContain(' D old.txt')
  expect(snapshots(project)).toHaveLength(3)
})

test.concurrent('a proposal that fails its verification is debugged as any other change', async () => {
  const model = await openModel({ edits: (number) => (number === 1 ? [sum('*'), tested()] : [sum('+')]) })
  const project = makeRepository()
  const dry = await taskRun(project, model, ['--dry-run'])
  expect(dry.end.reason).toContain('but its verification failed: ')
  expect(dry.code).toBe(1)
  const applied = await again('apply', project, model, dry.end.task_id)
  expect(applied.end, applied.stdout).toMatchObject({ state: 'SUCCESS', attempts: 2 })
  expect(project.read('src/add.js')).toContain('a + b')
})

test.concurrent('a tree that changed meanwhile where the proposal changes it is left alone', async () => {
  const model = await openModel({ edits: () => [sum('+'), tested()] })
  const project = makeRepository()
  const dry = await taskRun(project, model, ['--dry-run'])
  project.write({ 'src/add.js': 'export const add = (first, second) => first - second\n' })
  const late = await task(project, model, ['apply', dry.end.task_id])
  expect(late.stdout).toContain('SUCCESS: every step of the verification passed')
  expect(late.stdout).toContain('Your tree is unchanged. Apply the change with: gantry task apply')
  expect(late.code).toBe(1)
  expect(project.read('src/add.js')).toContain('first - second')
  commitAll(project)
  const before = treeOf(project.dir)
  const applied = await again('apply', project, model, dry.end.task_id)
  expect(applied.code).toBe(1)
  expect(applied.end).toMatchObject({ state: 'STUCK', attempts: 0 })
  expect(applied.end.reason).toContain('src/add.js')
  const after = treeOf(project.dir)
  for (const [path, content] of Object.entries(before)) expect(after[path], path).toBe(content)
  expect(after['test/more.test.js']).toBeUndefined()
})

test.concurrent('only a change that is kept, or the proposal of a dry run, can be applied', async () => {
  const model = await openModel({ edits: (number) => [sum('+'), tested(number)] })
  const project = makeRepository()
  const run = await taskRun(project, model, ['--here'])
  const wrong = await task(project, model, ['apply', run.end.task_id])
  expect(wrong.code).toBe(2)
  expect(wrong.stderr).toContain('worked in your tree')
  expect((await task(project, model, ['apply', 'task_20200101_000000_aaaaaa'])).code).toBe(2)
  const dry = await taskRun(project, model, ['--dry-run'])
  writeFileSync(
    runPath(project, (await shownRun(dry.end.task_id)) ?? '', 'reports', 'proposal.json'),
    '{"kind":"lie"}',
  )
  const broken = await again('apply', project, model, dry.end.task_id)
  expect(broken.end).toMatchObject({ state: 'INFRA_ERROR' })
  expect(broken.end.reason).toContain('no proposal')

  async function shownRun(id: string): Promise<string | null> {
    const { stdout } = await task(project, null, ['show', id, '--json'])
    return (JSON.parse(stdout) as { task: { task_run_id: string | null } }).task.task_run_id
  }
})

test.concurrent('a dry run that fails leaves the repository unchanged too', async () => {
  const model = await openModel({ scoutA: 'no JSON at all' })
  const project = makeRepository()
  const before = treeOf(project.dir)
  const dry = await taskRun(project, model, ['--dry-run'])
  expect(dry.code).toBe(3)
  expect(dry.end).toMatchObject({ state: 'INFRA_ERROR', attempts: 0 })
  expect(treeOf(project.dir)).toEqual(before)
  expect(readFileSync(dry.end.report ?? '', 'utf8')).toContain('## Hypotheses')
})
