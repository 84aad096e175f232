import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect } from 'vitest'
import { needs } from '../../support/needs.ts'
import { hasPostgres, type PostgresServer, startPostgres } from '../../support/postgres-server.ts'
import { startGantry } from '../support/gantry.ts'
import type { TestProject } from '../support/project.ts'
import {
  afterwards,
  aTask,
  envOf,
  makeRepository,
  only,
  readEvents,
  startTask,
  sum,
  task,
  tested,
} from './lab.ts'
import { openModel, type TestModel } from './model.ts'

let server: PostgresServer

beforeAll(async () => {
  if (hasPostgres) server = await startPostgres()
})
afterAll(() => server?.stop())

const withServer = needs('PostgreSQL', hasPostgres)

function startWorker(project: TestProject, model: TestModel, queue: string) {
  const tmp = join(project.home, 'tmp')
  mkdirSync(tmp, { recursive: true })
  const started = startGantry(project, ['work', '--queue', queue], {
    cwd: project.home,
    env: { ...envOf(project, model), TMPDIR: tmp },
  })
  afterwards(async () => {
    started.child.kill('SIGKILL')
    await started.ended
  })
  return { ...started, tmp }
}

const run = ['run', '--sandbox', 'bubblewrap', '--json', aTask]

withServer(
  'kill -9 of the worker: another one starts the task again, and nothing of the first is left',
  async () => {
    const project = makeRepository()
    const model = await openModel({ edits: () => [sum('+'), tested()] })
    const queue = await server.database()
    const held = model.hold('editor')
    const first = startWorker(project, model, queue)
    const submitted = startTask(project, model, [...run, '--queue', queue])
    await held
    first.child.kill('SIGKILL')
    await first.ended
    const second = startWorker(project, model, queue)
    const result = await submitted.ended
    const { events, end } = readEvents(result)
    expect(end.state, result.stderr).toBe('SUCCESS')
    expect(only({ events }, 'task_started')).toHaveLength(2)
    expect(only({ events }, 'note').map(({ message }) => message)).toContain(
      'The worker of the task was lost. Another one starts it again.',
    )
    expect((await task(project, null, ['apply', 'latest'])).stdout).toContain('was applied')
    second.child.kill('SIGTERM')
    await second.ended
    expect(readdirSync(second.tmp).filter((name) => name.startsWith('gantry-'))).toEqual([])
  },
)

withServer('kill -9 of the submitter: the next worker of its store collects the result', async () => {
  const project = makeRepository()
  const model = await openModel({ edits: () => [sum('+'), tested()] })
  const queue = await server.database()
  const held = model.hold('editor')
  const worker = startWorker(project, model, queue)
  const submitted = startTask(project, model, [...run, '--queue', queue])
  const release = await held
  submitted.child.kill('SIGKILL')
  await submitted.ended
  release()
  expect((await task(project, null, ['work'])).stdout).toContain('SUCCESS')
  const shown = JSON.parse((await task(project, null, ['show', 'latest', '--json'])).stdout)
  expect(shown.task).toMatchObject({ state: 'SUCCESS' })
  const { stdout } = await task(project, null, ['logs', 'latest', '--format', 'events'])
  expect(stdout.split('"kind":"task_started"')).toHaveLength(2)
  expect(stdout.split('"kind":"task_ended"')).toHaveLength(2)
  expect(existsSync(join(project.store, 'runs', shown.task.task_run_id))).toBe(true)
  worker.child.kill('SIGTERM')
  await worker.ended
})
