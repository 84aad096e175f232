import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { QueuedTask } from '../../../src/store/queue/contract.ts'
import { openSseClient } from '../../support/sse-client.ts'
import { git } from '../plan/lab.ts'
import { gantry, startGantry } from '../support/gantry.ts'
import type { TestProject } from '../support/project.ts'
import { afterwards, aTask, envOf, makeRepository, sum, tested, until } from '../task/lab.ts'
import { openModel, type TestModel } from '../task/model.ts'

/** `gantry serve` in its own process, and what a client needs to call it. */
async function serve(project: TestProject, model: TestModel | null, argv: readonly string[] = []) {
  const { child, ended } = startGantry(
    project,
    ['serve', '--json', '--port', '0', '--log', 'json', ...argv],
    {
      env: envOf(project, model),
    },
  )
  afterwards(async () => {
    child.kill('SIGKILL')
    await ended
  })
  if (child.stdout === null) throw new Error('a child has a standard output')
  const [line] = await Promise.race([once(child.stdout, 'data'), ended.then(({ stderr }) => [stderr])])
  const { url, token: file } = JSON.parse(String(line))
  const token = readFileSync(file, 'utf8').trim()
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const ask = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(`${url}${path}`, { headers, ...init })
    const text = await response.text()
    if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`)
    return text
  }
  const post = async (path: string, body: object = {}): Promise<QueuedTask> =>
    JSON.parse(await ask(path, { method: 'POST', body: JSON.stringify(body) }))
  const follow = (path: string) => openSseClient(`${url}${path}`, { token })
  return { child, ended, ask, post, follow }
}

test.concurrent('tasks of a server with a queue are done by a worker, and shown and applied by the server', async () => {
  const model = await openModel({ edits: () => [sum('+'), tested()] })
  const project = makeRepository()
  const queue = `sqlite:${project.home}/queue.db`
  // The server itself has no model.
  const { child, ended, ask, post, follow } = await serve(project, null, ['--queue', queue])
  const over = new AbortController()
  const worker = gantry(project, ['work', '--queue', queue], {
    cwd: project.home,
    env: envOf(project, model),
    signal: over.signal,
  })
  const body = { description: aTask, repository: project.dir, sandbox: 'bubblewrap' }
  const both = [await post('/v1/tasks', body), await post('/v1/tasks', body)]
  for (const { id } of both) {
    const events = await follow(`/v1/tasks/${id}/events?level=detail`)
    await events.closed
    expect(events.kinds).toContain('verifier_result')
    await until(async () => JSON.parse(await ask(`/v1/tasks/${id}`)).state === 'SUCCESS', 'the end')
    expect(await ask(`/v1/tasks/${id}/report`)).toMatch(/Verification Run ID/i)
  }
  await post(`/v1/tasks/${both[0]?.id}/apply`)
  expect(project.read('src/add.js')).toContain('a + b')
  over.abort()
  expect((await worker).stdout).toBe('Worked on 2 trials.\n')
  child.kill('SIGTERM')
  expect((await ended).code).toBe(0)
})

test.concurrent('a dry run by HTTP, followed to its end, looked at, and applied: green, with its report', async () => {
  const model = await openModel({ edits: () => [sum('+'), tested()] })
  const project = makeRepository()
  const { child, ended, ask, post, follow } = await serve(project, model)
  const unsafe = post('/v1/tasks', { description: aTask, repository: project.dir, sandbox: 'host' })
  await expect(unsafe).rejects.toThrow('this server does no task without a sandbox')
  const dry = await post('/v1/tasks', {
    description: aTask,
    repository: project.dir,
    dry_run: true,
    sandbox: 'bubblewrap',
  })
  const everything = await follow(`/v1/events?after=0`)
  const ofDry = await follow(`/v1/tasks/${dry.id}/events`)
  await ofDry.closed
  expect(ofDry.kinds.at(-1), ofDry.text()).toBe('task_ended')
  expect(ofDry.text()).toContain('Dry-run proposal ready')
  expect(project.read('src/add.js')).toContain('a - b')
  await until(
    async () => JSON.parse(await ask(`/v1/tasks/${dry.id}`)).state === 'SUCCESS',
    'the end in the queue',
  )
  expect(await ask(`/v1/tasks/${dry.id}/diff`)).toContain('+++ b/src/add.js')

  const applied = await post(`/v1/tasks/${dry.id}/apply`)
  const ofApplied = await follow(`/v1/tasks/${applied.id}/events?level=detail`)
  await ofApplied.closed
  expect(ofApplied.kinds).toContain('verifier_result')
  await until(
    async () => JSON.parse(await ask(`/v1/tasks/${applied.id}`)).state === 'SUCCESS',
    'the end in the queue',
  )
  expect(project.read('src/add.js')).toContain('a + b')
  expect(await ask(`/v1/tasks/${applied.id}/diff`)).toContain('+++ b/src/add.js')
  expect(await ask(`/v1/tasks/${applied.id}/report`)).toMatch(/Verification Run ID/i)
  expect(await post(`/v1/tasks/${applied.id}/undo`)).toMatchObject({ id: applied.id })
  expect(project.read('src/add.js')).toContain('a - b')
  expect(await post(`/v1/tasks/${applied.id}/drop`)).toMatchObject({ id: applied.id })
  const commit = git(project, 'rev-parse', 'HEAD').trim()
  expect(await post(`/v1/tasks/${applied.id}/commit`, { branch: 'mine' })).toMatchObject({ branch: 'mine' })
  expect(git(project, 'show', 'mine:src/add.js')).toContain('a + b')
  expect(git(project, 'rev-parse', 'mine^', 'HEAD').trim()).toBe(`${commit}\n${commit}`)
  await expect(post(`/v1/tasks/${applied.id}/drop`)).rejects.toThrow('is already committed as')
  expect(JSON.parse(await ask(`/v1/tasks/${applied.id}/diagnosis`)).attempts).toMatchObject([
    { attempt: 1, status: 'PASS' },
  ])
  expect(await ask('/metrics')).toContain('gantry_tasks{state="SUCCESS"} 2')
  const milestones = JSON.parse(await ask(`/v1/tasks/${applied.id}/logs`)).events.length
  await until(() => everything.ids.length === ofDry.ids.length + milestones, 'the milestones of both')
  child.kill('SIGTERM')
  await everything.closed
  expect((await ended).code).toBe(0)
})

test.concurrent('a running task is cancelled by HTTP while a client looks on, and a new server takes up what another left', async () => {
  const model = await openModel({ edits: () => [sum('+'), tested()] })
  const project = makeRepository()
  const first = await serve(project, model)
  const arrived = model.hold('scout_a')
  const task = await first.post('/v1/tasks', {
    description: aTask,
    repository: project.dir,
    sandbox: 'bubblewrap',
  })
  const left = await first.post('/v1/tasks', {
    description: aTask,
    repository: project.dir,
    sandbox: 'bubblewrap',
    apply: true,
  })
  expect(left.position).toBe(1)
  const letGo = await arrived
  const events = await first.follow(`/v1/tasks/${task.id}/events`)
  await first.post(`/v1/tasks/${task.id}/cancel`)
  await events.closed
  letGo()
  expect(events.text()).toContain('"state":"CANCELLED"')
  first.child.kill('SIGKILL')
  await first.ended
  const second = await serve(project, model)
  const rest = await second.follow(`/v1/tasks/${left.id}/events`)
  await rest.closed
  await until(
    async () => JSON.parse(await second.ask(`/v1/tasks/${left.id}`)).state === 'SUCCESS',
    'its success',
  )
  expect(project.read('src/add.js')).toContain('a + b')
})

test.concurrent('with --parallel, a task of the same repository does not wait for another', async () => {
  const model = await openModel({ edits: () => [sum('+'), tested()] })
  const project = makeRepository()
  const { ask, post } = await serve(project, model, ['--parallel', '2'])
  const arrived = model.hold('scout_a')
  const body = { description: aTask, repository: project.dir, sandbox: 'bubblewrap' }
  const first = await post('/v1/tasks', body)
  const letGo = await arrived
  const second = await post('/v1/tasks', body)
  const isDone = async ({ id }: QueuedTask) => JSON.parse(await ask(`/v1/tasks/${id}`)).state === 'SUCCESS'
  await until(() => isDone(second), 'the success of the second')
  expect(await isDone(first)).toBe(false)
  letGo()
  await until(() => isDone(first), 'the success of the first')
})

test.concurrent('Ctrl-C in the middle of a task leaves it to the next server, which goes on with it', async () => {
  const model = await openModel({ edits: () => [sum('+'), tested()] })
  const project = makeRepository()
  const first = await serve(project, model)
  const arrived = model.hold('editor')
  const task = await first.post('/v1/tasks', {
    description: aTask,
    repository: project.dir,
    sandbox: 'bubblewrap',
  })
  const letGo = await arrived
  const events = await first.follow(`/v1/tasks/${task.id}/events`)
  await until(() => events.ids.length > 0, 'the first event')
  first.child.kill('SIGINT')
  const { code, stderr } = await first.ended
  expect(code, stderr).toBe(0)
  await events.closed
  expect(events.kinds).not.toContain('task_ended')
  letGo()
  const second = await serve(project, model)
  const rest = await second.follow(`/v1/tasks/${task.id}/events?after=${events.lastEventId()}`)
  await rest.closed
  expect(rest.kinds.at(-1)).toBe('task_ended')
  await until(
    async () => JSON.parse(await second.ask(`/v1/tasks/${task.id}`)).state === 'SUCCESS',
    'its success',
  )
  expect(model.count('scout_a')).toBe(1)
})
