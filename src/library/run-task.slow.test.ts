import { cpSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openStore } from '../store/open-store.ts'
import { openQueue } from '../store/queue/open-queue.ts'
import { submitTask } from '../task/worker/submit-task.ts'
import { openBoundary } from './open-boundary.ts'
import { runTask } from './run-task.ts'

const example = join(import.meta.dirname, '../../examples/task/typescript')

async function open() {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'gantry-library-')))
  const repository = join(top, 'app')
  cpSync(example, repository, { recursive: true })
  const model = await openBoundary({ script: join(example, 'model.yaml') })
  const env = { ...process.env, ...model.env, HOME: top, AGENT_ARTIFACT_DIR: join(top, 'store') }
  const queue = openQueue(openStore({ env, cwd: repository }))
  onTestFinished(async () => {
    queue.close()
    await model.close()
    rmSync(top, { recursive: true, force: true })
  })
  const request = {
    repository,
    description: 'Change the parser.',
    options: { sandbox: 'host' as const },
    env,
  }
  return { queue, request, model }
}

test('a signal that is aborted already queues nothing and calls no model', async () => {
  const { queue, request, model } = await open()
  const running = runTask({ ...request, signal: AbortSignal.abort() })
  await expect(running).rejects.toMatchObject({ code: 'INTERRUPTED' })
  expect(queue.list()).toEqual([])
  expect((await model.close()).exchanges).toBe(0)
})

test('a task that is cancelled before it starts is returned as CANCELLED', async () => {
  const { queue, request } = await open()
  const here = { options: { here: true } }
  submitTask(queue, { repository: request.repository, description: 'An earlier task.', ...here })
  const earlier = queue.claim()?.task.id ?? ''
  const stop = new AbortController()
  const { task } = await runTask({ ...request, ...here, signal: stop.signal, onEvent: () => stop.abort() })
  expect(task).toMatchObject({ state: 'CANCELLED', description: 'Change the parser.', started_at: null })
  expect(queue.list().map(({ id, state }) => [id, state])).toEqual([
    [earlier, 'RUNNING'],
    [task.id, 'CANCELLED'],
  ])
})

test('aborting when the task has just ended does not disturb the caller', async () => {
  const { request } = await open()
  const stop = new AbortController()
  const { task } = await runTask({
    ...request,
    signal: stop.signal,
    onEvent: ({ kind }) => {
      if (kind === 'task_ended') stop.abort()
    },
  })
  expect(task.state).not.toBe('CANCELLED')
})

test('an error of the listener reaches the caller, and the task is cancelled', async () => {
  const { queue, request } = await open()
  const running = runTask({
    ...request,
    onEvent: () => {
      throw new RangeError('of the listener')
    },
  })
  await expect(running).rejects.toThrow('of the listener')
  expect(queue.list({ states: ['QUEUED', 'RUNNING'] })).toEqual([])
})
