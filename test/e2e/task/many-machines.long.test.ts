import { existsSync, globSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect } from 'vitest'
import { dockerLeftovers } from '../../support/docker-leftovers.ts'
import { needs } from '../../support/needs.ts'
import { hasPostgres, type PostgresServer, startPostgres } from '../../support/postgres-server.ts'
import { testDocker } from '../../support/sandboxes.ts'
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
const { dockerHost } = await testDocker()
const withDocker = needs('PostgreSQL and Docker', hasPostgres && !dockerHost.includes('nonexistent'))
/** A lost worker is given up as early as can be. */
const soon = { GANTRY_QUEUE_LEASE: '10', DOCKER_HOST: dockerHost }

function startWorker(
  project: TestProject,
  model: TestModel,
  queue: string,
  place = 'tmp',
  flags: string[] = [],
) {
  const tmp = join(project.home, place)
  mkdirSync(tmp, { recursive: true })
  const started = startGantry(project, ['work', '--queue', queue, ...flags], {
    cwd: project.home,
    env: { ...envOf(project, model, soon), TMPDIR: tmp },
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
    const submitted = startTask(project, model, [...run, '--queue', queue], soon)
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

withDocker(
  'kill -9 of a worker whose task runs in a container: another one starts it again, and no container is left',
  async () => {
    // Goes on when it is let.
    const wait = 'touch /artifacts/begun; until [ -e /artifacts/go ]; do sleep 0.1; done; sh check.sh'
    const project = makeRepository({ steps: [wait] })
    const model = await openModel({ edits: () => [sum('+'), tested()] })
    const queue = await server.database()
    const inDocker = ['run', '--sandbox', 'docker', '--json', aTask, '--queue', queue]
    const submitted = startTask(project, model, inDocker, soon)
    const first = startWorker(project, model, queue, 'first')
    const runs = new Set<string>()
    const begunIn = (tmp: string): string[] => {
      const begun = globSync(join(tmp, 'gantry-work-*/task_*/try-*/runs/*/artifacts/begun'))
      for (const path of begun) runs.add(path.split('/').at(-3) ?? '')
      return begun
    }
    await expect.poll(() => begunIn(first.tmp).length).toBe(1)
    const env = { ...envOf(project, model, soon) }
    const leftovers = async () =>
      (await Promise.all([...runs].map((run) => dockerLeftovers(run, env)))).flat()
    expect(await leftovers()).toContainEqual(expect.stringMatching(/^container /))
    first.child.kill('SIGKILL')
    await first.ended
    // Any worker of that machine removes the container, even if the task goes to another machine.
    await startWorker(project, model, queue, 'idle', ['--until-empty', '--only', 'agent=another']).ended
    expect(await leftovers()).toEqual([])
    const second = startWorker(project, model, queue, 'second')
    const letGo = setInterval(() => {
      for (const path of begunIn(second.tmp)) writeFileSync(join(dirname(path), 'go'), '')
    }, 100)
    const result = await submitted.ended
    clearInterval(letGo)
    const { events, end } = readEvents(result)
    expect(end.state, result.stderr).toBe('SUCCESS')
    expect(only({ events }, 'task_started')).toHaveLength(2)
    expect(result.stdout.split('"kind":"task_ended"')).toHaveLength(2)
    second.child.kill('SIGTERM')
    await second.ended
    expect(runs.size).toBeGreaterThan(1)
    expect(await leftovers()).toEqual([])
    expect(readdirSync(second.tmp).filter((name) => name.startsWith('gantry-'))).toEqual([])
  },
)

withServer('kill -9 of the submitter: the next worker of its store collects the result', async () => {
  const project = makeRepository()
  const model = await openModel({ edits: () => [sum('+'), tested()] })
  const queue = await server.database()
  const held = model.hold('editor')
  const worker = startWorker(project, model, queue)
  const submitted = startTask(project, model, [...run, '--queue', queue], soon)
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
