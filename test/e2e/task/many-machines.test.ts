import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openSqlite } from '../../../src/io/sql.ts'
import { withoutPassword } from '../../../src/task/worker/do-elsewhere.ts'
import { gantry } from '../support/gantry.ts'
import type { TestProject } from '../support/project.ts'
import {
  aTask,
  envOf,
  makeRepository,
  manifestOf,
  only,
  readEvents,
  sum,
  task,
  tasks,
  tested,
  until,
} from './lab.ts'
import { openModel, type TestModel } from './model.ts'

const queueOf = (project: TestProject): string => `sqlite:${join(project.store, '..', 'queue.db')}`
const run = ['run', '--sandbox', 'bubblewrap', '--json', aTask]

/** A worker in another directory, with another store, until the test lets it go. */
function startWorker(
  project: TestProject,
  model: TestModel,
  more: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
) {
  const over = new AbortController()
  const ended = gantry(project, ['work', '--queue', queueOf(project), ...more], {
    cwd: project.home,
    env: { ...envOf(project, model, env), AGENT_ARTIFACT_DIR: join(project.home, 'of-the-worker') },
    signal: over.signal,
  })
  return {
    stop: () => {
      over.abort()
      return ended
    },
  }
}

test.concurrent('a worker without the repository does a task, and its change is applied on the machine of the submitter', async () => {
  const project = makeRepository({ files: { 'notes.txt': 'old\n' } })
  project.write({ 'notes.txt': 'not committed\n' })
  const model = await openModel({ edits: () => [sum('+'), tested()] })
  const worker = startWorker(project, model)
  // The submitter has no model of its own.
  const result = await task(project, null, [...run, '--queue', queueOf(project)])
  expect((await worker.stop()).stdout).toBe('Worked on 1 trial.\n')
  const { events, end } = readEvents(result)
  expect(result.code, result.stderr).toBe(0)
  expect(end.state).toBe('SUCCESS')
  expect(only({ events }, 'note').map(({ message }) => message)).toContainEqual(
    expect.stringContaining('without 1 file that you have not committed (notes.txt)'),
  )
  expect(only({ events }, 'edit')).toHaveLength(1)
  const [record] = await tasks(project)
  expect(record).toMatchObject({ id: end.task_id, state: 'SUCCESS', repository: project.dir, phase: null })
  expect(record?.run_ids.length).toBeGreaterThanOrEqual(1)
  expect(manifestOf(project, record?.task_run_id ?? '')).toMatchObject({
    cwd: project.dir,
    details: { repository: project.dir },
    status: 'pass',
  })
  expect((await gantry(project, ['runs', 'show', record?.run_ids.at(-1) ?? ''])).code).toBe(0)
  expect(project.read('src/add.js')).toContain('a - b')
  const applied = await task(project, null, ['apply', end.task_id])
  expect(applied.stdout).toContain('was applied')
  expect(project.read('src/add.js')).toContain('a + b')
  expect(project.read('notes.txt')).toBe('not committed\n')
  const committed = await task(project, null, ['commit', end.task_id, '--json'])
  expect(JSON.parse(committed.stdout)).toMatchObject({ branch: `gantry/${end.task_id}` })
})

test.concurrent('a message and a cancellation reach the worker, and a task that waits for one is cancelled at once', async () => {
  const project = makeRepository()
  const model = await openModel({ edits: () => [sum('+'), tested()] })
  const argv = [...run, '--queue', queueOf(project)]
  const waiting = task(project, null, argv)
  const stateOf = async (): Promise<string | undefined> => (await tasks(project))[0]?.state
  const isQueued = async (): Promise<boolean> => {
    const { stdout } = await gantry(project, ['queue', 'status', '--json', '--queue', queueOf(project)])
    return stdout.includes('"waits":[{"run":"task_')
  }
  await until(async () => (await stateOf()) === 'RUNNING' && (await isQueued()), 'the task in the queue')
  await task(project, null, ['cancel'])
  const cancelled = await waiting
  expect(readEvents(cancelled).end).toMatchObject({ state: 'CANCELLED', reason: 'it was cancelled' })
  expect(only(readEvents(cancelled), 'note').map(({ message }) => message)).toEqual([
    'The task cannot start: no worker is running; start one with "gantry work"',
  ])
  expect(cancelled.code).toBe(130)

  const held = model.hold('editor')
  const worker = startWorker(project, model)
  const running = task(project, null, argv)
  await held
  await task(project, null, ['tell', 'latest', 'Name the operands.'])
  await until(async () => {
    const sql = openSqlite(queueOf(project).replace('sqlite:', ''))
    const told = await sql.query(`SELECT 1 AS there FROM notes WHERE text LIKE '%Name the operands%'`)
    await sql.close()
    return told.length > 0
  }, 'the message in the queue')
  await task(project, null, ['cancel'])
  const stopped = await running
  expect(stopped.code).toBe(130)
  expect(readEvents(stopped).end).toMatchObject({ state: 'CANCELLED' })
  await worker.stop()
})

test.concurrent('a task whose archive is damaged ends with the reason, and leaves nothing of it', async () => {
  const project = makeRepository()
  const model = await openModel({ edits: () => [sum('+'), tested()] })
  await gantry(project, ['queue', 'status', '--queue', queueOf(project)])
  const sql = openSqlite(queueOf(project).replace('sqlite:', ''))
  await sql.query(`CREATE TRIGGER damage AFTER UPDATE OF archive ON trials BEGIN
    UPDATE blobs SET bytes = 'x' WHERE hash = NEW.archive; END`)
  await sql.close()
  const worker = startWorker(project, model)
  const result = await task(project, null, [...run, '--queue', queueOf(project)])
  await worker.stop()
  expect(readEvents(result).end).toMatchObject({
    state: 'INFRA_ERROR',
    reason: expect.stringMatching(/^its files are lost: the blob \w+ of the queue is damaged$/),
  })
  expect(result.code).toBe(3)
  expect(readdirSync(project.store).filter((name) => name.startsWith('arriving'))).toEqual([])
})

test.concurrent('a dry run and the task that applies its proposal are done by workers with a database and a directory of files', async () => {
  const project = makeRepository()
  const blobs = join(project.home, 'blobs')
  mkdirSync(blobs)
  const model = await openModel({ edits: () => [sum('+'), tested()] })
  const worker = startWorker(project, model, ['--blobs', blobs])
  const dry = await task(project, null, [
    ...[...run, '--dry-run'],
    ...['--queue', queueOf(project), '--blobs', blobs],
  ])
  const { end } = readEvents(dry)
  expect(end.state, dry.stderr).toBe('SUCCESS')
  expect((await task(project, null, ['show', end.task_id, '--diff'])).stdout).toContain('+++ b/src/add.js')
  const applied = await task(project, null, ['apply', end.task_id, '--json'])
  expect(readEvents(applied).end.state, applied.stdout).toBe('SUCCESS')
  expect(project.read('src/add.js')).toContain('a + b')
  expect((await worker.stop()).stdout).toBe('Worked on 2 trials.\n')
  expect(model.count('editor')).toBe(dry.stdout.split('"kind":"edit"').length)
})

test.concurrent('a worker without the sandbox leaves the task to others, and a password stays out of the store', async () => {
  const project = makeRepository()
  const model = await openModel({ edits: () => [sum('+'), tested()] })
  const leave = new AbortController()
  const unable = startWorker(project, model, [], { DOCKER_HOST: 'unix:///nowhere' })
  const submitted = task(
    project,
    null,
    ['run', '--sandbox', 'docker', '--json', aTask, '--queue', queueOf(project)],
    {
      signal: leave.signal,
    },
  )
  await until(async () => {
    const [first] = await tasks(project)
    if (first === undefined) return false
    const { stdout } = await task(project, null, ['logs', first.id, '--format', 'events'])
    return /no worker can run agent 'builtin': 1 worker (?:has no label docker|refused: sandbox: )/.test(
      stdout,
    )
  }, 'the reason why it waits')
  leave.abort()
  expect((await submitted).code).toBe(130)
  await unable.stop()
  const refused = await task(project, null, [...run, '--queue', 'postgres://me:secret@127.0.0.1:1/none'])
  expect(refused).toMatchObject({ code: 3, stderr: expect.stringContaining('cannot be reached') })
  expect(await tasks(project)).toHaveLength(1)
  expect(withoutPassword('postgres://me:se:cr@et@h/d?password=x&sslmode=require')).toBe(
    'postgres://me@h/d?sslmode=require',
  )
})

test.concurrent.each<[string[], string]>([
  [['run', aTask, '--here', '--queue', 'sqlite:q.db'], "'--here' cannot be used with option '--queue"],
  [['run', aTask, '--queue', 'redis://x'], 'is not the address of a queue'],
])('%j is refused', async (argv, message) => {
  const project = makeRepository()
  const { code, stderr } = await task(project, null, argv)
  expect(stderr).toContain(message)
  expect(code).toBe(2)
  expect(await tasks(project)).toEqual([])
})
