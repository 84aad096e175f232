import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, onTestFinished, test } from 'vitest'
import { openApiFile } from '../../scripts/openapi.ts'
import { labApp, openServerLab, type ServerLab } from '../../test/support/server-lab.ts'
import type { TaskEndRecord } from '../store/queue/contract.ts'
import { openTrialQueue } from '../store/trial-queue/open-trial-queue.ts'
import { queueStatus } from '../store/trial-queue/why-waiting.ts'
import { openApiDocument } from './openapi.ts'
import { namedRoute, type Route } from './route.ts'
import { routes } from './routes.ts'

const success: TaskEndRecord = { state: 'SUCCESS', summary: 'done', error_message: null }
const stuck: TaskEndRecord = { state: 'STUCK', summary: null, error_message: 'twelve times red' }

const ajv = new Ajv2020({ strict: false, validateFormats: false })
ajv.addSchema({ ...openApiDocument(), $id: 'api' })

/** The JSON of a response, validated against the OpenAPI document. */
async function documented(name: keyof typeof routes, response: Response) {
  const route = namedRoute(name, routes[name])
  const isRight = response.status === route.reply.status
  const place = isRight ? `${response.status}` : 'default'
  const type = isRight ? route.reply.type : 'application/json'
  expect(response.headers.get('content-type')).toContain(type)
  const pointer = [
    'paths',
    route.path,
    route.method.toLowerCase(),
    'responses',
    place,
    'content',
    type,
    'schema',
  ]
    .map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1')))
    .join('/')
  const validate = ajv.getSchema(`api#/${pointer}`)
  if (validate === undefined) throw new Error(`${name} has no schema for ${response.status}`)
  const text = await response.text()
  const value = type === 'application/json' ? JSON.parse(text) : text
  expect(validate(value), `${name}: ${JSON.stringify(validate.errors)}`).toBe(true)
  return value
}

function writePaper({ store, queue }: ServerLab, id: string, name: string, text: string): void {
  const run = 'run_20260101_000000_aaaaaa'
  mkdirSync(join(store.runsDir, run, 'reports'), { recursive: true })
  writeFileSync(join(store.runsDir, run, 'reports', name), text)
  queue.update(id, { task_run_id: run })
}

test('the committed OpenAPI document matches the routes', () => {
  for (const [file, text] of Object.entries(openApiFile()))
    expect(readFileSync(join(import.meta.dirname, '../..', file), 'utf8'), 'run npm run generate').toBe(text)
})

test('application and document have exactly the routes of the table', () => {
  const { app } = labApp(openServerLab())
  const table = Object.values<Route>(routes).map(({ at }) => at)
  const inApp = app.routes
    .filter(({ method }) => method !== 'ALL')
    .map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`)
  const { paths } = openApiDocument() as { paths: Record<string, object> }
  const inDocument = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  )
  expect(inApp.toSorted()).toEqual(table.toSorted())
  expect(inDocument.toSorted()).toEqual(table.toSorted())
})

test('a task is submitted with all its options and can be read', async () => {
  const lab = openServerLab()
  const { ask, post } = labApp(lab)
  const body = { description: 'Fix the bug', repository: lab.repository, dry_run: true, questions: '1m' }
  const response = await post('/v1/tasks', body)
  expect(response.status).toBe(201)
  const task = await documented('submitTask', response)
  expect(task).toMatchObject({ state: 'QUEUED', position: 1, dry_run: true, repository: lab.repository })
  expect(await documented('getTask', await ask(`/v1/tasks/${task.id}`))).toEqual(task)
  const second = await documented('submitTask', await post('/v1/tasks', { ...body, verbose: true }))
  expect(await documented('getTask', await ask(`/v1/tasks/${second.id}`))).toMatchObject({
    position: 2,
    verbose: true,
  })
})

test('only a served repository is accepted, by its real path', async () => {
  const lab = openServerLab()
  const { post } = labApp(lab)
  const code = async (repository: unknown) => {
    const response = await post('/v1/tasks', { description: 'Fix the bug', repository })
    expect(response.status).toBe(400)
    return (await documented('submitTask', response)).error.code
  }
  expect(await code(lab.other)).toBe('repository_not_served')
  expect(await code(`${lab.repository}/../other`)).toBe('repository_not_served')
  expect(await code('app')).toBe('bad_repository')
  expect(await code(`${lab.repository}/nothing`)).toBe('bad_repository')
  expect(await code(`${lab.repository}\0`)).toBe('bad_repository')
  expect(await code(7)).toBe('bad_request')
  expect(lab.queue.list()).toEqual([])
})

test.each([
  ['an empty text', { description: '' }, 'the task is empty'],
  ['a blank text', { description: ' \n' }, 'the task is blank'],
  ['a text that is too long', { description: 'x'.repeat(10_001) }, '10,001 characters'],
  ['no text', {}, 'description: expected a string'],
  ['another type', { description: ['x'] }, 'description: expected a string, received a list'],
  ['a misspelt key', { description: 'Fix it', dryrun: true }, "unknown key 'dryrun'"],
  ['a cost of nothing', { description: 'Fix it', max_cost_usd: 0 }, 'max_cost_usd'],
  ['a time without a unit', { description: 'Fix it', questions: '10' }, 'questions: is not a duration'],
  ['an unknown sandbox', { description: 'Fix it', sandbox: 'jail' }, 'sandbox'],
])('refuses a task with %s and says why', async (_, body, message) => {
  const lab = openServerLab()
  const response = await labApp(lab).post('/v1/tasks', { repository: lab.repository, ...body })
  expect(response.status).toBe(400)
  const { error } = await documented('submitTask', response)
  expect(error.message).toContain(message)
  expect(lab.queue.list()).toEqual([])
})

test('lists by state, repository and number, only for served repositories', async () => {
  const lab = openServerLab()
  const { ask } = labApp(lab)
  const ended = lab.begin('one')
  lab.queue.end(ended, success)
  const waiting = [lab.submit('two'), lab.submit('three')]
  const hidden = lab.queue.submit({
    repository: lab.other,
    description: 'secret',
    dryRun: false,
    verbose: false,
    options: {},
  })
  const ids = async (query: string) => {
    const { tasks } = await documented('listTasks', await ask(`/v1/tasks${query}`))
    return tasks.map((task: { id: string }) => task.id)
  }
  expect(await ids('')).toEqual([...waiting, ended])
  expect(await ids('?state=SUCCESS')).toEqual([ended])
  expect(await ids('?limit=1')).toEqual(waiting.slice(0, 1))
  expect(await ids(`?repository=${encodeURIComponent(lab.repository)}&state=QUEUED`)).toEqual(waiting)
  for (const path of ['', '/diff', '/report', '/logs', '/diagnosis', '/events'])
    expect((await ask(`/v1/tasks/${hidden.id}${path}`)).status, path).toBe(404)
  expect((await ask(`/v1/tasks/${hidden.id}/cancel`, { method: 'POST' })).status).toBe(404)
  expect((await ask(`/v1/tasks?repository=${encodeURIComponent(lab.other)}`)).status).toBe(400)
  expect(lab.queue.get(hidden.id)?.state).toBe('QUEUED')
})

test.each([
  'limit=0',
  'limit=1001',
  'limit=ten',
  'limit=',
  'limit=1e2',
  'state=DONE',
  'sate=QUEUED',
  'limit=1&limit=2',
])('a query of %s is refused', async (query) => {
  const response = await labApp(openServerLab()).ask(`/v1/tasks?${query}`)
  expect(response.status).toBe(400)
  await documented('listTasks', response)
})

test('cancelling ends a queued task, asks a running one to stop and refuses an ended one', async () => {
  const lab = openServerLab()
  const { post } = labApp(lab)
  const running = lab.begin()
  const queued = lab.submit()
  expect(await documented('cancelTask', await post(`/v1/tasks/${queued}/cancel`))).toMatchObject({
    outcome: 'cancelled',
  })
  expect(lab.queue.get(queued)?.state).toBe('CANCELLED')
  expect(await documented('cancelTask', await post(`/v1/tasks/${running}/cancel`, {}))).toMatchObject({
    outcome: 'asked',
  })
  expect(lab.queue.cancelRequested(running)).toBe(true)
  lab.queue.end(running, success)
  const again = await post(`/v1/tasks/${running}/cancel`)
  expect(again.status).toBe(409)
  expect((await documented('cancelTask', again)).error.code).toBe('ended')
  expect((await post(`/v1/tasks/${queued}/cancel`)).status).toBe(409)
})

test('a message reaches a task that has not ended, and the repositories are listed', async () => {
  const lab = openServerLab()
  const { post, ask } = labApp(lab)
  const id = lab.begin()
  await documented('tellTask', await post(`/v1/tasks/${id}/tell`, { text: 'Use plus.' }))
  expect(lab.queue.events({ afterId: 0, limit: 9, taskId: id }).at(-1)?.event).toMatchObject({ kind: 'told' })
  const blank = await post(`/v1/tasks/${id}/tell`, { text: ' ' })
  expect((await documented('tellTask', blank)).error.message).toBe('the message is blank')
  lab.queue.end(id, success)
  expect((await post(`/v1/tasks/${id}/tell`, { text: 'Too late.' })).status).toBe(409)
  expect(await documented('repositories', await ask('/v1/repositories'))).toEqual({
    repositories: [lab.repository],
  })
})

test('only a failed task is retried and only a proposal is applied, each as a new task', async () => {
  const lab = openServerLab()
  const { post } = labApp(lab)
  const failed = lab.begin()
  expect((await post(`/v1/tasks/${failed}/retry`)).status).toBe(409)
  lab.queue.end(failed, stuck)
  const retried = await post(`/v1/tasks/${failed}/retry`)
  expect(retried.status).toBe(201)
  expect(await documented('retryTask', retried)).toMatchObject({ options: { retry: true } })
  expect((await post(`/v1/tasks/${failed}/apply`)).status).toBe(409)
  lab.queue.clearHistory()
  for (const { id } of lab.queue.list({ states: ['QUEUED'] })) lab.queue.cancel(id)
  const dry = lab.queue.submit({
    repository: lab.repository,
    description: 'Add a flag',
    dryRun: true,
    verbose: false,
    options: {},
  }).id
  lab.queue.claim()
  writePaper(lab, dry, 'proposal.patch', '--- a/x\n')
  lab.queue.end(dry, success)
  expect((await post(`/v1/tasks/${dry}/retry`)).status).toBe(409)
  const applied = await documented('applyTask', await post(`/v1/tasks/${dry}/apply`))
  expect(applied).toMatchObject({ dry_run: false, options: { proposal_of: 'run_20260101_000000_aaaaaa' } })
  expect(await documented('undoTask', await post(`/v1/tasks/${dry}/undo`))).toMatchObject({ id: dry })
  expect(await documented('dropTask', await post(`/v1/tasks/${dry}/drop`))).toMatchObject({ id: dry })
  const commit = await post(`/v1/tasks/${dry}/commit`, { branch: 'mine' })
  expect(await documented('commitTask', commit)).toMatchObject({ task_id: dry, branch: 'mine' })
  const plain = await post(`/v1/tasks/${dry}/commit`)
  expect(await documented('commitTask', plain)).toMatchObject({ branch: 'gantry/x' })
  expect((await post(`/v1/tasks/${dry}/commit`, { branches: 'mine' })).status).toBe(400)
})

test('the diff is that of the last edit, the report is that of the task, and either may be missing', async () => {
  const lab = openServerLab()
  const { ask } = labApp(lab)
  const id = lab.begin()
  expect((await ask(`/v1/tasks/${id}/diff`)).status).toBe(404)
  await documented('taskReport', await ask(`/v1/tasks/${id}/report`))
  for (const sign of '-+')
    lab.queue.append(id, { kind: 'diff', text: `--- a/x\n+++ b/x\n${sign}\n`, files: ['x'] }, 'detail')
  writePaper(lab, id, 'stuck_report.md', '# Stuck: größer\n')
  expect(await documented('taskDiff', await ask(`/v1/tasks/${id}/diff`))).toBe('--- a/x\n+++ b/x\n+\n')
  expect(await documented('taskReport', await ask(`/v1/tasks/${id}/report`))).toBe('# Stuck: größer\n')
})

test('logs are paged and have only milestones by default', async () => {
  const lab = openServerLab()
  const { ask } = labApp(lab)
  const id = lab.begin()
  for (let n = 0; n < 5; n += 1) lab.queue.append(id, { kind: 'note', n }, 'detail')
  lab.queue.append(id, { kind: 'milestone', text: 'Task started' }, 'milestone')
  const page = async (query: string) => documented('taskLogs', await ask(`/v1/tasks/${id}/logs${query}`))
  const kinds = ({ events }: { events: { event: { kind: string } }[] }) =>
    events.map(({ event }) => event.kind)
  expect(kinds(await page(''))).toEqual(['milestone', 'milestone'])
  const first = await page('?level=detail&limit=4')
  expect(first).toMatchObject({ has_more: true, next_after: 4 })
  const rest = await page(`?level=detail&limit=4&after=${first.next_after}`)
  expect(rest).toMatchObject({ has_more: false, next_after: 7 })
  expect([...kinds(first), ...kinds(rest)]).toHaveLength(7)
  expect((await ask(`/v1/tasks/${id}/logs?after=-1`)).status).toBe(400)
})

test('a task queued as verbose shows details by default', async () => {
  const lab = openServerLab()
  const { ask } = labApp(lab)
  const { id } = lab.queue.submit({
    repository: lab.repository,
    description: 'd',
    dryRun: false,
    verbose: true,
    options: {},
  })
  lab.queue.append(id, { kind: 'note' }, 'detail')
  const kinds = async (query: string): Promise<string[]> => {
    const { events } = await documented('taskLogs', await ask(`/v1/tasks/${id}/logs${query}`))
    return events.map(({ event }: { event: { kind: string } }) => event.kind)
  }
  expect(await kinds('')).toContain('note')
  expect(await kinds('?level=milestone')).not.toContain('note')
})

test('the diagnosis lists attempts with their causes, and changes of strategy', async () => {
  const lab = openServerLab()
  const id = lab.begin()
  const tell = (event: object) => lab.queue.append(id, event, 'detail')
  for (const attempt of [1, 2, 3]) {
    const run_id = `run_${attempt}`
    tell({ kind: 'verifier_result', attempt, run_id, status: 'FAIL', failure: 'red', duration_ms: 5 })
    tell({ kind: 'diagnosis', attempt, text: `because ${attempt}` })
  }
  tell({ kind: 'replan', attempt: 3, strategy: 'another way' })
  const green = { run_id: 'run_4', status: 'PASS', failure: null, duration_ms: 5 }
  tell({ kind: 'verifier_result', attempt: 4, ...green })
  const found = await documented('taskDiagnosis', await labApp(lab).ask(`/v1/tasks/${id}/diagnosis`))
  expect(found.attempts.map((one: { diagnosis: string }) => one.diagnosis)).toEqual([
    'because 1',
    'because 2',
    'because 3',
    null,
  ])
  expect(found.replans).toEqual([{ attempt: 3, strategy: 'another way' }])
})

test('each attempt has the files that it changed and the diff that it verified', async () => {
  const lab = openServerLab()
  const { ask } = labApp(lab)
  const id = lab.begin()
  const tell = (event: object) => lab.queue.append(id, event, 'detail')
  const part = (file: string, text: string) =>
    `diff --git a/${file} b/${file}\n--- a/${file}\n+++ b/${file}\n@@ -1 +1 @@\n-old\n+${text}\n`
  const diffs = [part('a', 'x') + part('b', 'x'), part('a', 'x') + part('b', 'y')]
  for (const [at, text] of diffs.entries()) {
    tell({ kind: 'diff', text, files: ['a', 'b'] })
    const failure = at === 0 ? 'red' : null
    tell({ kind: 'verifier_result', attempt: at + 1, run_id: null, status: 'FAIL', failure, duration_ms: 5 })
  }
  const { attempts } = await documented('taskDiagnosis', await ask(`/v1/tasks/${id}/diagnosis`))
  const changed = attempts.map(({ files }: { files: { path: string; changed: boolean }[] }) =>
    files.filter((file) => file.changed).map(({ path }) => path),
  )
  expect(changed).toEqual([['a', 'b'], ['b']])
  for (const [at, text] of diffs.entries())
    expect(await documented('taskDiff', await ask(`/v1/tasks/${id}/diff?attempt=${at + 1}`))).toBe(text)
  expect((await ask(`/v1/tasks/${id}/diff?attempt=3`)).status).toBe(404)
})

test('a server that only shows tasks shows those of all repositories and changes none', async () => {
  const lab = openServerLab()
  const running = lab.begin()
  const elsewhere = lab.queue.submit({
    repository: lab.other,
    description: 'another one',
    dryRun: false,
    verbose: false,
    options: {},
  }).id
  const { ask, post } = labApp(lab, true)
  const { tasks } = await documented('listTasks', await ask('/v1/tasks'))
  expect(tasks.map((task: { id: string }) => task.id)).toEqual([running, elsewhere])
  const { repositories } = await documented('repositories', await ask('/v1/repositories'))
  expect(repositories).toEqual([lab.repository, lab.other].sort())
  expect((await ask(`/v1/tasks?repository=${encodeURIComponent(lab.other)}`)).status).toBe(200)
  expect((await ask(`/v1/tasks/${elsewhere}`)).status).toBe(200)
  const refused = await post(`/v1/tasks/${elsewhere}/cancel`)
  expect((await documented('cancelTask', refused)).error.hint).toContain('gantry serve')
  expect((await post(`/v1/tasks/${running}/tell`, { text: 'Stop.' })).status).toBe(400)
  expect((await ask('/v1/history', { method: 'DELETE' })).status).toBe(400)
  expect(lab.queue.get(elsewhere)?.state).toBe('QUEUED')
})

test('the logs and reports of a run are listed and read, and nothing else of it', async () => {
  const lab = openServerLab()
  const run = 'run_20260101_000000_aaaaaa'
  writePaper(lab, lab.begin(), 'summary.md', '# Done\n')
  mkdirSync(join(lab.store.runsDir, run, 'logs'))
  writeFileSync(join(lab.store.runsDir, run, 'logs', 'combined.log'), '1 test failed\n')
  writeFileSync(join(lab.store.runsDir, run, 'private.txt'), 'x')
  const { ask } = labApp(lab)
  const { files } = await documented('getRun', await ask(`/v1/runs/${run}`))
  expect(files.map(({ path }: { path: string }) => path)).toEqual(['logs/combined.log', 'reports/summary.md'])
  const read = (path: string) => ask(`/v1/runs/${run}/file?path=${encodeURIComponent(path)}`)
  expect(await documented('runFile', await read('logs/combined.log'))).toBe('1 test failed\n')
  for (const path of ['private.txt', 'logs/none.log', 'logs/../private.txt', '../../queue.db', 'logs'])
    expect((await read(path)).status, path).toBe(404)
})

test('history is deleted only for served repositories', async () => {
  const lab = openServerLab()
  const { ask } = labApp(lab)
  lab.queue.end(lab.begin(), success)
  const { id } = lab.queue.submit({
    repository: lab.other,
    description: 'x',
    dryRun: false,
    verbose: false,
    options: {},
  })
  lab.queue.claim()
  lab.queue.end(id, success)
  const response = await ask('/v1/history', { method: 'DELETE' })
  expect(await documented('clearHistory', response)).toEqual({ forgotten: 1 })
  expect(lab.queue.list().map((task) => task.id)).toEqual([id])
})

test('metrics of served repositories are available as JSON and for Prometheus', async () => {
  const lab = openServerLab()
  const { ask } = labApp(lab)
  lab.queue.end(lab.begin(), success)
  lab.submit()
  const metrics = await documented('metricsJson', await ask('/v1/metrics'))
  expect(metrics.tasks).toMatchObject({ total: 2, success_rate: 1, by_state: { SUCCESS: 1, QUEUED: 1 } })
  const text = await documented('metrics', await ask('/metrics'))
  expect(text).toContain('gantry_tasks{state="SUCCESS"} 1\n')
})

test('the served document equals the committed one', async () => {
  const served = await documented('openapi', await labApp(openServerLab()).ask('/openapi.json'))
  expect(served).toEqual(openApiDocument())
})

test('a reconnecting client of an ended task without new events gets 204', async () => {
  const lab = openServerLab()
  const { ask } = labApp(lab)
  const id = lab.begin()
  const last = lab.queue.append(id, { kind: 'task_ended' }, 'milestone')
  lab.queue.end(id, success)
  const response = await ask(`/v1/tasks/${id}/events`, { headers: { 'last-event-id': `${last}` } })
  expect(response.status).toBe(204)
})

test.each([
  ['/v1/events', 'x'],
  ['/v1/events', '-1'],
  ['/v1/events', ''],
  ['/v1/events', '99'],
  ['/v1/events?after=99', undefined],
  ['/v1/events?after=x', undefined],
  ['/v1/events?level=all', undefined],
  ['/v1/events?token=abc', undefined],
])('an invalid start of a stream is refused: %s with %s', async (path, lastEventId) => {
  const headers: Record<string, string> = lastEventId === undefined ? {} : { 'last-event-id': lastEventId }
  const response = await labApp(openServerLab()).ask(path, { headers })
  expect(response.status).toBe(400)
  await documented('events', response)
})

test('the queue shows who works on what, how fast, and what waits for what', async () => {
  const lab = openServerLab()
  expect(await documented('getQueue', await labApp(lab).ask('/v1/queue'))).toMatchObject({
    error: { code: 'no_queue', hint: expect.stringContaining('--queue') },
  })
  const queue = await openTrialQueue(`sqlite:${join(lab.root, 'trials.db')}`)
  onTestFinished(() => queue.close())
  const need = { agent: 'codex', labels: [], memoryMb: 0, gantry: '1' }
  const trial = (id: string, labels: readonly string[] = []) => ({
    ...{ id, spec: '{}', need: { ...need, labels }, group: 'openai/x', expectedUsd: 1 },
  })
  const run = { planHash: 'h', document: '{"secret":1}', project: 'p', priority: 0 }
  await queue.submit({ ...run, id: 'run_a', capUsd: 1, trials: [trial('one'), trial('two')] })
  await queue.submit({ ...run, id: 'run_b', capUsd: null, trials: [trial('three', ['gpu'])] })
  const facts = { host: 'h', slots: 2, gantry: '1', labels: [], memoryMb: 1, onlyAgents: [], refusals: {} }
  await queue.register({ id: 'w', agents: { codex: '1.0' }, ...facts })
  await queue.claim('w', () => true)
  const { ask } = labApp(lab, false, null, () => queueStatus(queue))
  expect(await documented('about', await ask('/v1/about'))).toMatchObject({ queue: true })
  const text = JSON.stringify(await documented('getQueue', await ask('/v1/queue')))
  expect(text).not.toContain('secret')
  expect(JSON.parse(text)).toMatchObject({
    workers: [{ id: 'w', agents: { codex: '1.0' }, holds: [{ run: 'run_a', trial: 'one' }] }],
    waits: [
      { run: 'run_b', why: expect.stringContaining('1 worker has no label gpu') },
      { run: 'run_a', count: 1, why: expect.stringContaining('budget is reserved') },
    ],
  })
})
