import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { program } from '../../test/support/program.ts'
import { openSseClient } from '../../test/support/sse-client.ts'
import { openStore } from '../store/open-store.ts'
import type { TaskQueue } from '../store/queue/contract.ts'
import { openQueue } from '../store/queue/open-queue.ts'
import { submitTask } from '../task/worker/submit-task.ts'

interface Place {
  readonly root: string
  readonly repository: string
  readonly env: Record<string, string>
  /** The store of this process, which is not the server. */
  readonly queue: TaskQueue
}

function place(): Place {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'gantry-serve-')))
  const [repository, store] = [join(root, 'app'), join(root, 'store')]
  mkdirSync(repository)
  const queue = openQueue(openStore({ env: {}, cwd: root, root: store }))
  onTestFinished(() => {
    queue.close()
    rmSync(root, { recursive: true, force: true })
  })
  const env = { PATH: process.env.PATH ?? '', HOME: root, AGENT_ARTIFACT_DIR: store }
  return { root, repository, env, queue }
}

interface Running {
  readonly child: ChildProcess
  readonly url: string
  readonly port: number
  readonly token: string
  readonly stderr: () => string
}

async function start({ repository, env }: Place, flags: readonly string[] = []): Promise<Running> {
  const child = spawn(process.execPath, [program, 'serve', '--json', '--port', '0', ...flags], {
    cwd: repository,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onTestFinished(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
  let stderr = ''
  child.stderr.on('data', (chunk) => {
    stderr += chunk
  })
  const [line] = await Promise.race([once(child.stdout, 'data'), once(child, 'exit').then(() => [])])
  if (line === undefined) throw new Error(`gantry serve ended: ${stderr}`)
  const { url, port, token } = JSON.parse(String(line))
  return { child, url, port, token: readFileSync(token, 'utf8').trim(), stderr: () => stderr }
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((done) => setTimeout(done, 5))
}

/** A task claimed by this process, so that the worker of the server does not take it. */
function begin({ queue, repository }: Place): string {
  const { id } = submitTask(queue, { repository, description: 'Add a flag' })
  queue.claim({ repository })
  return id
}

test('events of another process arrive, and after kill -9 and a restart exactly the missing ones', async () => {
  const here = place()
  const id = begin(here)
  const first = await start(here)
  const { token } = first
  const client = await openSseClient(`${first.url}/v1/events?level=detail`, { token })
  await until(() => client.lastEventId() !== '')
  const ids: number[] = []
  const append = (): void => void ids.push(here.queue.append(id, { kind: 'note' }, 'detail'))
  for (let n = 0; n < 200; n += 1) append()
  await until(() => client.ids.length === 200)
  for (let n = 0; n < 500; n += 1) append()
  first.child.kill('SIGKILL')
  await client.closed
  for (let n = 0; n < 100; n += 1) append()
  const second = await start(here)
  expect(second.token).toBe(token)
  const again = await openSseClient(`${second.url}/v1/events?level=detail`, {
    token,
    lastEventId: client.lastEventId(),
  })
  append()
  await until(() => client.ids.length + again.ids.length >= ids.length)
  expect([...client.ids, ...again.ids]).toEqual(ids)
  again.stop()
})

test('two servers share one store: a task submitted to one is shown by the other, and one worker does it', async () => {
  const here = place()
  const [one, two] = await Promise.all([start(here), start(here)])
  expect(one.token).toBe(two.token)
  const headers = { authorization: `Bearer ${one.token}` }
  // Without an agent.yaml, exactly one worker must take and reject it.
  const { id } = submitTask(here.queue, { repository: here.repository, description: 'Add a flag' })
  const events = await openSseClient(`${two.url}/v1/tasks/${id}/events`, { token: two.token })
  await events.closed
  expect(events.kinds.filter((kind) => kind === 'task_ended')).toHaveLength(1)
  await until(() => here.queue.get(id)?.state === 'INFRA_ERROR')
  for (const { url } of [one, two]) {
    const task = await (await fetch(`${url}/v1/tasks/${id}`, { headers })).json()
    expect(task).toMatchObject({ state: 'INFRA_ERROR', error_message: expect.stringContaining('agent.yaml') })
  }
})

test('a task that cannot start is rejected with every problem at once', async () => {
  const here = place()
  const { url, token, stderr } = await start(here, ['--log', 'json'])
  const response = await fetch(`${url}/v1/tasks`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ description: 'Add a flag', repository: here.repository, agent: 'nobody' }),
  })
  expect(response.status).toBe(400)
  const { error } = (await response.json()) as { error: { message: string } }
  expect(error.message).toMatch(/agent\.yaml/)
  expect(error.message).toMatch(/model/)
  expect(here.queue.list()).toEqual([])
  await until(() => stderr().includes('"status":400'))
  expect(stderr()).not.toContain(token)
})

test.each(['SIGINT', 'SIGTERM'] as const)(
  '%s ends streams, frees the port and exits with 0',
  async (signal) => {
    const here = place()
    begin(here)
    const { child, url, port, token } = await start(here)
    const client = await openSseClient(`${url}/v1/events`, { token })
    const idle = connect(port, '127.0.0.1')
    await once(idle, 'connect')
    child.kill(signal)
    await client.closed
    const [code] = await once(child, 'exit')
    expect(code).toBe(0)
    idle.destroy()
    await expect(fetch(`${url}/health`)).rejects.toThrow()
  },
  60_000,
)

test('a port that is in use is reported with a hint', async () => {
  const here = place()
  const { port } = await start(here)
  await expect(start(here, ['--port', String(port)])).rejects.toThrow(
    /port \d+ on 127\.0\.0\.1 is already in use(.|\n)*--port/,
  )
})
