import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { runCommand } from '../../test/support/run-command.ts'
import { taskCommand } from '../cli/task/index.ts'
import { createRun } from '../store/create-run.ts'
import { flagsOf, readManifestState } from '../store/manifest.ts'
import { openStore } from '../store/open-store.ts'
import type { FinalState } from '../store/queue/contract.ts'
import { openQueue } from '../store/queue/open-queue.ts'
import { keepChange } from './apply-change.ts'
import type { Proposal } from './dry-run/proposal.ts'
import { submitTask, type TaskOptions } from './worker/submit-task.ts'

const identity = {
  ...{ GIT_AUTHOR_NAME: 'A', GIT_AUTHOR_EMAIL: 'a@example.invalid' },
  ...{ GIT_COMMITTER_NAME: 'A', GIT_COMMITTER_EMAIL: 'a@example.invalid' },
}

function lab() {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'gantry-change-')))
  const app = join(root, 'app')
  const source = join(app, 'a.txt')
  mkdirSync(app)
  const env = { ...process.env, ...identity, AGENT_ARTIFACT_DIR: join(root, 'store') }
  const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: app, env, encoding: 'utf8' })
  git('init', '-q')
  writeFileSync(source, 'old\n')
  git('add', '.')
  git('commit', '-qm', 'first')
  const commit = git('rev-parse', 'HEAD').trim()
  writeFileSync(source, 'new\n')
  const diff = git('diff', '--binary', '--full-index')
  writeFileSync(source, 'old\n')
  const store = openStore({ env, cwd: app })
  const queue = openQueue(store)
  onTestFinished(() => {
    queue.close()
    rmSync(root, { recursive: true, force: true })
  })
  const queued = (options: Partial<TaskOptions> = {}, dryRun = false) =>
    submitTask(queue, { repository: app, description: 'Fix it.', options, dryRun }).id
  const ended = (state: FinalState, options: Partial<TaskOptions> = {}, dryRun = false) => {
    const id = queued(options, dryRun)
    queue.claim()
    const run = createRun(store, { kind: 'task', title: 'task', argv: [], cwd: app })
    const proposal: Proposal = {
      schema_version: '1',
      ...{ task_id: id, run_id: run.id, description: '', strategy: '', commit, diff },
      changes: [{ path: 'a.txt', change: 'modified', original: null }],
      patch: Buffer.from(diff).toString('base64'),
    }
    mkdirSync(join(run.dir, 'reports'), { recursive: true })
    if (state === 'SUCCESS' && options.here !== true)
      writeFileSync(run.reportPath('proposal.json'), JSON.stringify(proposal))
    run.release()
    keepChange(store, run.id)
    queue.update(id, { task_run_id: run.id })
    queue.end(id, { state, summary: null, error_message: null })
    const isKept = () => {
      const manifest = readManifestState(join(store.runsDir, run.id))
      return manifest.kind === 'whole' && flagsOf(manifest.manifest).includes('pinned')
    }
    return { id, isKept }
  }
  const task = async (...argv: readonly string[]) =>
    (await runCommand(taskCommand, argv, { cwd: app, env })).stdout
  return { app, git, queue, queued, ended, task, read: () => readFileSync(source, 'utf8') }
}

test('apply and undo say what was there already, and undo keeps no change that was committed or dropped', async () => {
  const { app, ended, task, read } = lab()
  const { id, isKept } = ended('SUCCESS')
  expect(await task('undo', id)).toBe(`The change of ${id} is not in ${app}: nothing to do.\n`)
  expect(await task('apply', id)).toBe(`The change of ${id} was applied to ${app}: 1 file.\n`)
  expect(JSON.parse(await task('apply', id, '--json'))).toMatchObject({ what: 'applied', changed: false })
  expect(read()).toBe('new\n')
  expect(isKept()).toBe(false)
  expect(await task('list')).toContain('SUCCESS, applied')
  expect(await task('undo', id)).toBe(`The change of ${id} was taken out of ${app}: 1 file.\n`)
  expect(await task('undo', id)).toContain('nothing to do')
  expect(read()).toBe('old\n')
  expect(isKept()).toBe(true)
  await task('drop', id)
  await task('apply', id)
  await task('undo', id)
  expect(isKept()).toBe(false)
  expect(await task('history')).toContain('SUCCESS, dropped')
})

test('a second commit says where the change is, and an invalid branch is named', async () => {
  const { ended, git, task, queue } = lab()
  const { id } = ended('SUCCESS')
  await expect(task('commit', id, '--branch', 'bad..name')).rejects.toMatchObject({
    code: 'USAGE',
    message: 'bad..name is not a valid name of a branch',
  })
  const said = JSON.parse(await task('commit', id, '-m', 'Mine\n\nWhy.', '--json'))
  expect(said.title).toBe('Mine')
  expect(queue.get(id)).toMatchObject({ state: 'SUCCESS' })
  const where = `committed as ${git('rev-parse', `gantry/${id}`).slice(0, 10)} on gantry/${id}`
  for (const command of ['commit', 'drop'])
    await expect(task(command, id)).rejects.toMatchObject({
      code: 'WRONG_STATE',
      message: expect.stringContaining(`already ${where}`),
    })
  expect(await task('show', id)).toMatch(new RegExp(`^change +${where}$`, 'm'))
  git('branch', 'taken')
  await expect(task('commit', id, '--branch', 'taken')).rejects.toThrow('there is already a branch taken')
  expect(await task('commit', id, '--branch', 'again')).toContain(' on again.')
})

test('what the state of a task does not allow is refused, and nothing is logged', async () => {
  const { app, ended, queue, queued, task } = lab()
  const refused = async (id: string, why: string, commands = ['drop', 'undo', 'commit', 'apply']) => {
    const before = queue.lastEventId()
    for (const command of commands)
      await expect(task(command, id), command).rejects.toMatchObject({
        code: 'WRONG_STATE',
        exitCode: 2,
        message: expect.stringContaining(why),
      })
    expect(queue.lastEventId()).toBe(before)
  }
  const { id: dropped } = ended('SUCCESS')
  expect(JSON.parse(await task('drop', dropped, '--json'))).toEqual({ task_id: dropped, what: 'dropped' })
  await refused(dropped, `the change of ${dropped} is not kept: it is already dropped`, ['drop'])
  await refused(ended('NO_CHANGE').id, 'changed nothing')
  await refused(ended('CANCELLED').id, 'is CANCELLED: it has no verified change')
  await refused(ended('SUCCESS', { here: true }).id, 'worked in your tree')
  await refused(ended('SUCCESS', {}, true).id, 'is a dry run: it has only a proposal', ['undo', 'commit'])
  const running = queued()
  queue.claim()
  await refused(running, 'has not ended yet')
  await refused(queued(), 'has not started yet')
  expect(await task('list', '--root', app)).toContain('SUCCESS, dropped')
})
