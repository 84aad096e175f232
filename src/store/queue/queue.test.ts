import { setImmediate } from 'node:timers/promises'
import { createFixture } from 'fs-fixture'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openDatabase } from '../../io/sqlite.ts'
import { openStore } from '../open-store.ts'
import type { NewTask, TaskQueue } from './contract.ts'
import { openQueue } from './open-queue.ts'

let root: string
let queue: TaskQueue
let dispose: () => Promise<void>

beforeEach(async () => {
  const fixture = await createFixture({})
  root = fixture.path
  queue = open()
  dispose = async () => {
    queue.close()
    await fixture.rm()
  }
})
afterEach(() => dispose())

function open(): TaskQueue {
  return openQueue(openStore({ env: {}, cwd: root, root }))
}

function task(description: string, repository = '/home/dev/app'): NewTask {
  return { repository, description, dryRun: false, verbose: false, options: { agent: 'builtin' } }
}

/** A killed worker: its process does not exist any more. */
function killWorker(id: string): void {
  const database = openDatabase(`${root}/queue.db`)
  database
    .prepare('UPDATE tasks SET owner = ? WHERE id = ?')
    .run(JSON.stringify([2 ** 22 + 1, 1, hostOf(id)]), id)
  database.close()
}

function hostOf(id: string): string {
  const database = openDatabase(`${root}/queue.db`)
  const owner = String(database.prepare('SELECT owner FROM tasks WHERE id = ?').get(id)?.owner)
  database.close()
  return JSON.parse(owner)[2]
}

test('tasks that work in the tree of the user are claimed in order, one at a time', () => {
  const ids = ['a', 'b', 'c'].map((text) => queue.submit({ ...task(text), options: { here: true } }).id)
  expect(queue.list().map(({ position }) => position)).toEqual([1, 2, 3])
  expect(queue.claim()?.task.id).toBe(ids[0])
  expect(queue.claim()).toBeNull()
  expect(queue.list().map(({ state, position }) => [state, position])).toEqual([
    ['RUNNING', null],
    ['QUEUED', 1],
    ['QUEUED', 2],
  ])
  queue.end(ids[0] ?? '', { state: 'SUCCESS', summary: 'done', error_message: null })
  expect(queue.claim()?.task.id).toBe(ids[1])
})

test('other tasks of a repository are claimed in order, up to four side by side, also beside one in the tree', () => {
  queue.submit({ ...task('here'), options: { here: true } })
  const ids = ['a', 'b', 'c', 'd'].map((text) => queue.submit(task(text)).id)
  expect(queue.claim()?.task.description).toBe('here')
  expect([1, 2, 3].map(() => queue.claim()?.task.id)).toEqual(ids.slice(0, 3))
  expect(queue.claim()).toBeNull()
  queue.end(ids[1] ?? '', { state: 'SUCCESS', summary: null, error_message: null })
  expect(queue.claim()?.task.id).toBe(ids[3])
})

test('other repositories do not wait, and a worker may be limited to one repository', () => {
  queue.submit(task('a'))
  const other = queue.submit(task('b', '/home/dev/other'))
  expect(other.position).toBe(1)
  expect(queue.claim({ repository: '/home/dev/other' })?.task.id).toBe(other.id)
  expect(queue.claim({ repository: '/home/dev/other' })).toBeNull()
  expect(queue.claim()?.task.description).toBe('a')
})

test('everything about a task survives the queue being closed', () => {
  const { id } = queue.submit(task('a'))
  queue.claim()
  queue.update(id, {
    run_ids: ['run_1', 'run_2'],
    current_attempt: 2,
    phase: 'VERIFYING',
    task_run_id: 'run_0',
  })
  queue.close()
  queue = open()
  expect(queue.get(id)).toMatchObject({
    state: 'RUNNING',
    run_ids: ['run_1', 'run_2'],
    current_attempt: 2,
    phase: 'VERIFYING',
    task_run_id: 'run_0',
    options: { agent: 'builtin' },
  })
})

test('a task whose worker died is resumed before any other of its repository', () => {
  const first = queue.submit(task('a'))
  queue.submit(task('b'))
  const started = queue.claim()?.task.started_at
  killWorker(first.id)
  const again = queue.claim()
  expect(again).toMatchObject({ resumed: true, task: { id: first.id, started_at: started } })
})

test('a task that keeps killing its workers does not block its repository forever', () => {
  const first = queue.submit(task('a'))
  queue.submit(task('b'))
  for (const death of [1, 2]) {
    expect(queue.claim()?.task.id).toBe(first.id)
    killWorker(first.id)
    expect(queue.get(first.id)?.state, `death ${death}`).toBe('RUNNING')
  }
  expect(queue.claim()?.task.id).toBe(first.id)
  killWorker(first.id)
  expect(queue.claim()?.task.description).toBe('b')
  expect(queue.events({ afterId: 0, limit: 9 }).at(-1)).toMatchObject({
    taskId: first.id,
    level: 'milestone',
    event: { kind: 'task_ended', state: 'INFRA_ERROR', reason: 'its worker died 3 times' },
  })
  expect(queue.get(first.id)).toMatchObject({
    state: 'INFRA_ERROR',
    error_message: 'its worker died 3 times',
  })
})

test('a cancelled queued task stays visible with its end, and later tasks move up', () => {
  const [a, b] = ['a', 'b'].map((text) => queue.submit(task(text)))
  queue.append(a?.id ?? '', { kind: 'milestone' }, 'milestone')
  expect(queue.cancel(a?.id ?? '').kind).toBe('cancelled')
  expect(queue.get(a?.id ?? '')).toMatchObject({ state: 'CANCELLED', started_at: null })
  expect(queue.events({ afterId: 0, limit: 10 }).at(-1)?.event).toMatchObject({
    kind: 'task_ended',
    state: 'CANCELLED',
    reason: 'it was cancelled before it started',
  })
  expect(queue.list()).toMatchObject([{ id: b?.id, position: 1 }, { id: a?.id }])
})

test('a running task is asked to stop, and one with a dead worker is cancelled at once', () => {
  const { id } = queue.submit(task('a'))
  queue.claim()
  expect(queue.cancelRequested(id)).toBe(false)
  expect(queue.cancel(id).kind).toBe('asked')
  expect(queue.cancelRequested(id)).toBe(true)
  killWorker(id)
  expect(queue.cancel(id)).toMatchObject({ kind: 'cancelled', task: { state: 'CANCELLED' } })
  expect(queue.events({ afterId: 0, limit: 9, taskId: id }).at(-1)?.event).toMatchObject({
    kind: 'task_ended',
    state: 'CANCELLED',
  })
  expect(() => queue.cancel(id)).toThrow('is already CANCELLED')
  expect(() => queue.cancel('task_x')).toThrow('there is no task task_x')
})

test('a task asked to stop whose worker then dies is not resumed', () => {
  const { id } = queue.submit(task('a'))
  queue.claim()
  queue.cancel(id)
  killWorker(id)
  expect(queue.claim()).toBeNull()
  expect(queue.get(id)?.state).toBe('CANCELLED')
})

test('only the holder of a claim can change or end a task, and only once', () => {
  const { id } = queue.submit(task('a'))
  expect(() => queue.update(id, { phase: 'IDLE' })).toThrow('is QUEUED and not claimed by this process')
  queue.claim()
  killWorker(id)
  const end = { state: 'SUCCESS', summary: null, error_message: null } as const
  expect(() => queue.end(id, end)).toThrow('is RUNNING and not claimed by this process')
  queue.claim()
  queue.end(id, end)
  expect(() => queue.end(id, end)).toThrow('is SUCCESS and not claimed by this process')
})

test('ended tasks are listed newest first and can be deleted without the others', () => {
  for (const text of ['a', 'b']) {
    queue.submit(task(text))
    const id = queue.claim()?.task.id ?? ''
    queue.end(id, { state: 'STUCK', summary: null, error_message: 'no' })
  }
  queue.submit(task('c'))
  expect(queue.list().map(({ description }) => description)).toEqual(['c', 'b', 'a'])
  expect(queue.list({ states: ['STUCK'], limit: 1 })).toMatchObject([{ description: 'b' }])
  expect(queue.clearHistory({ states: ['QUEUED'] })).toBe(0)
  expect(queue.clearHistory()).toBe(2)
  expect(queue.list()).toMatchObject([{ description: 'c' }])
})

test('events have one increasing id over all tasks, and details only come on request', () => {
  const ids = ['a', 'b'].map((text) => queue.submit(task(text)).id)
  const [a = '', b = ''] = ids
  queue.append(a, { n: 1 }, 'milestone')
  queue.append(b, { n: 2 }, 'detail')
  queue.append(a, { n: 3 }, 'detail')
  const seen = (query: object): unknown[] =>
    queue.events({ afterId: 0, limit: 10, ...query }).map(({ event }) => event.n)
  expect(seen({})).toEqual([1, 2, 3])
  expect(seen({ afterId: 1 })).toEqual([2, 3])
  expect(seen({ taskId: a })).toEqual([1, 3])
  expect(seen({ level: 'milestone' })).toEqual([1])
  expect(seen({ limit: 1 })).toEqual([1])
  expect(queue.lastEventId()).toBe(3)
})

test('a listener is called for changes by this queue and another one', async () => {
  const other = open()
  let heard = 0
  const stop = queue.watch(() => {
    heard += 1
  })
  queue.submit(task('a'))
  await expect.poll(() => heard).toBe(1)
  other.submit(task('b'))
  await expect.poll(() => heard).toBe(2)
  stop()
  other.close()
})

test('a claim notifies listeners only when it returns or ends a task', async () => {
  let heard = 0
  const stop = queue.watch(() => {
    heard += 1
  })
  const notified = async (): Promise<number> => {
    await setImmediate()
    await setImmediate()
    return heard
  }
  expect(queue.claim()).toBeNull()
  expect(await notified()).toBe(0)
  const { id } = queue.submit(task('a'))
  expect(await notified()).toBe(1)
  expect(queue.claim()).not.toBeNull()
  expect(await notified()).toBe(2)
  expect(queue.cancel(id).kind).toBe('asked')
  expect(await notified()).toBe(3)
  queue.release(id)
  expect(await notified()).toBe(4)
  expect(queue.claim()).toBeNull()
  expect(await notified()).toBe(5)
  expect(queue.get(id)?.state).toBe('CANCELLED')
  stop()
})

test('a hundred ids in a burst are all different and have the documented form', () => {
  const ids = Array.from({ length: 100 }, () => queue.submit(task('a')).id)
  expect(new Set(ids).size).toBe(100)
  expect(ids.every((id) => /^task_\d{8}_\d{6}_[a-z0-9]{6}$/.test(id))).toBe(true)
})

test('a database of a newer version is refused and not changed', () => {
  const database = openDatabase(`${root}/queue.db`)
  database.exec('PRAGMA user_version = 99')
  database.close()
  expect(open).toThrow('was written by a newer version of Gantry')
})

test('the error for a damaged queue does not suggest deleting it', async () => {
  await using other = await createFixture({ 'queue.db': 'no database at all, but long enough. '.repeat(200) })
  const { path } = other
  const opening = () => openQueue(openStore({ env: {}, cwd: path, root: path }))
  expect(opening).toThrow(
    expect.objectContaining({ code: 'CORRUPT', hint: expect.stringContaining('Move it away') }),
  )
})

test('a released task can be claimed again any number of times', () => {
  const { id } = queue.submit(task('a'))
  for (let round = 0; round < 5; round += 1) {
    expect(queue.claim()).toMatchObject({ resumed: round > 0, task: { id } })
    queue.release(id)
    expect(queue.list()[0]).toMatchObject({ state: 'RUNNING', abandoned: true })
  }
})
