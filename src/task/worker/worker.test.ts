import { createFixture } from 'fs-fixture'
import { expect, onTestFinished, test } from 'vitest'
import { openStore } from '../../store/open-store.ts'
import type { TaskQueue } from '../../store/queue/contract.ts'
import { openQueue } from '../../store/queue/open-queue.ts'
import { taskReports } from '../task-reports.ts'
import { continuedSubmission, submitTask, tellTask } from './submit-task.ts'
import { workOnQueue } from './work-on-queue.ts'

async function open() {
  const fixture = await createFixture({})
  const store = openStore({ env: {}, cwd: fixture.path, root: fixture.path })
  const queue = openQueue(store)
  onTestFinished(async () => {
    queue.close()
    await fixture.rm()
  })
  const { signal } = new AbortController()
  const work = (): Promise<void> =>
    workOnQueue({ until: 'empty', signal }, { store, queue, env: {}, argv: ['gantry'] })
  return { queue, work, store, root: fixture.path }
}

function kinds(queue: TaskQueue, taskId: string): readonly unknown[] {
  return queue.events({ afterId: 0, limit: 99, taskId }).map(({ event }) => event.milestone ?? event.kind)
}

test('a task that cannot start ends with all its problems, and the next task runs', async () => {
  const { queue, work, store } = await open()
  const ids = ['fix the bug', 'fix another'].map(
    (description) => submitTask(queue, { repository: '/nonexistent/repository', description }).id,
  )
  await work()
  for (const id of ids) {
    expect(queue.get(id)).toMatchObject({ state: 'INFRA_ERROR' })
    expect(queue.get(id)?.error_message).toContain('- repository: /nonexistent/repository is not a directory')
    expect(queue.get(id)?.error_message).toContain('- model: ')
    expect(kinds(queue, id)).toEqual(['queued', 'infra', 'task_ended'])
    const [task, { report }] = [
      queue.get(id),
      queue.events({ afterId: 0, limit: 99, taskId: id }).at(-1)?.event ?? {},
    ]
    expect(task === null ? null : taskReports(store, task).stuckReport).toContain('- Source: Start check')
    expect(report).toContain(task?.task_run_id)
  }
})

test('an invalid task does not stop the worker', async () => {
  const { queue, work, root } = await open()
  const order = { repository: root, description: 'x', dryRun: false, verbose: false }
  const { id } = queue.submit({ ...order, options: { sandbox: 'moon' } })
  await work()
  expect(queue.get(id)).toMatchObject({ state: 'INFRA_ERROR' })
  expect(kinds(queue, id)).toEqual(['infra', 'task_ended'])
})

test('only a proposal can be applied, and only a stuck task can be retried', async () => {
  const { queue, root } = await open()
  submitTask(queue, { repository: root, description: 'x', dryRun: true, options: { agent: 'mine' } })
  const task = queue.claim()?.task
  if (task === undefined) throw new Error('no task')
  queue.update(task.id, { task_run_id: 'run_a' })
  expect(() => continuedSubmission('apply', task)).toThrow('a dry run that is RUNNING')
  expect(() => continuedSubmission('retry', task)).toThrow('only a task that is stuck')
  const done = queue.end(task.id, { state: 'SUCCESS', summary: null, error_message: null })
  expect(continuedSubmission('apply', done)).toMatchObject({
    options: { agent: 'mine', proposal_of: 'run_a' },
  })
  expect(continuedSubmission('retry', { ...done, state: 'STUCK' })).toMatchObject({
    options: { retry: true, retry_of: 'run_a' },
  })
  expect(() => continuedSubmission('apply', { ...done, dry_run: false })).toThrow('not a dry run')
})

test('a message goes to a task that has not ended', async () => {
  const { queue, root } = await open()
  const task = submitTask(queue, { repository: root, description: 'x' })
  tellTask(queue, task, 'Use plus.')
  expect(queue.events({ afterId: 0, limit: 9, taskId: task.id }).at(-1)).toMatchObject({
    level: 'milestone',
    event: { kind: 'told', text: 'Use plus.' },
  })
  expect(() => tellTask(queue, task, ' ')).toThrow()
  queue.cancel(task.id)
  expect(() => tellTask(queue, queue.get(task.id) ?? task, 'Too late.')).toThrow(
    expect.objectContaining({
      message: expect.stringContaining('has ended'),
      hint: `See it with gantry task show ${task.id}. To continue one that did not succeed: gantry task retry ${task.id}`,
    }),
  )
})
